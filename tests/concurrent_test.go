package tests

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

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

// TestScopes keeps two tenants with equal histories apart.
func TestScopes(t *testing.T) {
	t.Parallel()
	history, _ := turns(3, 4)
	journal := journal.NewMemory(0)
	one := middleware.With(middleware.Env{Journal: journal, Scope: "one"}, layers(editor{name: "clear", plan: clears(9)})...)
	shown := view(t, one, history)
	require.NotEqual(t, lines(t, history), lines(t, shown))
	idle := editor{name: "none", plan: func(look) []middleware.Edit { return nil }}
	for _, scope := range []string{"", "two", "on", "one "} {
		got := view(t, middleware.With(middleware.Env{Journal: journal, Scope: scope}, layers(idle)...), history)
		requireSame(t, history, got, "scope %q must not see the edits of scope one", scope)
	}
	require.NoError(t, journal.Delete(t.Context(), "one"))
	require.Zero(t, held(journal), "after Delete nothing is kept")
}
