package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for want, errs := range map[middleware.ErrorKind][]error{
		middleware.Overflow: {
			errors.New("error, status code: 400, message: prompt is too long: 5 tokens > 4 maximum"),
			fmt.Errorf("ask: %w", errors.New("context_length_exceeded")),
		},
		middleware.Denied: {
			errors.New("error, status code: 429, message: You exceeded your current quota"),
			errors.New("400 Your credit balance is too low to access the API"),
			errors.New("error, status code: 401"),
		},
		middleware.RateLimited: {errors.New("429 Too Many Requests: too many tokens")},
		middleware.Invalid:     {errors.New("413 Request Entity Too Large"), errors.New("400 max_tokens is too large")},
		middleware.Unavailable: {
			errors.New("HTTP 503: prompt is too long"),
			fmt.Errorf("ask: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")}),
			fmt.Errorf("client: %w", context.DeadlineExceeded),
		},
		middleware.Unknown: {errors.New("eh"), errors.New("")},
	} {
		for _, err := range errs {
			require.Equal(t, want, foreign.KindOf(&middleware.Request{}, err), "%v", err)
		}
	}
}

func TestToolAnswer(t *testing.T) {
	t.Parallel()
	gone := errors.New("the user has left")
	done, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	parts := []message.Part{message.Text{Text: "a"}, message.Media{Type: "image/png", Data: "png"}, message.Thinking{Text: "b"}}
	shown := "a\n[image/png, 3 bytes, cannot be shown here]\n[cannot be shown here]"
	for name, c := range map[string]struct {
		ctx   context.Context //nolint:containedctx // of a case
		parts []message.Part
		err   error
		want  string
		fails error
	}{
		"nothing":                   {ctx: t.Context()},
		"parts":                     {ctx: t.Context(), parts: parts, want: shown},
		"done in time":              {ctx: done, parts: parts, want: shown},
		"an error":                  {ctx: t.Context(), parts: parts, err: errors.New("no such page"), want: "error: no such page"},
		"a context of the tool's":   {ctx: t.Context(), err: context.Canceled, want: "error: context canceled"},
		"a context that is done":    {ctx: done, err: context.Canceled, fails: gone},
		"an error while it is done": {ctx: done, err: errors.New("no such page"), fails: gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := foreign.ToolAnswer(c.ctx, c.parts, c.err)
			require.Equal(t, c.fails, err)
			require.Equal(t, c.want, got)
		})
	}
}
