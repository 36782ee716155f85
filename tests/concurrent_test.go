package tests

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// together runs fn in so many goroutines that all begin at once.
func together(n int, fn func(k int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for k := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			fn(k)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// meeting is an editor before which all callers wait for each other, so that
// none sees what another has put into the journal.
func meeting(n int) middleware.Middleware {
	var wait sync.WaitGroup
	wait.Add(n)
	return middleware.Editing("meeting", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		wait.Done()
		wait.Wait()
		return nil, nil
	}, middleware.Options{})
}


// TestTwoEditorsAtOnce lets two calls on one history make different edits.
func TestTwoEditorsAtOnce(t *testing.T) {
	t.Parallel()
	history, _ := turns(4, 4)
	history = append(history, message.User("go on"))
	for range 20 {
		journal, meet := journal.NewMemory(0), meeting(2)
		build := func(e editor) middleware.Middleware {
			return middleware.With(middleware.Env{Journal: journal}, append([]middleware.Middleware{meet}, layers(e)...)...)
		}
		chains := []middleware.Middleware{build(editor{name: "clear", plan: clears(3)}), build(editor{name: "fold", plan: folds(3)})}
		var shown [2]*middleware.Request
		together(2, func(k int) {
			shown[k], _, _ = middleware.Apply(context.Background(), chains[k], &middleware.Request{Messages: history})
		})
		require.NotNil(t, shown[0])
		require.NotNil(t, shown[1])
		idle := middleware.With(middleware.Env{Journal: journal}, layers(editor{name: "none", plan: func(look) []middleware.Edit { return nil }})...)
		kept, _, err := middleware.Apply(t.Context(), idle, &middleware.Request{Messages: history})
		require.NoError(t, err)
		requireWholePlans(t, kept)
		for k := range shown {
			requireWholePlans(t, shown[k])
			same := slices.Equal(lines(t, shown[k].Messages), lines(t, kept.Messages))
			covered := k == 0 && edits(kept)["fold"] > 0
			require.True(t, same || covered, "what is kept is what each was sent, or a fold that covers it; sent %v, kept %v", edits(shown[k]), edits(kept))
		}
	}
}

// edits counts the edited messages of a view by middleware.
func edits(r *middleware.Request) map[string]int {
	n := map[string]int{}
	for i := range r.Messages {
		if e := r.View().Span(i).Edit; e != nil {
			n[e.Middleware]++
		}
	}
	return n
}

func requireWholePlans(t *testing.T, r *middleware.Request) {
	t.Helper()
	require.NoError(t, message.Check(r.Messages), "a view is valid")
	n := edits(r)
	require.Contains(t, []int{0, 3}, n["clear"], "a plan is in the view whole, or not at all")
	require.Contains(t, []int{0, 1}, n["fold"], "a fold is in the view once at most")
}




// TestScopes keeps two tenants with equal histories apart.
func TestScopes(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	journal := journal.NewMemory(0)
	one := middleware.With(middleware.Env{Journal: journal, Scope: "one"}, layers(editor{name: "clear", plan: clears(9)})...)
	shown, _ := view(t, one, history)
	require.NotEqual(t, lines(t, history), lines(t, shown))
	idle := editor{name: "none", plan: func(look) []middleware.Edit { return nil }}
	for _, scope := range []string{"", "two", "on", "one "} {
		got, _ := view(t, middleware.With(middleware.Env{Journal: journal, Scope: scope}, layers(idle)...), history)
		requireSame(t, history, got, "scope %q must not see the edits of scope one", scope)
	}
	require.NoError(t, journal.Delete(t.Context(), "one"))
	require.Zero(t, held(journal), "after Delete nothing is kept")
}
