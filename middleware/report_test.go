package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
)

// heard returns the events of one call, and those of a draft of it.
func heard(t *testing.T, mw middleware.Middleware) (call, draft []middleware.Event) {
	t.Helper()
	req := &middleware.Request{Messages: lookups(4)}
	d, err := middleware.Draft(t.Context(), mw, req)
	require.NoError(t, err)
	_, call, err = middleware.Apply(t.Context(), mw, req)
	require.NoError(t, err)
	return call, d.Events
}

func TestTellAndNow(t *testing.T) {
	t.Parallel()
	mw := middleware.With(middleware.Env{Clock: at(2031)}, middleware.Editing("watch",
		func(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
			require.Equal(t, at(2031)(), v.Env().Clock(), "Now goes by the clock of the chain")
			v.Report(ctx, middleware.Event{Kind: "full", By: "watch", Why: "it is full", Detail: 7})
			return nil, nil
		}, middleware.Options{}))
	call, draft := heard(t, mw)
	want := []middleware.Event{{Kind: "full", By: "watch", Why: "it is full", Detail: 7, Time: at(2031)()}}
	require.Equal(t, want, call)
	require.Equal(t, want, draft, "a draft has what a call would tell")
}

// What an editor tells of its plan goes with the event that reports the plan.
func TestDetail(t *testing.T) {
	t.Parallel()
	for kind, plan := range map[middleware.EventKind]middleware.Plan{
		middleware.Edited:  {Edits: []middleware.Edit{middleware.FoldOf(2, 3)}, Detail: "two messages"},
		middleware.Refused: {Why: "there is nothing to do", Detail: "two messages"},
	} {
		call, _ := heard(t, middleware.Editing("any", func(context.Context, *middleware.View) (*middleware.Plan, error) {
			return &plan, nil
		}, middleware.Options{}))
		require.Len(t, call, 1)
		require.Equal(t, kind, call[0].Kind, "%v", call)
		require.Equal(t, "two messages", call[0].Detail)
	}
}

func TestSlogOfALevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	observe := middleware.Slog(slog.New(slog.NewTextHandler(&out, nil)))
	observe(t.Context(), middleware.Event{Kind: "full", By: "trim", Why: "soft"})
	observe(t.Context(), middleware.Event{Kind: middleware.Refused, By: "trim", Why: "no"})
	require.Contains(t, out.String(), `level=INFO msg=full by=trim why=soft`)
	require.Contains(t, out.String(), `level=WARN msg=refused by=trim why=no`)
}
