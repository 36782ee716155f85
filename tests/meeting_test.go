package tests

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// none is an editor that never edits, to look at what is remembered.
func none() middleware.Middleware {
	return editor{name: "none", plan: func(look) []middleware.Edit { return nil }}.middleware()
}

// meanwhile is an editor before which something else happens, once.
func meanwhile(do func()) middleware.Middleware {
	done := false
	return middleware.Editing("meanwhile", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		if !done {
			done = true
			do()
		}
		return nil, nil
	}, middleware.Options{})
}

// TestQuickerCall lets another call on the same history end while the first is
// still planning.
func TestQuickerCall(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 4)
	history = append(history, message.User("go on"))
	for name, c := range map[string]struct {
		quick, slow func(look) []middleware.Edit
		wins        string
	}{
		"the slower one covers the quicker one": {clears(2), foldsAround(14), "quick"},
		"it does not":                           {foldsNewest, clears(2), "quick"},
		"both do the same":                      {clears(2), clears(2), "quick"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journal := journal.NewMemory(0)
			on := func(mws ...middleware.Middleware) middleware.Middleware {
				return middleware.With(middleware.Env{Journal: journal}, mws...)
			}
			var quick []message.Message
			slow := on(
				meanwhile(func() { quick = view(t, on(editor{name: "quick", plan: c.quick}.middleware()), history) }),
				editor{name: "slow", plan: c.slow}.middleware())
			req, _, err := middleware.Apply(t.Context(), slow, &middleware.Request{Messages: history})
			require.NoError(t, err)
			require.Positive(t, edits(req)[c.wins], "what the model is sent has the edits of the call that wins, got %v", edits(req))
			if c.wins == "quick" {
				requireSame(t, quick, req.Messages, "the slower call gets the view of the quicker one")
			}
			kept := view(t, on(none()), history)
			requireSame(t, req.Messages, kept, "what is kept is what the model was sent")
			live := view(t, on(none()), history)
			requireSame(t, live, kept, "the chain itself remembers the same")
			another := append(slices.Clone(history[:len(history)-1]), message.User("something else"))
			kept = view(t, on(none()), another)
			n := len(req.Messages) - 1
			requireExtension(t, req.Messages[:n], kept, "so does what is kept for another question")
		})
	}
}
