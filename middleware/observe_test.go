package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// sayer returns an editor that edits nothing and says so.
func sayer(name string) middleware.Middleware {
	return middleware.Editing(name, func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Why: "nothing to do"}, nil
	}, middleware.Options{})
}

func TestObserveHearsWhatHappensInside(t *testing.T) {
	t.Parallel()
	var heard []string
	listen := func(name string) middleware.Middleware {
		return middleware.Observe(func(_ context.Context, e middleware.Event) {
			if e.Kind != middleware.Called {
				heard = append(heard, name+" hears "+e.By)
			}
		})
	}
	want := []string{
		"outer hears a",
		"inner hears b", "outer hears b",
		"innermost hears c", "inner hears c", "outer hears c",
	}
	for name, mw := range map[string]middleware.Middleware{
		"flat":   middleware.Chain(listen("outer"), sayer("a"), listen("inner"), sayer("b"), listen("innermost"), sayer("c"), listen("too late")),
		"nested": middleware.Chain(listen("outer"), middleware.Chain(sayer("a"), middleware.Chain(listen("inner"), sayer("b"))), listen("innermost"), sayer("c")),
	} {
		heard = nil
		_, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: lookups(2)})
		require.NoError(t, err)
		require.Equal(t, want, heard, name)
		require.Len(t, events, 3, "Apply hears what happens inside it")
	}
}

func TestObserveGetsTheContextOfTheCall(t *testing.T) {
	t.Parallel()
	type key struct{}
	var got any
	mw := middleware.Chain(middleware.Observe(func(ctx context.Context, _ middleware.Event) { got = ctx.Value(key{}) }), sayer("a"))
	_, _, err := middleware.Apply(context.WithValue(t.Context(), key{}, "trace"), mw, &middleware.Request{})
	require.NoError(t, err)
	require.Equal(t, "trace", got)
}

type detail struct{ Results int }

func TestSlog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	observe := middleware.Slog(logger)
	for _, e := range []middleware.Event{
		{Kind: middleware.Edited, By: "contextedit", Why: "cleared 3 results", Detail: detail{3}, Edits: make([]*journal.Record, 2), Before: 900, After: 500, Calls: -1},
		{Kind: middleware.Refused, By: "fold", Why: "unanswered call", Before: 900, After: 900},
		{Kind: middleware.Failed, By: "middleware", Why: "kept in memory", Err: errors.New("disk full"), Time: time.Unix(0, 0)},
		{Kind: "summarized", By: "summarize", Why: "in the words of the summariser", Detail: detail{5}},
		{Kind: "rejected", By: "summarize", Why: "empty", Err: errors.New("empty")},
	} {
		observe(t.Context(), e)
	}
	require.Equal(t, `level=INFO msg=edited by=contextedit why="cleared 3 results" edits=2 before=900 after=500 calls=-1 detail.results=3
level=WARN msg=refused by=fold why="unanswered call"
level=WARN msg=failed by=middleware why="kept in memory" err="disk full"
level=INFO msg=summarized by=summarize why="in the words of the summariser" detail.results=5
level=WARN msg=rejected by=summarize why=empty err=empty
`, out.String())

	out.Reset()
	quiet := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError}))
	middleware.Slog(quiet)(t.Context(), middleware.Event{Kind: middleware.Edited})
	require.Empty(t, out.String())
}

func TestApplyReportsAnAnswerWithoutTheModel(t *testing.T) {
	t.Parallel()
	cached := func(middleware.Model) middleware.Model { return middlewaretest.Say("from the cache") }
	_, _, err := middleware.Apply(t.Context(), cached, &middleware.Request{})
	require.ErrorContains(t, err, "nothing would be sent")

	down := errors.New("down")
	failing := func(middleware.Model) middleware.Model { return middlewaretest.Fail(down) }
	_, events, err := middleware.Apply(t.Context(), middleware.Chain(sayer("a"), failing), &middleware.Request{})
	require.ErrorIs(t, err, down)
	require.Len(t, events, 1, "what happened before the error")
}

func kinds(events []middleware.Event) []middleware.EventKind {
	var out []middleware.EventKind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return slices.Clip(out)
}
