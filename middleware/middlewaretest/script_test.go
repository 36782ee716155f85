package middlewaretest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func ask(text string) *middleware.Request {
	return &middleware.Request{Messages: []message.Message{message.User(text)}, Budget: &middleware.Budget{Window: 100}}
}

func TestScriptGivesItsAnswersInOrder(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	s := middlewaretest.Script(
		middlewaretest.Say("Let me ", "look."),
		middlewaretest.Call("read", "{}"),
		middlewaretest.Fail(down),
	)
	model := s.Model
	resp, err := model(t.Context(), ask("first"), nil)
	require.NoError(t, err)
	require.Equal(t, "Let me look.", resp.Message.Text())
	require.Equal(t, middleware.StopEnd, resp.Stop)

	resp, err = model(t.Context(), ask("second"), nil)
	require.NoError(t, err)
	require.Equal(t, middleware.StopTools, resp.Stop)
	require.Equal(t, message.Assistant(message.ToolCall{ID: "call-1", Name: "read", Arguments: "{}"}), resp.Message)

	_, err = model(t.Context(), ask("third"), nil)
	require.ErrorIs(t, err, down)

	_, err = model(t.Context(), ask("fourth"), nil)
	require.EqualError(t, err, "middlewaretest: call 4, and the script has 3 answers")
	require.Len(t, s.Requests(), 4)
}

func TestScriptRemembersWhatItWasAsked(t *testing.T) {
	t.Parallel()
	s := middlewaretest.Script(middlewaretest.Say("yes"))
	req := ask("as it was")
	_, err := s.Model(t.Context(), req, nil)
	require.NoError(t, err)
	req.Messages[0].Parts[0] = message.Text{Text: "changed"}
	req.Budget.Window = 1
	require.Equal(t, ask("as it was"), s.Requests()[0])
}

func TestAnswersAreNotShared(t *testing.T) {
	t.Parallel()
	say := middlewaretest.Say("yes")
	first, err := say(t.Context(), ask(""), nil)
	require.NoError(t, err)
	first.Message.Parts[0] = message.Text{Text: "no"}
	second, err := say(t.Context(), ask(""), nil)
	require.NoError(t, err)
	require.Equal(t, "yes", second.Message.Text())
}

func TestAnswersInPieces(t *testing.T) {
	t.Parallel()
	read := func(m middleware.Model) (pieces []middleware.Delta, err error) {
		for d, err := range middleware.Stream(t.Context(), m, ask("")) {
			if err != nil {
				return pieces, err
			}
			d.Response = nil
			pieces = append(pieces, d)
		}
		return pieces, nil
	}
	pieces, err := read(middlewaretest.Say("a", "b"))
	require.NoError(t, err)
	require.Equal(t, []middleware.Delta{{Text: "a"}, {Text: "b"}, {}}, pieces)

	pieces, err = read(middlewaretest.Call("read", `{"a":1}`))
	require.NoError(t, err)
	require.Equal(t, []middleware.Delta{{Call: &middleware.CallDelta{ID: "call-1", Name: "read", Arguments: `{"a":1}`}}, {}}, pieces)

	down := errors.New("down")
	pieces, err = read(middlewaretest.Fail(down, "a"))
	require.ErrorIs(t, err, down)
	require.Equal(t, []middleware.Delta{{Text: "a"}}, pieces)
}

func TestAnswersKeepTheContractOfModel(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	answers := map[string]middleware.Model{
		"say":  middlewaretest.Say("a", "b"),
		"call": middlewaretest.Call("read", "{}"),
		"fail": middlewaretest.Fail(errors.New("down"), "a"),
		"give": testkit.Give(middleware.Response{}, middleware.Delta{Text: "a"}),
	}
	for name, answer := range answers {
		_, err := answer(t.Context(), ask(""), func(middleware.Delta) error { return gone })
		require.ErrorIs(t, err, gone, "%s: the error of emit", name)
		_, err = answer(canceled, ask(""), nil)
		require.ErrorIs(t, err, context.Canceled, "%s: the error of the context", name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := middlewaretest.Say("a", "b", "c")(ctx, ask(""), func(middleware.Delta) error {
		n++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, n, "pieces after which the context is done")
}

// A call id is made from the length of the history, so that a view that became
// shorter does not give an id a second time.
func TestCallIDsGrowWithTheHistory(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 6}.Messages()
	fold := middleware.Editing("fold", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 7, message.User("[folded]"))}}, nil
	}, middleware.Options{})
	resp, err := fold(middlewaretest.Call("read", "{}"))(t.Context(), &middleware.Request{Messages: history}, nil)
	require.NoError(t, err)
	require.Equal(t, "call-14", slices.Collect(resp.Message.Calls())[0].ID)
}

func TestScriptIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const callers = 8
	s := middlewaretest.Script(slices.Repeat([]middleware.Model{middlewaretest.Say("yes")}, callers)...)
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for i := range callers {
		wg.Go(func() {
			_, errs[i] = s.Model(t.Context(), ask("?"), nil)
			s.Requests()
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Len(t, s.Requests(), callers)
}

func TestReAct(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		in    middlewaretest.ReAct
		roles string
	}{
		{"zero", middlewaretest.ReAct{Rounds: 2}, "su|at|at"},
		{"parallel", middlewaretest.ReAct{Rounds: 2, Parallel: 3}, "su|attt|attt"},
		{"turns", middlewaretest.ReAct{Rounds: 4, PerTurn: 2}, "su|at|at|a|u|at|at"},
		{"answered", middlewaretest.ReAct{Rounds: 3, PerTurn: 2, Answered: true}, "su|at|at|a|u|at|a"},
		{"a full turn, answered", middlewaretest.ReAct{Rounds: 2, PerTurn: 2, Answered: true}, "su|at|at|a"},
	}
	for _, c := range cases {
		msgs := c.in.Messages()
		roles := ""
		for _, m := range msgs {
			roles += string(m.Role[0])
		}
		require.Equal(t, strings.ReplaceAll(c.roles, "|", ""), roles, c.name)
		require.NoError(t, message.Check(msgs), c.name)
		require.Equal(t, msgs, c.in.Messages(), "%s: twice the same", c.name)
	}
	short, long := middlewaretest.ReAct{Rounds: 3, PerTurn: 2}.Messages(), middlewaretest.ReAct{Rounds: 9, PerTurn: 2}.Messages()
	require.Equal(t, short, long[:len(short)])
	sized := middlewaretest.ReAct{Result: 1000, Thought: 100}.Messages()
	require.Len(t, sized[3].Parts[0].(message.ToolResult).Text, 1000)
	require.Len(t, sized[2].Text(), 100)
}
