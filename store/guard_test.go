package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

// answering is a store whose Get has an error.
type answering struct {
	*store.Memory

	err   error
	calls int
}

func (a *answering) Get(context.Context, store.Handle) (store.Content, error) {
	a.calls++
	return store.Content{}, a.err
}

func TestGuardIsAStore(t *testing.T) {
	t.Parallel()
	middlewaretest.Archive(t, func(*testing.T) store.Store {
		return store.Guard(store.NewMemory(0), store.Limits{Timeout: time.Minute})
	})
	require.PanicsWithValue(t, "store: Guard: a limit is negative in {Timeout:0s Failures:-1 Pause:0s}, want 0 for the default, or more",
		func() { store.Guard(store.NewMemory(0), store.Limits{Failures: -1}) })
}

// An answer of a store that works is no failure.
func TestGuardKnowsAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []error{store.ErrNotFound, store.ErrConflict, store.ErrDamaged} {
		e := &answering{store.NewMemory(0), fmt.Errorf("get: %w", answer), 0}
		s := store.Guard(e, store.Limits{Failures: 1, Pause: time.Hour})
		for range 5 {
			_, err := s.Get(t.Context(), store.HandleOf("", twin))
			require.EqualError(t, err, "get: "+answer.Error())
		}
		require.Equal(t, 5, e.calls)
	}
}
