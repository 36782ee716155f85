package seeds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// The functions behind these requirements, on numbers alone, are tested as A-1 to
// A-7 in package trim.

// bare counts texts alone, a token for each four bytes, so that a message has as
// many tokens as the requirement says.
var bare = middleware.Env{Counter: tokens.Chars4, Framing: tokens.Framing{PerTool: 1}}

// talk is a conversation of messages with so many tokens each. Its roles are S, U
// and A; no message asks anything, and no two are the same.
func talk(roles string, size int) []message.Message {
	var h []message.Message
	for i, r := range roles {
		text := message.Text{Text: (fmt.Sprintf("%s ", words(i)) + strings.Repeat("x", 4*size))[:4*size]}
		h = append(h, message.Message{
			Role:  map[rune]message.Role{'S': message.RoleSystem, 'U': message.RoleUser, 'A': message.RoleAssistant}[r],
			Parts: []message.Part{text},
		})
	}
	return h
}

// words writes a number in letters.
func words(i int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i))
}

// dialog is user and assistant in turn.
func dialog(n int) string { return strings.Repeat("UA", n)[:n] }

// trimmed is what is left of a history.
type trimmed struct {
	gone   []int // positions in the history
	events []middleware.Event
}

// edited returns the event of the edit, and its report.
func (r trimmed) edited(t *testing.T) (middleware.Event, trim.Report) {
	t.Helper()
	k := slices.IndexFunc(r.events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
	require.GreaterOrEqual(t, k, 0, "messages are removed, got %v", r.events)
	return r.events[k], r.events[k].Detail.(trim.Report)
}

func remove(t *testing.T, h []message.Message, opts trim.Options) trimmed {
	t.Helper()
	return removeBy(t, middleware.With(bare, trim.New(opts)), &middleware.Request{Messages: h})
}

func removeBy(t *testing.T, mw middleware.Middleware, req *middleware.Request) trimmed {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, req)
	require.NoError(t, err)
	r := trimmed{events: events}
	left := sent.Messages
	for i, m := range req.Messages {
		if len(left) > 0 && m.Equal(left[0]) {
			left = left[1:]
			continue
		}
		r.gone = append(r.gone, i)
	}
	require.Empty(t, left, "what is left is of the history, in its order")
	return r
}

func kindsOf(events []middleware.Event) (kinds []middleware.EventKind) {
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestA1(t *testing.T) {
	t.Parallel()
	// An event reports each change of level, with utilisation. The function of the
	// levels alone is tested in the package.
	mw := middleware.With(bare, trim.New(trim.Options{Trigger: trigger.Tokens(1 << 40)}))
	h := talk("S", 700)
	var reported []string
	for _, more := range []int{0, 150, 70, 0, 50, 30} {
		if more > 0 {
			h = append(h, talk("U", more)...)
		}
		r := removeBy(t, mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1000}})
		for _, e := range r.events {
			require.Equal(t, trim.LevelChanged, e.Kind)
			c := e.Detail.(trim.Change)
			reported = append(reported, fmt.Sprint(c.From, " ", c.To, " ", c.Utilisation))
		}
	}
	require.Equal(t, []string{"none warning 0.85", "warning soft 0.92", "soft hard 0.97", "hard emergency 1"}, reported)

	// The threshold test is ≥: 899 no, 900 yes.
	for n, want := range map[int]int{899: 0, 900: 1} {
		h := append(talk("S", n-800), talk(dialog(16), 50)...)
		r := removeBy(t, middleware.With(bare, trim.New(trim.Options{})), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1000}})
		count := 0
		for _, e := range r.events {
			if e.Kind == middleware.Edited {
				count++
			}
		}
		require.Equal(t, want, count, "%d of 1000", n)
	}
}

func TestA2(t *testing.T) {
	t.Parallel()
	// All three strategies use them: the low one goes first.
	h := talk("S"+dialog(11), 50)
	h[6].Hints.Priority = message.PriorityLow
	for _, s := range []string{"middle", "oldest", "hybrid"} {
		r := remove(t, h, trim.Options{Strategy: s, Trigger: trigger.Tokens(600), TargetTokens: 550})
		require.Equal(t, []int{6}, r.gone, s)
	}

	// They are computed anew each time and not stored. In the original they are
	// sticky: here a message that is high among the last two is normal when it no
	// longer is one of them.
	mw := middleware.With(bare, trim.New(trim.Options{Strategy: "oldest", Trigger: trigger.Tokens(400), TargetTokens: 250, PreserveEnd: 1, MinMessages: 1}))
	h = talk("SUAUAUAU", 50)
	first := removeBy(t, mw, &middleware.Request{Messages: h})
	require.Equal(t, []int{2, 3, 4}, first.gone, "6 is high as one of the last two, and newer")
	h = append(h, talk("SUAUAUAUAUA", 50)[8:]...)
	require.Equal(t, []int{2, 3, 4, 5, 6, 7}, removeBy(t, mw, &middleware.Request{Messages: h}).gone, "6 and 7 are two of many now")
	for _, m := range h {
		require.Zero(t, m.Hints.Priority, "nothing is stored in the history")
	}
}

func TestA3(t *testing.T) {
	t.Parallel()
	opts := trim.Options{Strategy: "middle", Trigger: trigger.Tokens(500), TargetTokens: 450, PreserveStart: 2, PreserveEnd: 2}
	r := remove(t, talk("SUAUAUAUAU", 50), opts)
	require.Equal(t, []int{3}, r.gone)
	e, report := r.edited(t)
	require.Equal(t, []int{500, 450, 1}, []int{e.Before, e.After, e.Detail.(trim.Report).Messages})
	require.True(t, report.Reached)

	// Low priority first, then oldest.
	h := talk("SUAUAUAUAU", 50)
	h[5].Hints.Priority = message.PriorityLow
	opts.TargetTokens = 400
	require.Equal(t, []int{3, 5}, remove(t, h, opts).gone)

	// Pinned ones never go.
	h = talk("SUAUAUAUAU", 50)
	h[3].Hints.Pinned, h[4].Hints.Pinned = true, true
	opts.TargetTokens = 100
	r = remove(t, h, opts)
	require.NotContains(t, r.gone, 3)
	require.NotContains(t, r.gone, 4)
	_, report = r.edited(t)
	require.False(t, report.Reached)
}

func TestA4(t *testing.T) {
	t.Parallel()
	h := talk("SUAUAUAU", 50)
	opts := trim.Options{Strategy: "oldest", Trigger: trigger.Tokens(400), TargetTokens: 250, MinMessages: 4, PreserveEnd: 2}
	r := remove(t, h, opts)
	require.Equal(t, []int{2, 3, 4}, r.gone, "1 is high, among the first two; 6 and 7 are the last two")
	_, report := r.edited(t)
	require.True(t, report.Reached)

	opts.PreserveEnd = 5
	r = remove(t, h, opts)
	require.Equal(t, []int{2}, r.gone)
	e, report := r.edited(t)
	require.False(t, report.Reached)
	require.Contains(t, e.Why, "the target of 250 tokens is not reached", "the event says so")
}

func TestA8(t *testing.T) {
	t.Parallel()
	// System, critical and pinned stay, the minimum stays, tokens go down.
	h := talk("SUAUAUAUAUAUAU", 50)
	h[3].Hints.Priority, h[5].Hints.Pinned = message.PriorityCritical, true
	opts := trim.Options{Strategy: "oldest", Trigger: trigger.Messages(1), TargetTokens: 1, PreserveEnd: -1, MinMessages: 7}
	r := remove(t, h, opts)
	require.Equal(t, []int{2, 4, 6, 7, 8, 9, 10}, r.gone)
	e, report := r.edited(t)
	require.Less(t, e.After, e.Before)
	require.Equal(t, 7, report.Kept)
	require.False(t, report.Reached, "what can go goes, and the event says so")
	require.Contains(t, e.Why, "is not reached")

	// Else nothing changes.
	opts.MinMessages = len(h)
	r = remove(t, h, opts)
	require.Empty(t, r.gone)
	require.Equal(t, []middleware.EventKind{middleware.Skipped}, kindsOf(r.events))

	// Target already met: unchanged, no error.
	mw := middleware.With(bare, trim.New(trim.Options{Strict: true}))
	r = removeBy(t, mw, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1000}, Force: []string{"trim"}})
	require.Empty(t, r.gone, "700 of 1000 is less than the target of 800, even if the request wants the edit")

	// History of the last ten, in numbers and ids, and statistics.
	var stats trim.Statistics
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	env := bare
	env.Clock = func() time.Time { return now }
	mw = middleware.With(env, middleware.Observe(trim.SumEdits("trim", func(s *trim.Statistics) { stats = *s })), trim.New(trim.Options{
		Strategy: "oldest", Trigger: trigger.Tokens(500), TargetTokens: 400, MinMessages: 1,
	}))
	h = talk("S"+dialog(34), 50)
	for n := 10; n <= 32; n += 2 {
		now = now.Add(time.Hour)
		r = removeBy(t, mw, &middleware.Request{Messages: h[:n]})
		require.Len(t, r.gone, 2*(n/2-4), "%d messages: two more are removed", n)
	}
	s := stats
	require.Equal(t, []int{12, 24, 1200}, []int{s.Count, s.Messages, s.Tokens})
	require.InDelta(t, 0.8, s.MeanRatio, 1e-9)
	require.Equal(t, now, s.Last)
	require.Len(t, s.History, 10)
	for i, entry := range s.History {
		n := 14 + 2*i
		require.Equal(t, []int{500, 400, 2}, []int{entry.Before, entry.After, entry.Detail.(trim.Report).Messages})
		require.Equal(t, time.Date(2026, 1, 1, 3+i, 0, 0, 0, time.UTC), entry.Time, "the newest is the last")
		require.Len(t, entry.Edits, 1)
		require.Equal(t, []message.Run{{First: n - 9, Last: n - 8}}, entry.Edits[0].Runs, "messages %d", n)
		require.Equal(t, message.IDs(h)[n-7], entry.Edits[0].ID)
		require.Empty(t, entry.Edits[0].Messages, "no bodies")
	}
}

func TestA9(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	env := bare
	env.Clock = func() time.Time { return now }
	budget := &middleware.Budget{Window: 1000}
	start := func(interval time.Duration) (call func(tokens int, after time.Duration) bool) {
		mw := middleware.With(env, trim.New(trim.Options{Interval: interval}))
		h, shown := append(talk("S", 100), talk(dialog(14), 50)...), 800
		return func(tokens int, after time.Duration) bool {
			now = now.Add(after)
			h = append(h, talk(dialog((tokens-shown)/10), 10)...)
			sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h, Budget: budget})
			require.NoError(t, err)
			shown = sent.View().Size().Tokens
			edited := slices.Contains(kindsOf(events), middleware.Edited)
			require.Equal(t, edited, shown < tokens)
			return edited
		}
	}

	call := start(0)
	require.True(t, call(910, 0), "without an interval, each call looks")

	call = start(5 * time.Second)
	require.False(t, call(800, 0), "there is nothing to do yet")
	require.False(t, call(910, 4999*time.Millisecond), "it was looked at less than five seconds ago")
	require.True(t, call(910, time.Millisecond), "five seconds are over")
	require.False(t, call(940, 0), "and begin again")
	require.True(t, call(950, 0), "at the level hard the interval does not hold")
	require.True(t, call(1000, 0), "nor in an emergency")
}

// TestAFor is the line of section A on providers and models.
func TestAFor(t *testing.T) {
	t.Parallel()
	options := func(s string, warning, threshold float64, start, end, least int) trim.Options {
		return trim.Options{Strategy: s, Warning: warning, Threshold: threshold, PreserveStart: start, PreserveEnd: end, MinMessages: least}
	}
	others := options("hybrid", 0.8, 0.9, 4, 5, 4)
	for _, row := range []struct {
		want   trim.Options
		models string
	}{
		{options("hybrid", 0.85, 0.9, 6, 6, 4), "gpt-4 gpt-4o gpt-4.1-mini GPT-4o-mini gpt-4o-2024-08-06 openai/gpt-4-turbo ft:gpt-4o-mini:acme::a1b2 " +
			"openai:gpt-4-of-tomorrow openrouter/openai/gpt-4-of-tomorrow"},
		{options("middle", 0.9, 0.95, 8, 8, 4), "o1 o1-mini o1-pro openai/o1-preview"},
		{options("oldest", 0.85, 0.92, 5, 7, 4), "claude-3-5-sonnet-20241022 claude-sonnet-4-5 us.anthropic.claude-sonnet-4-5-20250929-v1:0 " +
			"anthropic/claude-of-tomorrow anthropic/claude-3.7-sonnet:thinking"},
		{options("middle", 0.9, 0.95, 10, 10, 4), "gemini-1.5-pro gemini-1.5-flash gemini-1.5-pro-002 gemini-1.5-flash-8b models/gemini-1.5-flash google/gemini-1.5-of-tomorrow"},
		{options("hybrid", 0.7, 0.8, 3, 4, 3), "ollama/llama3.1 ollama:qwen3:8b Ollama_Chat/gpt-4o lmstudio/gemma lm-studio/a/b"},
		{others, "o3 o4-mini gpt-5 gpt-3.5-turbo gemini-2.5-pro google/gemini-of-tomorrow deepseek-chat gpt-4-of-tomorrow claude ollama unknown /"},
	} {
		for model := range strings.FieldsSeq(row.models) {
			require.Equal(t, row.want, trim.For(model), model)
		}
		require.NoError(t, row.want.Validate())
	}
	require.Equal(t, trim.For("ollama/llama3.1"), trim.For("LM Studio/x"))
	require.Equal(t, others, trim.For(""))
	// The window comes from the table, by the same names.
	for model, window := range map[string]int{"gpt-4": 8_192, "gemini-1.5-pro-002": 2_097_152, "gemini-1.5-flash": 1_048_576} {
		m, ok := models.Default().Lookup(model)
		require.True(t, ok, model)
		require.Equal(t, window, m.Window, model)
	}
}
