package middlewaretest_test

import (
	"context"
	"errors"
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
