package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

func TestStreamWhole(t *testing.T) {
	t.Parallel()
	resp := middleware.Response{Message: message.Assistant(message.Text{Text: "ab"}), Usage: message.Usage{Output: 2}, Stop: middleware.StopEnd}
	counted := resp
	counted.Cache.Prompt = tokens.Meter{}.Request(nil, nil)
	cases := map[string]struct {
		model middleware.Model
		want  []middleware.Delta
	}{
		"pieces":    {testkit.Give(resp, middleware.Delta{Text: "a"}, middleware.Delta{Text: "b"}), []middleware.Delta{{Text: "a"}, {Text: "b"}, {Response: &resp}}},
		"no pieces": {testkit.Give(resp), []middleware.Delta{{Response: &resp}}},
		"a chain":   {halver("a")(testkit.Give(resp, middleware.Delta{Thinking: "a"})), []middleware.Delta{{Thinking: "a"}, {Response: &counted}}},
	}
	for name, c := range cases {
		var got []middleware.Delta
		for d, err := range middleware.Stream(t.Context(), c.model, &middleware.Request{}) {
			require.NoError(t, err)
			got = append(got, d)
		}
		require.Equal(t, c.want, got, name)
	}
}

func TestStreamFails(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, pieces := range map[string][]string{"at once": nil, "after a piece": {"a"}} {
		var got []middleware.Delta
		var errs []error
		for d, err := range middleware.Stream(t.Context(), middlewaretest.Fail(down, pieces...), &middleware.Request{}) {
			if err == nil {
				got = append(got, d)
				continue
			}
			require.Zero(t, d, "%s: the delta beside the error", name)
			errs = append(errs, err)
		}
		require.Len(t, got, len(pieces), name)
		require.Equal(t, []error{down}, errs, name)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range middleware.Stream(ctx, middlewaretest.Say("a", "b"), &middleware.Request{}) {
		cancel()
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
}

func TestStreamIsLeftEarly(t *testing.T) {
	t.Parallel()
	var emitted, after int
	var inside error
	stubborn := func(_ context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		for range 5 { // it goes on although nobody reads
			if err := emit(middleware.Delta{Text: "a"}); err != nil {
				inside = err
				after++
				continue
			}
			emitted++
		}
		return &middleware.Response{}, nil
	}
	read := 0
	for d, err := range middleware.Stream(t.Context(), stubborn, &middleware.Request{}) {
		require.NoError(t, err)
		require.Equal(t, "a", d.Text)
		read++
		if read == 2 {
			break
		}
	}
	require.Equal(t, 2, read)
	require.Equal(t, 1, emitted, "the pieces that emit took")
	require.Equal(t, 4, after, "the pieces that it refused")
	require.EqualError(t, inside, "middleware: the reader of the stream has left")
}

// A chain stops with the reader, and what it edited is kept all the same.
func TestStreamIsLeftEarlyInAChain(t *testing.T) {
	t.Parallel()
	var heard middlewaretest.Recorder
	mw := middleware.Chain(heard.Middleware(), halver("a"))
	model := mw(middlewaretest.Say("a", "b", "c"))
	req := &middleware.Request{Messages: lookups(12)}
	for range 2 {
		for _, err := range middleware.Stream(t.Context(), model, req) {
			require.NoError(t, err)
			break
		}
	}
	require.Len(t, heard.Events(middleware.Edited), 1)
}

// A history of answers as a chain returns them has their usage, so that a process that begins anew knows what they cost.
func TestUsageIsInTheAnswer(t *testing.T) {
	t.Parallel()
	usage := message.Usage{Input: 500, Output: 9}
	chain := middleware.With(middleware.Env{}, middleware.Editing("mine", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return nil, nil
	}, middleware.Options{}))
	resp, err := chain(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: usage}, nil
	})(t.Context(), &middleware.Request{Messages: []message.Message{message.User("Why?")}}, nil)
	require.NoError(t, err)
	require.Equal(t, &usage, resp.Message.Usage)
}
