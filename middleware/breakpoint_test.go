package middleware_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// marks returns the positions of the messages with a mark.
func marks(msgs []message.Message) (at []int) {
	for i, m := range msgs {
		if m.Hints.Breakpoint {
			at = append(at, i)
		}
	}
	return at
}

// The marks are on the last message that no editor may change, on the last one that an edit has changed, and on the end.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	h := lookups(6)
	marked := slices.Clone(h)
	marked[4].Hints.Breakpoint = true
	picture := slices.Clone(h)
	picture[1].Parts = append(slices.Clip(picture[1].Parts), message.Media{Type: "image/png", URL: "https://example.com/a.png"})
	pinned := slices.Clone(h)
	pinned[2].Hints.Pinned, pinned[3].Hints.Pinned = true, true
	force := []string{"a"}
	clear4 := shortener("a", 2, trigger.Tokens(1<<30))
	note := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Messages = append(slices.Clip(r.Messages), message.User("a note"))
			return next(ctx, &r, emit)
		}
	}
	for name, c := range map[string]struct {
		req  middleware.Request
		mws  []middleware.Middleware
		want []int
	}{
		"no edits":               {req: middleware.Request{Messages: h}, want: []int{1, 13}},
		"edits":                  {req: middleware.Request{Messages: h, Force: force}, want: []int{1, 9, 13}},
		"a picture of the user":  {req: middleware.Request{Messages: picture}, want: []int{0, 13}},
		"a pinned round":         {req: middleware.Request{Messages: pinned}, want: []int{3, 13}},
		"marks of the caller":    {req: middleware.Request{Messages: marked}, want: []int{1, 13}},
		"one message":            {req: middleware.Request{Messages: h[1:2]}, want: []int{0}},
		"nothing":                {},
		"a note after the edits": {req: middleware.Request{Messages: h, Force: force}, mws: []middleware.Middleware{clear4, note}, want: []int{1, 9, 14}},
		"no editor":              {req: middleware.Request{Messages: h}, mws: []middleware.Middleware{note}, want: []int{0, 14}},
	} {
		if c.mws == nil {
			c.mws = []middleware.Middleware{clear4}
		}
		before := testkit.Clone(c.req.Messages)
		plain, _, err := middleware.Apply(t.Context(), middleware.Chain(c.mws...), &c.req)
		require.NoError(t, err, name)
		sent, events, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Breakpoints: true}, c.mws...), &c.req)
		require.NoError(t, err, name)
		require.Equal(t, c.want, marks(sent.Messages), name)
		for i := range sent.Messages {
			require.True(t, sent.Messages[i].Equal(plain.Messages[i]), "%s: message %d", name, i)
		}
		require.Len(t, sent.Messages, len(plain.Messages), name)
		require.Equal(t, before, c.req.Messages, "%s: the caller's messages stay as they are", name)
		require.Equal(t, plain.View() != nil, sent.View() != nil, "%s: the request still carries its view", name)
		for _, e := range events {
			require.Equal(t, middleware.Edited, e.Kind, name)
		}
	}
}
