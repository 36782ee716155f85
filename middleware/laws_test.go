package middleware_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// A layer between two editors that marks messages, without changing what they
// say, does not cost an edit, and its marks reach the model.
func TestRemarksSetBetweenEditors(t *testing.T) {
	t.Parallel()
	mark := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Messages = slices.Clone(req.Messages)
			r.Messages[1].Hints.Breakpoint = true
			return next(ctx, &r, emit)
		}
	}
	l := &layers{}
	for name, mw := range map[string]middleware.Middleware{
		"before":  middleware.Chain(mark, l.shorten(), l.fold()),
		"between": middleware.Chain(l.shorten(), mark, l.fold()),
		"behind":  middleware.Chain(l.shorten(), l.fold(), mark),
	} {
		req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()})
		require.NoError(t, err)
		events = slices.DeleteFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Notice })
		require.Len(t, events, 2, name)
		require.True(t, req.Messages[1].Hints.Breakpoint, "the mark set %s the editors", name)
	}
}

// What goes wrong at the end of a chain, behind its editors, is heard by all
// that stand before the model.
func TestObserveHearsTheEndOfTheChain(t *testing.T) {
	t.Parallel()
	var outer, inner middlewaretest.Recorder
	j := &moodyJournal{Journal: journal.NewMemory(0)}
	j.reads.Store(true)
	j.writes.Store(true)
	mw := middleware.With(middleware.Env{Journal: j}, outer.Middleware(), halver("a"), inner.Middleware())
	for range 2 {
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: lookups(12)})
		require.NoError(t, err, "a failing journal does not fail the call")
	}
	failedWrites := func(r *middlewaretest.Recorder) int {
		return len(slices.DeleteFunc(r.Events(middleware.Failed), func(e middleware.Event) bool { return !strings.Contains(e.Err.Error(), "write journal") }))
	}
	require.Len(t, outer.Events(middleware.Edited), 1, "the edit is kept in memory")
	require.NotZero(t, failedWrites(&outer), "what the outer one hears: %s", &outer)
	require.Equal(t, failedWrites(&outer), failedWrites(&inner), "what the inner one hears: %s", &inner)
}
