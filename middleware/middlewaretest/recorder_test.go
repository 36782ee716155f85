package middlewaretest_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func TestRecorder(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	require.Empty(t, rec.Events())
	edited := middleware.Event{Kind: middleware.Edited, By: "a", Why: "cleared", Before: 9, After: 5}
	refused := middleware.Event{Kind: middleware.Refused, By: "b", Why: "too long", Before: 5, After: 5}
	for _, e := range []middleware.Event{edited, refused, edited} {
		rec.Hear(t.Context(), e)
	}
	require.Equal(t, []middleware.Event{edited, refused, edited}, rec.Events())
	require.Equal(t, []middleware.Event{refused}, rec.Events(middleware.Refused))
	require.Equal(t, rec.Events(), rec.Events(middleware.Refused, middleware.Edited))
	require.Empty(t, rec.Events(middleware.Reopened))
	require.Equal(t, 8, rec.Freed())
	require.Equal(t, "a: 9 → 5 tokens: cleared\nb: refused: too long\na: 9 → 5 tokens: cleared\n", rec.String())
	rec.Events()[0].By = "changed"
	require.Equal(t, "a", rec.Events()[0].By, "the slice belongs to the caller")
	require.Len(t, rec.Take(), 3)
	require.Empty(t, rec.Events())
}

func TestRecorderHearsWhatHappensInside(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	const callers = 8
	remark := middleware.Editing("remark", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Why: "nothing"}, nil
	}, middleware.Options{})
	model := middleware.Chain(rec.Middleware(), remark)(middlewaretest.Say("done"))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { _, _ = model(t.Context(), &middleware.Request{}, nil) })
	}
	wg.Wait()
	require.Len(t, rec.Events(middleware.Refused), callers)
}
