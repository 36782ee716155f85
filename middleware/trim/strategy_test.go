package trim

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

// anySnapshot is a view in numbers.
func anySnapshot() *rapid.Generator[snapshot] {
	return rapid.Custom(func(t *rapid.T) snapshot {
		s := snapshot{
			Options: Options{
				Strategy:       hybridStrategy,
				PreserveStart:  rapid.IntRange(0, 6).Draw(t, "start"),
				PreserveEnd:    rapid.IntRange(0, 6).Draw(t, "end"),
				MinMessages:    rapid.IntRange(0, 10).Draw(t, "least"),
				EfficiencyOnly: rapid.Bool().Draw(t, "efficiency only"),
			},
			tokens: rapid.IntRange(0, 100).Draw(t, "overhead"),
		}
		for range rapid.IntRange(0, 40).Draw(t, "units") {
			u := unit{
				tokens:   rapid.SliceOfN(rapid.IntRange(0, 400), 1, 3).Draw(t, "tokens"),
				priority: rapid.SampledFrom([]message.Priority{1, 2, 2, 2, 3, 3, 3, 4}).Draw(t, "priority"),
				held:     rapid.IntRange(0, 7).Draw(t, "held") == 0,
				special:  rapid.IntRange(0, 19).Draw(t, "special") == 0,
			}
			s.tokens += u.total()
			s.units = append(s.units, u)
		}
		s.target = rapid.IntRange(0, s.tokens+10).Draw(t, "target")
		if scores := rapid.SliceOfN(rapid.Float64Range(-1, 3), 40, 40).Draw(t, "scores"); rapid.Bool().Draw(t, "scored") {
			s.score = func(i int) float64 { return scores[i] }
		}
		return s
	})
}

// plainly removes units in the order of a full sort, one group after the other.
func plainly(s snapshot, groups ...[]int) selection {
	out := selection{tokens: s.tokens}
	for _, u := range s.units {
		out.kept += len(u.tokens)
	}
	score := func(i int) float64 {
		if s.score == nil {
			return 0
		}
		return max(0, s.score(i))
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b int) int {
			x, y := s.units[a], s.units[b]
			switch {
			case x.priority != y.priority:
				return int(x.priority) - int(y.priority)
			case score(a) != score(b):
				return map[bool]int{true: -1, false: 1}[score(a) < score(b)]
			}
			return a - b
		})
		for _, i := range group {
			u := &s.units[i]
			if out.tokens <= s.target || u.total() == 0 || out.kept-len(u.tokens) < s.MinMessages {
				continue
			}
			out.units = append(out.units, i)
			out.tokens -= u.total()
			out.kept -= len(u.tokens)
			out.messages += len(u.tokens)
		}
	}
	slices.Sort(out.units)
	return out
}

// preserved marks the units that hold the first messages, or the last.
func preserved(s snapshot, some []int, n int) map[int]bool {
	held := map[int]bool{}
	for _, i := range some {
		if n > 0 {
			held[i] = true
			n -= len(s.units[i].tokens)
		}
	}
	return held
}

// plainStrategies is what the strategies do, written in another way.
func plainStrategies(s snapshot) (middle, oldest selection) {
	var some []int
	for i, u := range s.units {
		if u.priority < message.PriorityCritical {
			some = append(some, i)
		}
	}
	backward := slices.Clone(some)
	slices.Reverse(backward)
	end, start := preserved(s, backward, s.PreserveEnd), preserved(s, some, s.PreserveStart)
	group := func(in func(i int) bool, most message.Priority) (group []int) {
		for _, i := range some {
			if in(i) && !s.units[i].held && s.units[i].priority <= most {
				group = append(group, i)
			}
		}
		return group
	}
	middle = plainly(s,
		group(func(i int) bool { return !end[i] && !start[i] }, message.PriorityHigh),
		group(func(i int) bool { return start[i] && !end[i] }, message.PriorityLow),
		group(func(i int) bool { return end[i] }, message.PriorityLow))
	return middle, plainly(s, group(func(i int) bool { return !end[i] }, message.PriorityHigh))
}

func TestAnySnapshot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := anySnapshot().Draw(r, "snapshot")
		middle, oldest := plainStrategies(s)
		require.Equal(r, middle, s.middle(), "middle")
		require.Equal(r, oldest, s.oldest(), "oldest")
		out, d := s.choose()
		switch think := s.decide(); think.strategy {
		case "":
			require.Zero(r, d.confidence)
			require.Equal(r, s.best(middle, oldest), out, "the better of both")
		case oldestStrategy:
			require.Equal(r, oldest, out)
			require.Equal(r, think, d)
		default:
			require.Equal(r, middle, out)
			require.Equal(r, think, d)
		}
		if !out.meets(s.target) && (middle.meets(s.target) || oldest.meets(s.target)) {
			require.True(r, s.EfficiencyOnly || d.confidence >= 0.6, "a target is missed that could have been met")
		}
	})
}

// best is the selection that hybrid takes of two.
func (s *snapshot) best(first, second selection) selection {
	if s.better(first, second) {
		return first
	}
	return second
}

// FuzzIdentifiers compares with a plain way to find them.
func FuzzIdentifiers(f *testing.F) {
	for _, text := range []string{
		`{"path":"cmd/main.go","line_no":17,"x": "OI5L9G"}`, "exit status 2: see build-1234.log.", "订单号是A1234吗", "--a--", "a_b", "\xffa1b2\xff", ".#:-", "AB:CD",
	} {
		f.Add(text)
	}
	word := regexp.MustCompile(`[A-Za-z0-9_/.@:#-]+`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > longestHead {
			return
		}
		var want []string
		for _, at := range word.FindAllStringIndex(text, -1) {
			w := strings.Trim(text[at[0]:at[1]], "-.:#")
			if plainIdentifier(w) && !strings.HasPrefix(text[at[1]:], `":`) {
				want = append(want, w)
			}
		}
		var got []string
		for w, key := range words(text) {
			if !key && isIdentifier(w) {
				got = append(got, w)
			}
		}
		require.Equal(t, want, got, "%q", text)
	})
}

var (
	camel   = regexp.MustCompile(`[a-z][A-Z]`)
	number  = regexp.MustCompile(`\d`)
	letters = regexp.MustCompile(`[A-Za-z]`)
	other   = regexp.MustCompile(`[A-Za-z0-9.:#-]`)
)

func plainIdentifier(w string) bool {
	capitals := strings.IndexFunc(w, func(r rune) bool { return !unicode.IsUpper(r) }) < 0
	switch {
	case len(w) < 4 || len(w) > 128:
		return false
	case number.MatchString(w) && letters.MatchString(w), camel.MatchString(w), strings.ContainsAny(w, "_/@") && other.MatchString(w):
		return true
	case number.MatchString(w):
		return len(number.FindAllString(w, -1)) >= 5
	}
	return capitals && len(w) >= 5 || strings.Contains(w, ".") && letters.MatchString(w)
}
