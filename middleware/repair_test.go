package middleware_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

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
	model := middleware.With(middleware.Env{Journal: journal}, heard.Middleware(), mender(message.OpenAI))(script.Model)
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

func TestMendingTellsWhereMessagesComeFrom(t *testing.T) {
	t.Parallel()
	req, _, err := middleware.Apply(t.Context(), middleware.Chain(mender(message.OpenAI)), &middleware.Request{Messages: torn()})
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
		middleware.Chain(mender(message.Portable), shortener("shorten", 1, nil), inject("a context")),
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
