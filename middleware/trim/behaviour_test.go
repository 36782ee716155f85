package trim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		opts trim.Options
		want string
	}{
		{"zero", trim.Options{}, ""},
		{"all of it", trim.Options{
			Strategy: "oldest", Trigger: trigger.Tokens(1), Warning: 0.5, Threshold: 0.6, Target: 0.4, PreserveStart: -1, PreserveEnd: -1, MinMessages: -1,
			Score: byAge, EfficiencyOnly: true, Note: "gone", Interval: time.Second, MinCalls: 1, Strict: true,
		}, ""},
		{"a low threshold brings the others down", trim.Options{Threshold: 0.1}, ""},
		{"all of the room", trim.Options{Threshold: 1}, ""},
		{"strategy", trim.Options{Strategy: "newest"}, `Strategy is "newest", want "hybrid", "middle" or "oldest"`},
		{"warning", trim.Options{Warning: -1}, "Warning is -1 of the room, want more than 0 and at most 1"},
		{"warning after the threshold", trim.Options{Warning: 0.95}, "Warning is 0.95 of the room and Threshold 0.9, want a warning no later than the threshold"},
		{"target at the threshold", trim.Options{Target: 0.9}, "Target is 0.9 of the room and Threshold 0.9, want a target below the threshold, or messages would go on each call"},
		{"target in tokens", trim.Options{TargetTokens: -1}, "TargetTokens is -1 tokens, want 0 or more"},
		{"two targets", trim.Options{Target: 0.5, TargetTokens: 5}, "Target and TargetTokens are given, want one of them"},
		{"note", trim.Options{Note: " \n"}, `Note is " \n", want some text, or "" for no note`},
		{"interval", trim.Options{Interval: -time.Second}, "Interval is -1s, want 0 or more"},
		{"calls", trim.Options{MinCalls: -1}, "MinCalls is -1 calls, want 0 or more"},
		{"several", trim.Options{Strategy: "newest", Warning: 2}, "Warning is 2 of the room, want more than 0 and at most 1\nStrategy is \"newest\", want \"hybrid\", \"middle\" or \"oldest\""},
	} {
		if tt.want == "" {
			require.NoError(t, tt.opts.Validate(), tt.name)
			require.NotPanics(t, func() { trim.New(tt.opts) }, tt.name)
			continue
		}
		require.EqualError(t, tt.opts.Validate(), tt.want, tt.name)
		require.PanicsWithValue(t, "trim: "+tt.want, func() { trim.New(tt.opts) }, tt.name)
	}
}

// chars4 counts by the number of bytes, so that numbers are known in advance.
var chars4 = middleware.Env{Counter: tokens.Chars4}

// turns is a system message and n questions and answers of 54 tokens each.
func turns(n int) []message.Message {
	h := []message.Message{message.System("You are helpful.")}
	for i := range n {
		text := func(who string) string { return (who + words(i) + " " + strings.Repeat("x", 200))[:200] }
		h = append(h, message.User(text("question ")), message.Assistant(message.Text{Text: text("answer ")}))
	}
	return h[:len(h)-1]
}

// words writes a number in letters.
func words(i int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i))
}

func apply(t *testing.T, mw middleware.Middleware, req *middleware.Request) (*middleware.Request, []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), mw, req)
	require.NoError(t, err)
	return sent, events
}

func kinds(events []middleware.Event) []middleware.EventKind {
	out := []middleware.EventKind{}
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// TestTarget is what a view is brought down to, for each way to set it.
func TestTarget(t *testing.T) {
	t.Parallel()
	window := func(n int) *middleware.Budget { return &middleware.Budget{Window: n + 100, Reserve: 100} }
	everything := trim.Options{PreserveStart: -1, PreserveEnd: -1, MinMessages: -1, Strategy: "oldest"}
	for name, tt := range map[string]struct {
		set    func(*trim.Options)
		budget *middleware.Budget
		force  bool
		want   int // tokens; 0: nothing is removed
	}{
		"0.8 of the room":                                {func(*trim.Options) {}, window(4000), false, 3200},
		"eight ninths of a low threshold":                {func(o *trim.Options) { o.Threshold = 0.36 }, window(10_000), false, 3200},
		"a trigger by tokens":                            {func(o *trim.Options) { o.Trigger = trigger.Tokens(1800) }, window(100_000), false, 1600},
		"a trigger by tokens, the room is less":          {func(o *trim.Options) { o.Trigger = trigger.Tokens(3600) }, window(3000), false, 2400},
		"a trigger by tokens, another relation":          {func(o *trim.Options) { o.Trigger, o.Target = trigger.Tokens(1800), 0.45 }, nil, false, 900},
		"one of several triggers":                        {func(o *trim.Options) { o.Trigger = trigger.Any(trigger.Messages(500), trigger.Tokens(1800)) }, nil, false, 1600},
		"only if it is worth it":                         {func(o *trim.Options) { o.Trigger = trigger.All(trigger.Tokens(1800), trigger.Reclaims(1000)) }, nil, false, 1600},
		"forced, below the target":                       {func(*trim.Options) {}, window(8000), true, 0},
		"forced, above it":                               {func(*trim.Options) {}, window(5200), true, 4160},
		"forced, a trigger that does not go by tokens":   {func(o *trim.Options) { o.Trigger = trigger.Messages(500) }, nil, true, 4277 * 8 / 9},
		"the threshold is not reached":                   {func(*trim.Options) {}, window(4809), false, 0},
		"100,000 tokens, where the window is not known":  {func(*trim.Options) {}, nil, false, 0},
		"a target in tokens that is met by a low window": {func(o *trim.Options) { o.TargetTokens = 5000 }, window(4000), false, 0},
	} {
		o := everything
		tt.set(&o)
		req := &middleware.Request{Messages: turns(40), Budget: tt.budget}
		if tt.force {
			req.Force = []string{"trim"}
		}
		sent, events := apply(t, middleware.With(chars4, trim.New(o)), req)
		if tt.want == 0 {
			require.Len(t, sent.Messages, 80, name)
			require.NotContains(t, kinds(events), middleware.Edited, name)
			continue
		}
		r := events[len(events)-1].Detail.(trim.Report)
		require.Equal(t, tt.want, r.Target, name)
		require.InDelta(t, tt.want-27, sent.View().Size().Tokens, 27, "no more than one message of 54 tokens below it")
	}
}

// summarizing folds messages 2 to 9 into one.
func summarizing() middleware.Middleware {
	return middleware.Editing("summarize", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Span(2).Edit != nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 9, message.User("A summary."))}}, nil
	}, middleware.Options{})
}

// TestSummariesAreKept: what another middleware has folded replaces many messages.
func TestSummariesAreKept(t *testing.T) {
	t.Parallel()
	mw := middleware.With(chars4, summarizing(), trim.New(trim.Options{
		Strategy: "oldest", Trigger: trigger.Tokens(400), TargetTokens: 100, PreserveEnd: 1, MinMessages: -1,
	}))
	sent, _ := apply(t, mw, &middleware.Request{Messages: turns(12)})
	require.Len(t, sent.Messages, 4)
	require.Equal(t, "A summary.", sent.Messages[2].Text())
}

// TestNotesJoin removes several times: there is one note for all that was removed, also
// when messages between were pinned, and it has the position of the newest.
func TestNotesJoin(t *testing.T) {
	t.Parallel()
	const note = "[Earlier messages are gone.]"
	mw := middleware.With(chars4, trim.New(trim.Options{
		Strategy: "oldest", Trigger: trigger.Tokens(600), TargetTokens: 400, PreserveEnd: 1, MinMessages: -1, Note: note,
	}))
	h := turns(30)
	h[6].Hints.Pinned = true
	removals := 0
	for n := 2; n <= len(h); n += 2 {
		sent, events := apply(t, mw, &middleware.Request{Messages: h[:n]})
		if slices.Contains(kinds(events), middleware.Edited) {
			removals++
		}
		notes := 0
		for i, m := range sent.Messages {
			if m.Text() == note {
				notes++
				require.Equal(t, journal.Fold, sent.View().Span(i).Edit.Kind)
				require.Equal(t, message.RoleUser, m.Role)
			}
		}
		require.Equal(t, min(1, removals), notes, "%d messages", n)
		require.Less(t, sent.View().Size().Tokens, 600)
		require.NoError(t, message.Check(sent.Messages))
	}
	require.Greater(t, removals, 5)
}

// TestNoteIsWorthIt: nothing is removed that is shorter than the note.
func TestNoteIsWorthIt(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("Why?"), message.Assistant(message.Text{Text: "So."}), message.User("And?")}
	opts := trim.Options{
		Strategy: "oldest", Trigger: trigger.Messages(1), TargetTokens: 1, PreserveEnd: -1, MinMessages: -1,
		Note: "[A message has been removed here, which was not long.]",
	}
	sent, events := apply(t, middleware.With(chars4, trim.New(opts)), &middleware.Request{Messages: h})
	require.Equal(t, h, sent.Messages)
	require.Equal(t, []middleware.EventKind{middleware.Skipped}, kinds(events))
	require.Contains(t, events[0].Why, "nothing may be removed")
}

// TestIntervalOfADraft shows that a draft knows when the trigger was looked at.
func TestIntervalOfADraft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	env := chars4
	env.Clock = func() time.Time { return now }
	mw := middleware.With(env, trim.New(trim.Options{Trigger: trigger.Tokens(1000), Interval: time.Minute}))
	h := turns(40)
	apply(t, mw, &middleware.Request{Messages: h[:4]})
	edits := func() int {
		d, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: h[:40]})
		require.NoError(t, err)
		return len(d.Edits)
	}
	require.Zero(t, edits(), "a call would not look")
	now = now.Add(time.Minute)
	require.Positive(t, edits(), "now it would")
	require.Positive(t, edits(), "a draft that is dropped has looked at nothing")
	sent, _ := apply(t, mw, &middleware.Request{Messages: h[:40]})
	require.Less(t, len(sent.Messages), 40)
}

// TestScore uses importance after priority, computes no more scores than necessary, and
// counts those below 0 as 0.
func TestScore(t *testing.T) {
	t.Parallel()
	h := turns(8)
	h[9].Hints.Priority = message.PriorityLow
	var asked []int
	opts := trim.Options{
		Strategy: "oldest", Trigger: trigger.Tokens(400), PreserveEnd: 2, MinMessages: -1,
		Score: func(*middleware.View) func(message.Unit) float64 {
			return func(u message.Unit) float64 {
				asked = append(asked, u.First)
				return map[int]float64{2: 5, 3: 0.5, 4: -7, 6: 3, 9: 100}[u.First]
			}
		},
	}
	removed := func(messages int) (removed []int) {
		asked = nil
		o := opts
		o.TargetTokens = tokens.Meter{Counter: tokens.Chars4}.Request(h, nil) - 54*messages
		sent, events := apply(t, middleware.With(chars4, trim.New(o)), &middleware.Request{Messages: h})
		require.NoError(t, events[0].Err)
		left := map[int]bool{}
		for i := range sent.View().Len() {
			left[sent.View().Span(i).First] = true
		}
		for i := range h {
			if !left[i] {
				removed = append(removed, i)
			}
		}
		return removed
	}
	require.Equal(t, []int{9}, removed(1), "it is low")
	require.Empty(t, asked, "all of low priority are removed, with any score")
	require.Equal(t, []int{4, 9}, removed(2), "its score is 0")
	require.Equal(t, []int{2, 3, 4}, asked, "no score is computed after that")
	require.Equal(t, []int{4, 5, 7, 8, 9}, removed(5))
	require.Equal(t, []int{3, 4, 5, 7, 8, 9, 10, 11, 12, 13}, removed(10))
	require.Equal(t, []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, removed(11))

	opts.Score = func(*middleware.View) func(message.Unit) float64 {
		return func(message.Unit) float64 { panic("out of order") }
	}
	opts.TargetTokens = 100
	h[9].Hints.Priority = 0
	opts.MinMessages = 8
	sent, events := apply(t, middleware.With(chars4, trim.New(opts)), &middleware.Request{Messages: h})
	require.Equal(t, h, sent.Messages)
	require.Equal(t, []middleware.EventKind{middleware.Failed}, kinds(events))
	require.ErrorContains(t, events[0].Err, "out of order")
}

// TestShortenedMessages: what can be seen of a message decides. One that another
// editor has shortened counts as it is now.
func TestShortenedMessages(t *testing.T) {
	t.Parallel()
	h := turns(8)
	shorten := middleware.Editing("shorten", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Span(6).Edit != nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(6, message.Text{Text: "Hm."})}}, nil
	}, middleware.Options{})
	mw := middleware.With(chars4, shorten, trim.New(trim.Options{Strategy: "oldest", Trigger: trigger.Tokens(400), TargetTokens: 770, PreserveEnd: 2}))
	sent, _ := apply(t, mw, &middleware.Request{Messages: h})
	require.False(t, slices.ContainsFunc(sent.Messages, func(m message.Message) bool { return m.Text() == "Hm." }), "it is low now, and is removed first")
}

// The last unit is kept, also if nothing else protects it: the model continues from it.
func TestLastUnitIsKept(t *testing.T) {
	t.Parallel()
	h := append(turns(4), message.Assistant(message.Text{Text: "Let me think about it."}))
	for _, s := range []string{"middle", "oldest", "hybrid"} {
		sent, _ := apply(t, trim.New(trim.Options{
			Strategy: s, Trigger: trigger.Tokens(1), TargetTokens: 1, PreserveStart: -1, PreserveEnd: -1, MinMessages: -1,
		}), &middleware.Request{Messages: h})
		require.Less(t, len(sent.Messages), len(h), s)
		require.Equal(t, h[len(h)-1], sent.Messages[len(sent.Messages)-1], s)
	}
}

// Answers in a row may have calls, with all results behind the last one: some providers join them. They leave together.
func TestAnswersInARow(t *testing.T) {
	t.Parallel()
	call := func(id string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"})
	}
	text := strings.Repeat("x", 200)
	h := slices.Insert(turns(4), 4, call("a"), call("b"), message.Result("a", "read", text), message.Result("b", "read", text))
	for room := 40; room < 500; room += 20 {
		sent, events := apply(t, trim.New(trim.Options{
			Strategy: "oldest", Trigger: trigger.Tokens(1), TargetTokens: room, PreserveStart: -1, PreserveEnd: -1, MinMessages: -1,
		}), &middleware.Request{Messages: h})
		require.NotContains(t, kinds(events), middleware.Refused)
		require.NoError(t, message.Messages.Check(sent.Messages), "%d tokens", room)
	}
}
