package foreign_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

func TestAnswer(t *testing.T) {
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
			got, err := foreign.Answer(c.ctx, c.parts, c.err)
			require.Equal(t, c.fails, err)
			require.Equal(t, c.want, got)
		})
	}
}
