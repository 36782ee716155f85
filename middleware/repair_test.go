package middleware_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// mends repairs what breaks the rules.
func mends(rules message.Rules) middleware.Middleware {
	return middleware.Repairing("mend", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
		return rules.Repair(messagesOf(v)), nil
	})
}

// torn is a history with a result that nobody asked for and a call that nobody
// answered.
func torn() []message.Message {
	return []message.Message{
		message.System("Be brief."),
		message.User("What is in a.txt?"),
		message.Result("lost", "read", "a result without a call"),
		message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a.txt"}`}),
		message.User("Well?"),
	}
}

func TestMending(t *testing.T) {
	t.Parallel()
	var heard middlewaretest.Recorder
	journal := newCountingJournal()
	script := middlewaretest.Script(middlewaretest.Say("a"), middlewaretest.Say("b"))
	model := middleware.With(middleware.Env{Journal: journal}, heard.Middleware(), mends(message.OpenAI))(script.Model)
	history := torn()
	require.Error(t, message.OpenAI.Check(history), "there is something to repair")
	before := slices.Clone(history)

	_, err := model(t.Context(), &middleware.Request{Messages: history}, nil)
	require.NoError(t, err)
	sent := script.Requests()[0]
	require.NoError(t, message.OpenAI.Check(sent.Messages), "what is sent is valid")
	require.NoError(t, testkit.Same(before, history), "the caller's history stays as it is")
	require.Zero(t, journal.puts.Load(), "repairs are not remembered")

	events := heard.Events()
	require.Len(t, events, 1, "one event tells all repairs")
	require.Equal(t, middleware.Repaired, events[0].Kind)
	require.Equal(t, "mend", events[0].By)
	fixes, ok := events[0].Detail.([]message.Fix)
	require.True(t, ok, "%T", events[0].Detail)
	require.Len(t, fixes, 2, "the orphaned result and the unanswered call")
	require.Contains(t, events[0].Why, ", and 1 more")
	require.Equal(t, []int{2, 3}, []int{fixes[0].At, fixes[1].At}, "where they stand in the history")
	require.Greater(t, events[0].After, events[0].Before, "a repair may make the view longer")

	_, err = model(t.Context(), &middleware.Request{Messages: append(history, message.Assistant(message.Text{Text: "a"}), message.User("And?"))}, nil)
	require.NoError(t, err)
	require.NoError(t, testkit.Same(sent.Messages, script.Requests()[1].Messages[:len(sent.Messages)]), "the repaired beginning stays, byte for byte")
	require.Len(t, heard.Events(), len(events), "the same repairs are reported once")
}

// A repairer may say what it did without naming a message.
func TestRepairOfNoMessage(t *testing.T) {
	t.Parallel()
	fixes := []message.Fix{
		{Violation: message.Violation{At: -1}, Done: "added"},
		{Violation: message.Violation{At: 99}, Done: "added"},
		{Violation: message.Violation{At: 1}, Done: "removed"},
	}
	mw := middleware.Repairing("mend", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
		return &message.Repaired{Messages: slices.Clone(messagesOf(v)), Fixes: fixes}, nil
	})
	_, events := sentBy(t, middleware.Chain(shortener("shorten", 1, nil), mw), middlewaretest.ReAct{Rounds: 6, Result: 700}.Messages())
	require.Len(t, events, 2)
	require.Equal(t, fixes, events[1].Detail)
}

// A repair that observers know of is reported again in a draft.
func TestRepairsInADraft(t *testing.T) {
	t.Parallel()
	mw := middleware.Chain(mends(message.OpenAI))
	_, want := sentBy(t, mw, torn())
	require.Len(t, want, 1)
	require.Equal(t, texts(want), texts(drafted(t, mw, torn()).Events))
	_, again := sentBy(t, mw, torn())
	require.Empty(t, again, "the draft has no effect on calls")
}

func TestMendingTellsWhereMessagesComeFrom(t *testing.T) {
	t.Parallel()
	req, _, err := middleware.Apply(t.Context(), middleware.Chain(mends(message.OpenAI)), &middleware.Request{Messages: torn()})
	require.NoError(t, err)
	v := req.View()
	require.NotNil(t, v, "the request carries the view that the repairs made")
	require.Equal(t, len(req.Messages), v.Len())
	sum := 0
	for i, m := range v.Messages() {
		s := v.Span(i)
		sum += v.TokensOf(i)
		if s.Edit == nil {
			require.True(t, m.Equal(torn()[s.First]), "message %d is the one of the history that its span names", i)
			continue
		}
		require.Equal(t, journal.Repair, s.Edit.Kind, "message %d", i)
		require.Equal(t, "mend", s.Edit.Middleware)
	}
	require.Equal(t, middleware.Protection{Whole: true}, v.Protected(0), "the system message is protected as before")
	fresh, _, err := middleware.Apply(t.Context(), shortener("none", 9, nil), &middleware.Request{Messages: req.Messages})
	require.NoError(t, err)
	require.Equal(t, fresh.View().Size().Tokens, v.Size().Tokens, "the repaired view counts like a history that says the same")
	for i := range v.Len() {
		require.Equal(t, fresh.View().TokensOf(i), v.TokensOf(i), "tokens of message %d", i)
	}
}

// TestMendingHasTheLastWord puts the mender first, an editor behind it and a
// message behind that.
func TestMendingHasTheLastWord(t *testing.T) {
	t.Parallel()
	history := append(middlewaretest.ReAct{Rounds: 6, Result: 700}.Messages(), message.Result("lost", "read", "x"))
	req, events, err := middleware.Apply(t.Context(),
		middleware.Chain(mends(message.Portable), shortener("shorten", 1, nil), inject("a context")),
		&middleware.Request{Messages: history})
	require.NoError(t, err)
	require.NoError(t, message.Portable.Check(req.Messages), "what is sent is valid")
	require.True(t, slices.ContainsFunc(req.Messages, func(m message.Message) bool {
		return m.Equal(message.User("a context")) ||
			m.Role == message.RoleUser && len(m.Parts) > 1
	}), "what was put behind the editor is sent")
	require.True(t, slices.ContainsFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Repaired }))
}

// TestMendingFails shows that a mender that fails leaves nothing behind.
func TestMendingFails(t *testing.T) {
	t.Parallel()
	odd := map[string]func(context.Context, *middleware.View) (*message.Repaired, error){
		"an error": func(context.Context, *middleware.View) (*message.Repaired, error) { return nil, errors.New("no") },
		"a panic":  func(context.Context, *middleware.View) (*message.Repaired, error) { panic("no") },
		"no origins": func(context.Context, *middleware.View) (*message.Repaired, error) {
			return &message.Repaired{Messages: torn()}, nil
		},
		"an origin that is none": func(context.Context, *middleware.View) (*message.Repaired, error) {
			return &message.Repaired{Messages: torn()[:1], From: []int{99}}, nil
		},
		"a part that is none": func(context.Context, *middleware.View) (*message.Repaired, error) {
			return &message.Repaired{Messages: []message.Message{{Role: message.RoleUser, Parts: []message.Part{nil}}}, From: []int{0}}, nil
		},
	}
	for name, mend := range odd {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journal := newCountingJournal()
			asked := 0
			model := middleware.With(middleware.Env{Journal: journal}, shortener("shorten", 1, nil), middleware.Repairing("mend", mend))(
				func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
					asked++
					return &middleware.Response{}, nil
				})
			_, err := model(t.Context(), &middleware.Request{Messages: middlewaretest.ReAct{Rounds: 6, Result: 700}.Messages()}, nil)
			require.ErrorContains(t, err, "mend: ", "the error names the middleware")
			require.Zero(t, asked, "the model is not asked")
			require.Zero(t, journal.puts.Load(), "and nothing is kept")
		})
	}
	require.PanicsWithValue(t, "middleware: Repairing: want a name and a repairer", func() { middleware.Repairing("", nil) })
}

// TestDraftLeavesOutRepairs shows that a draft is of edits alone.
func TestDraftLeavesOutRepairs(t *testing.T) {
	t.Parallel()
	d, err := middleware.Draft(t.Context(), middleware.Chain(shortener("shorten", 1, nil), mends(message.OpenAI)),
		&middleware.Request{Messages: append(middlewaretest.ReAct{Rounds: 6, Result: 700}.Messages(), message.Result("lost", "read", "x"))})
	require.NoError(t, err)
	require.NotEmpty(t, d.Edits, "the edits are there")
	for _, e := range d.Edits {
		require.Equal(t, "shorten", e.By)
	}
	require.True(t, slices.ContainsFunc(d.Events, func(e middleware.Event) bool { return e.Kind == middleware.Repaired }), "the events tell the repair")
}

// TestShared compares with what can be seen in the views.
func TestShared(t *testing.T) {
	t.Parallel()
	var paid atomic.Int64
	chains := map[string]func() middleware.Middleware{
		"shorten": func() middleware.Middleware { return shortener("shorten", 3, trigger.Tokens(800)) },
		"fold":    func() middleware.Middleware { return folder("fold", 3, trigger.Tokens(1200), &paid) },
		"both": func() middleware.Middleware {
			return middleware.Chain(shortener("shorten", 3, nil), folder("fold", 5, trigger.Tokens(1500), &paid))
		},
		"none": func() middleware.Middleware { return shortener("shorten", 99, nil) },
	}
	for name, chain := range chains {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var earlier []*middleware.View
			mw, whole := chain(), 0
			for _, msgs := range conversationsToReplay() {
				for history := range testkit.Prefixes(msgs) {
					req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
					require.NoError(t, err)
					v := req.View()
					edited := slices.ContainsFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
					for k, o := range earlier {
						n := v.Shared(o)
						require.LessOrEqual(t, n, commonly(v, o), "no more than what is equal")
						if k == len(earlier)-1 && !edited && commonly(v, o) == o.Len() {
							require.Equal(t, o.Len(), n, "all of the view before, since the history has grown")
							whole++
						}
					}
					require.Equal(t, v.Len(), v.Shared(v))
					earlier = append(earlier, v)
				}
			}
			require.Positive(t, whole)
			require.Zero(t, earlier[0].Shared(nil))
		})
	}
}

// commonly returns how many first messages of two views are equal.
func commonly(a, b *middleware.View) int {
	n := min(a.Len(), b.Len())
	for i := range n {
		if !a.At(i).Equal(b.At(i)) {
			return i
		}
	}
	return n
}

// TestNotes shows that a note belongs to a conversation.
func TestNotes(t *testing.T) {
	t.Parallel()
	type key struct{}
	var found any
	mw := middleware.Editing("notes", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		found = v.Load(key{})
		var value any = v.Len()
		v.Store(key{}, value)
		return nil, nil
	}, middleware.Options{})
	call := func(msgs []message.Message) any {
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: msgs})
		require.NoError(t, err)
		return found
	}
	one := middlewaretest.ReAct{Rounds: 3}.Messages()
	require.Nil(t, call(one[:4]), "nothing is noted at first")
	require.Equal(t, 4, call(one), "the note is found when the conversation has grown")
	require.Nil(t, call([]message.Message{message.User("another")}), "another conversation has notes of its own")
	for range 2 {
		_, err := middleware.Draft(t.Context(), mw, &middleware.Request{Messages: one[:6]})
		require.NoError(t, err)
		require.Equal(t, len(one), found, "a dry run finds the notes")
	}
	require.Equal(t, len(one), call(one), "and leaves them alone")
}
