package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

func TestStandinStreams(t *testing.T) {
	t.Parallel()
	req := &middleware.Request{Messages: []message.Message{message.User(audits)}}
	text, calls := "", 0
	resp, err := play(t, "../../react", window)(t.Context(), req, func(d middleware.Delta) error {
		text += d.Text
		if d.Call != nil {
			require.Equal(t, calls, d.Call.Index)
			calls++
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, resp.Message.Text(), text)
	require.Equal(t, 2, calls)
	require.Equal(t, middleware.StopTools, resp.Stop)
	require.Equal(t, tokens.Meter{}.Request(req.Messages, nil), resp.Usage.Input)
	require.Positive(t, resp.Usage.Output)

	whole, err := play(t, "../../react", window)(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, resp, whole)

	gone := errors.New("gone")
	_, err = play(t, "../../react", window)(t.Context(), req, func(middleware.Delta) error { return gone })
	require.ErrorIs(t, err, gone)
}

func TestStandinRejects(t *testing.T) {
	t.Parallel()
	call := message.ToolCall{ID: "1", Name: "search", Arguments: "{}"}
	cases := map[string]struct {
		msgs   []message.Message
		window int
		kind   middleware.ErrorKind
	}{
		"no result": {[]message.Message{message.User(audits), message.Assistant(call)}, window, middleware.Invalid},
		"no task":   {[]message.Message{message.System(system)}, window, middleware.Invalid},
		"nothing":   {nil, window, middleware.Invalid},
		"too long":  {[]message.Message{message.User(audits)}, 10, middleware.Overflow},
	}
	for name, c := range cases {
		resp, err := play(t, "../../react", c.window)(t.Context(), &middleware.Request{Messages: c.msgs}, nil)
		require.Nil(t, resp, name)
		require.Equal(t, c.kind, middleware.KindOf(err), "%s: %v", name, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := play(t, "../../react", window)(ctx, &middleware.Request{Messages: []message.Message{message.User(audits)}}, nil)
	require.ErrorIs(t, err, context.Canceled)
}
