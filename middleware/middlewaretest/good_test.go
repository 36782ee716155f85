package middlewaretest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func identity() middleware.Middleware {
	return func(next middleware.Model) middleware.Model { return next }
}

func watcher() middleware.Middleware {
	return middleware.Observe(func(context.Context, middleware.Event) {})
}

// folder returns a middleware that folds all units before the newest six into
// a line that says how many they were.
func folder(name string) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		units := message.Units(v.Messages())
		var plan middleware.Plan
		for first := 0; first < len(units)-6; first++ {
			last := first
			for last < len(units)-6 && free(v, units[last]) {
				last++
			}
			if n := last - first; n >= 2 {
				line := message.User(fmt.Sprintf("[%d units folded]", n))
				plan.Edits = append(plan.Edits, middleware.FoldOf(units[first].First, units[last-1].Last, line))
			}
			first = max(first, last-1)
		}
		if len(plan.Edits) == 0 {
			return nil, nil
		}
		return &plan, nil
	}, middleware.Options{Trigger: trigger.Tokens(1500)})
}

// free reports whether nothing in a unit is protected or comes from a fold.
func free(v *middleware.View, u message.Unit) bool {
	for i := u.First; i <= u.Last; i++ {
		s := v.Span(i)
		if v.Protected(i) != (middleware.Protection{}) || s.Edit != nil && s.Edit.Kind == journal.Fold {
			return false
		}
	}
	return true
}

func editing() middleware.Middleware {
	return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: 3})
}

func TestConformanceOfGoodMiddlewares(t *testing.T) {
	t.Parallel()
	cases := map[string]func() middleware.Middleware{
		"identity":         identity,
		"contextedit":      editing,
		"a folding editor": func() middleware.Middleware { return folder("fold") },
		"a stack": func() middleware.Middleware {
			return middleware.Chain(watcher(), editing(), middleware.Chain(identity(), folder("fold")))
		},
		"a shared memory": func() middleware.Middleware {
			return middleware.With(middleware.Env{Journal: journal.NewMemory(0), HistoryIsView: true}, editing(), folder("fold"))
		},
	}
	for name, newMiddleware := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Suite{New: newMiddleware}.Test(t)
		})
	}
}

// TestConformanceOfRepairers has middlewares that repair what is sent. With Repairs they
// conform; otherwise the suite reports the repairs of its own conversations.
func TestConformanceOfRepairers(t *testing.T) {
	t.Parallel()
	repairer := func() middleware.Middleware {
		return middleware.Repairing("repair", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
			return message.Portable.Repair(v.Messages()), nil
		})
	}
	require.NoError(t, Suite{New: repairer, Repairs: true}.Check())
	require.ErrorContains(t, Suite{New: repairer}.Check(), "middlewaretest: reported")

	silent := func() middleware.Middleware {
		return middleware.Repairing("repair", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
			repaired := message.Portable.Repair(v.Messages())
			repaired.Fixes = nil
			return repaired, nil
		})
	}
	require.ErrorContains(t, Suite{New: silent, Repairs: true}.Check(), "nothing was reported, but")
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	var rec Recorder
	require.Empty(t, rec.Events())
	edited := middleware.Event{Kind: middleware.Edited, By: "a", Why: "cleared", Before: 9, After: 5}
	refused := middleware.Event{Kind: middleware.Refused, By: "b", Why: "too long", Before: 5, After: 5}
	rec.events = []middleware.Event{edited, refused, edited}
	require.Equal(t, []middleware.Event{edited, refused, edited}, rec.Events())
	require.Equal(t, []middleware.Event{refused}, rec.Events(middleware.Refused))
	require.Equal(t, rec.Events(), rec.Events(middleware.Refused, middleware.Edited))
	require.Empty(t, rec.Events(middleware.Notice))
	rec.Events()[0].By = "changed"
	require.Equal(t, "a", rec.Events()[0].By, "the slice belongs to the caller")
	require.Len(t, rec.take(), 3)
	require.Empty(t, rec.Events())
}
