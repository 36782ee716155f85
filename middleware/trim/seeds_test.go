package trim

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// The requirements as far as they are about numbers alone. tests/seeds has
// the rest of them, about whole calls.

// same returns n units of one message each, of the same number of tokens.
func same(n, size int) []unit {
	all := make([]unit, n)
	for i := range all {
		all[i] = unit{tokens: []int{size}, priority: message.PriorityNormal}
	}
	return all
}

func TestA1(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		700: none, 850: warning, 920: soft, 970: hard, 1000: emergency,
		799: none, 800: warning, 899: warning, 900: soft, 949: soft, 950: hard, 999: hard, 5000: emergency,
	} {
		require.Equal(t, want, levelOf(n, 1000, 0.8, 0.9), "%d of 1000", n)
	}
	// The band of soft is empty where the threshold is .95.
	require.Equal(t, warning, levelOf(949, 1000, 0.9, 0.95))
	require.Equal(t, hard, levelOf(950, 1000, 0.9, 0.95))
}

func TestA2(t *testing.T) {
	t.Parallel()
	const middle, of = 5, 10
	long, short := message.User("Go on."), message.User("Go on?")
	with := func(m message.Message, p message.Priority) message.Message {
		m.Hints.Priority = p
		return m
	}
	calls := message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: "{}"})
	pinned := with(long, message.PriorityLow)
	pinned.Hints.Pinned = true
	for name, tt := range map[string]struct {
		m              message.Message
		at, of, tokens int
		want           message.Priority
	}{
		"already set":                  {with(long, message.PriorityLow), 0, of, 900, message.PriorityLow},
		"already set, of the system":   {with(message.System("a"), message.PriorityNormal), middle, of, 50, message.PriorityNormal},
		"already set, and pinned":      {pinned, middle, of, 50, message.PriorityCritical},
		"system":                       {message.System("a"), middle, of, 5, message.PriorityCritical},
		"tool":                         {message.Result("c", "read", "a"), middle, of, 5, message.PriorityHigh},
		"first":                        {long, 0, of, 5, message.PriorityHigh},
		"second":                       {long, 1, of, 5, message.PriorityHigh},
		"third":                        {long, 2, of, 5, message.PriorityLow},
		"last but two":                 {long, of - 3, of, 5, message.PriorityLow},
		"last but one":                 {long, of - 2, of, 5, message.PriorityHigh},
		"last":                         {long, of - 1, of, 5, message.PriorityHigh},
		"800 tokens":                   {long, middle, of, 800, message.PriorityNormal},
		"801 tokens":                   {long, middle, of, 801, message.PriorityHigh},
		"20 tokens":                    {long, middle, of, 20, message.PriorityNormal},
		"19 tokens":                    {long, middle, of, 19, message.PriorityLow},
		"19 tokens that ask":           {short, middle, of, 19, message.PriorityNormal},
		"19 tokens that ask, Chinese":  {message.User("继续吗？"), middle, of, 19, message.PriorityNormal},
		"calls":                        {calls, middle, of, 50, message.PriorityHigh},
		"calls with fewer than 20":     {calls, middle, of, 19, message.PriorityLow},
		"an answer of ordinary length": {message.Assistant(message.Text{Text: "a"}), middle, of, 50, message.PriorityNormal},
	} {
		require.Equal(t, tt.want, priorityOf(tt.m, tt.at, tt.of, tt.tokens), name)
	}
}

func TestA5(t *testing.T) {
	t.Parallel()
	// 0.6·(1 − after/before) + 0.4·kept/(kept + removed).
	require.InDelta(t, 0.50667, selection{tokens: 6200, kept: 12, messages: 3}.efficiency(9000), 0.000005)
	require.InDelta(t, 0.48000, selection{tokens: 5800, kept: 10, messages: 5}.efficiency(9000), 0.000005)
}

func TestA6(t *testing.T) {
	t.Parallel()
	first, second := selection{tokens: 6200, kept: 12, messages: 3}, selection{tokens: 5800, kept: 10, messages: 5}
	s := snapshot{tokens: 9000, target: 6000}
	require.Equal(t, second, s.best(first, second), "what misses the target loses against what meets it, unlike in the original")
	s.EfficiencyOnly = true
	require.Equal(t, first, s.best(first, second), "the original rule")

	// If both meet it, or neither, efficiency decides; the first, middle, on a tie.
	s = snapshot{tokens: 9000, target: 6500}
	require.Equal(t, first, s.best(first, second))
	require.Equal(t, first, s.best(second, first))
	s.target = 5000
	require.Equal(t, first, s.best(second, first))
	tie := selection{units: []int{1}, tokens: 6200, kept: 12, messages: 3}
	require.Equal(t, tie, s.best(tie, first))
}

func TestA7(t *testing.T) {
	t.Parallel()
	// Light is above 0.8, moderate above 0.6; fewer than 20 messages, more than 30, a
	// message of more than 300 tokens.
	for _, tt := range []struct {
		n, tokens, target int
		want              decision
	}{
		{15, 100, 1300, decision{middleStrategy, 0.8}},
		{40, 100, 2000, decision{oldestStrategy, 0.9}},
		{25, 400, 7000, decision{oldestStrategy, 0.6}},
		{25, 100, 1800, decision{}},
		{15, 100, 1201, decision{middleStrategy, 0.8}},
		{15, 100, 1200, decision{}},
		{19, 100, 1700, decision{middleStrategy, 0.8}},
		{20, 100, 1700, decision{}},
		{40, 100, 2400, decision{oldestStrategy, 0.9}},
		{40, 100, 2401, decision{}},
		{31, 100, 1500, decision{oldestStrategy, 0.9}},
		{30, 100, 1500, decision{}},
		{25, 301, 5250, decision{oldestStrategy, 0.6}},
		{25, 300, 5250, decision{}},
		{25, 400, 8000, decision{oldestStrategy, 0.6}},
		{25, 400, 8001, decision{}},
	} {
		s := snapshot{units: same(tt.n, tt.tokens), tokens: tt.n * tt.tokens, target: tt.target}
		require.Equal(t, tt.want, s.decide(), "%d × %d tokens, down to %d", tt.n, tt.tokens, tt.target)
		if tt.want.strategy == "" {
			s.units[12].special = true
			require.Equal(t, decision{middleStrategy, 0.7}, s.decide(), "with a tool message, one strategy is chosen")
		}
	}

	// The last five hold more than 0.4 of the tokens.
	s := snapshot{units: same(25, 100), tokens: 2500, target: 1800}
	for i := range 5 {
		s.units[20+i].tokens = []int{267}
	}
	require.Equal(t, decision{middleStrategy, 0.7}, s.decide(), "5 × 267 of 3335 tokens")
	for i := range 5 {
		s.units[20+i].tokens = []int{266}
	}
	require.Equal(t, decision{}, s.decide(), "5 × 266 of 3330")
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
