package trim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/trim"
)

// anyCase is a view in numbers.
func anyCase() *rapid.Generator[trim.Case] {
	return rapid.Custom(func(t *rapid.T) trim.Case {
		c := trim.Case{
			PreserveStart:  rapid.IntRange(0, 6).Draw(t, "start"),
			PreserveEnd:    rapid.IntRange(0, 6).Draw(t, "end"),
			MinMessages:    rapid.IntRange(0, 10).Draw(t, "least"),
			EfficiencyOnly: rapid.Bool().Draw(t, "efficiency only"),
			Tokens:         rapid.IntRange(0, 100).Draw(t, "overhead"),
		}
		for i := range rapid.IntRange(0, 40).Draw(t, "units") {
			u := trim.Unit{
				Tokens:   rapid.SliceOfN(rapid.IntRange(0, 400), 1, 3).Draw(t, "tokens"),
				Priority: rapid.SampledFrom([]message.Priority{1, 2, 2, 2, 3, 3, 3, 4}).Draw(t, "priority"),
				Age:      i,
				Held:     rapid.IntRange(0, 7).Draw(t, "held") == 0,
				Aside:    rapid.IntRange(0, 19).Draw(t, "aside") == 0,
			}
			for _, n := range u.Tokens {
				c.Tokens += n
			}
			c.Units = append(c.Units, u)
		}
		c.Target = rapid.IntRange(0, c.Tokens+10).Draw(t, "target")
		if scores := rapid.SliceOfN(rapid.Float64Range(-1, 3), 40, 40).Draw(t, "scores"); rapid.Bool().Draw(t, "scored") {
			c.Score = func(i int) float64 { return scores[i] }
		}
		return c
	})
}

// plainly removes units in the order of a full sort, one group after the other.
func plainly(c trim.Case, groups ...[]int) trim.Outcome {
	out := trim.Outcome{Tokens: c.Tokens}
	for _, u := range c.Units {
		out.Kept += len(u.Tokens)
	}
	score := func(i int) float64 {
		if c.Score == nil {
			return 0
		}
		return max(0, c.Score(i))
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b int) int {
			x, y := c.Units[a], c.Units[b]
			switch {
			case x.Priority != y.Priority:
				return int(x.Priority) - int(y.Priority)
			case score(a) != score(b):
				return map[bool]int{true: -1, false: 1}[score(a) < score(b)]
			}
			return x.Age - y.Age
		})
		for _, i := range group {
			n := 0
			for _, tokens := range c.Units[i].Tokens {
				n += tokens
			}
			if out.Tokens <= c.Target || n == 0 || out.Kept-len(c.Units[i].Tokens) < c.MinMessages {
				continue
			}
			out.Removed = append(out.Removed, i)
			out.Tokens -= n
			out.Kept -= len(c.Units[i].Tokens)
			out.Gone += len(c.Units[i].Tokens)
		}
	}
	slices.Sort(out.Removed)
	return out
}

// preserved marks the units that hold the first messages, or the last.
func preserved(c trim.Case, some []int, n int) map[int]bool {
	held := map[int]bool{}
	for _, i := range some {
		if n > 0 {
			held[i] = true
			n -= len(c.Units[i].Tokens)
		}
	}
	return held
}

// plainStrategies is what the strategies do, told in another way.
func plainStrategies(c trim.Case) (middle, oldest trim.Outcome) {
	var some []int
	for i, u := range c.Units {
		if u.Priority < message.PriorityCritical {
			some = append(some, i)
		}
	}
	backward := slices.Clone(some)
	slices.Reverse(backward)
	end, start := preserved(c, backward, c.PreserveEnd), preserved(c, some, c.PreserveStart)
	group := func(in func(i int) bool, most message.Priority) (group []int) {
		for _, i := range some {
			if in(i) && !c.Units[i].Held && c.Units[i].Priority <= most {
				group = append(group, i)
			}
		}
		return group
	}
	middle = plainly(c,
		group(func(i int) bool { return !end[i] && !start[i] }, message.PriorityHigh),
		group(func(i int) bool { return start[i] && !end[i] }, message.PriorityLow),
		group(func(i int) bool { return end[i] }, message.PriorityLow))
	return middle, plainly(c, group(func(i int) bool { return !end[i] }, message.PriorityHigh))
}

func TestAnyCase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := anyCase().Draw(r, "case")
		middle, oldest := plainStrategies(c)
		require.Equal(r, middle, c.Middle(), "middle")
		require.Equal(r, oldest, c.Oldest(), "oldest")
		out, d := c.Hybrid()
		switch think := c.Decide(); think.Strategy {
		case "":
			require.Zero(r, d.Confidence)
			require.Equal(r, c.Best(middle, oldest), out, "the better of both")
		case trim.Oldest:
			require.Equal(r, oldest, out)
			require.Equal(r, think, d)
		default:
			require.Equal(r, middle, out)
			require.Equal(r, think, d)
		}
		if out.Meets(c.Target) == false && (middle.Meets(c.Target) || oldest.Meets(c.Target)) {
			require.True(r, c.EfficiencyOnly || d.Confidence >= 0.6, "a target is missed that could have been met")
		}
	})
}

func TestEfficiencyOfNothing(t *testing.T) {
	t.Parallel()
	require.Zero(t, trim.Outcome{}.Efficiency(0))
	require.InDelta(t, 0.4, trim.Outcome{Tokens: 100, Kept: 3}.Efficiency(100), 1e-9)
	require.Empty(t, trim.Order(nil, nil))
	out, d := trim.Case{}.Hybrid()
	require.Equal(t, trim.Outcome{}, out)
	require.Equal(t, trim.Middle, d.Strategy)
}
