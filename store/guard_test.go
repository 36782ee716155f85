package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

// engine is a store that can be given a fault.
type engine struct {
	*store.Memory

	calls atomic.Int32
	fault func() error
}

func (e *engine) step() error {
	e.calls.Add(1)
	if e.fault == nil {
		return nil
	}
	return e.fault()
}

func (e *engine) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	if err := e.step(); err != nil {
		return err
	}
	return e.Memory.Put(ctx, conversation, contents)
}

func (e *engine) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	if err := e.step(); err != nil {
		return store.Content{}, err
	}
	return e.Memory.Get(ctx, h)
}

func TestGuardIsAStore(t *testing.T) {
	t.Parallel()
	middlewaretest.Archive(t, func(*testing.T) store.Store {
		return store.Guard(store.NewMemory(0), store.Limits{Timeout: time.Minute})
	})
	require.PanicsWithValue(t, "store: Guard: a limit is negative in {Timeout:0s Failures:-1 Pause:0s}, want 0 for the default, or more",
		func() { store.Guard(store.NewMemory(0), store.Limits{Failures: -1}) })
}

func TestGuardGivesUp(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		fault func() error
		want  string
		takes time.Duration // of the first three calls
	}{
		"hangs":  {func() error { <-time.After(time.Hour); return nil }, "no answer within 1s: context deadline exceeded", 3 * time.Second},
		"down":   {func() error { return errors.New("connection refused") }, "connection refused", 0},
		"panics": {func() error { panic("no connection") }, "panicked: no connection\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &engine{Memory: store.NewMemory(0)}
				s := store.Guard(e, store.Limits{})
				h := put(t, s, twin)
				e.calls.Store(0)
				e.fault = fault.fault
				start := time.Now()
				for range 10 {
					_, err := s.Get(t.Context(), h)
					require.ErrorContains(t, err, fault.want)
					_, err = store.Keep(t.Context(), s, twin)
					require.ErrorContains(t, err, fault.want)
				}
				require.Equal(t, fault.takes, time.Since(start))
				require.Equal(t, int32(3), e.calls.Load(), "the other calls are not made")
				_, err := s.Get(t.Context(), h)
				require.ErrorContains(t, err, "not called for 1s, since 3 calls in a row have failed; the last one: ")

				<-time.After(5 * time.Second)
				_, err = s.Get(t.Context(), h)
				require.ErrorContains(t, err, fault.want, "one call tries it again")
				require.Equal(t, int32(4), e.calls.Load())
				<-time.After(2 * time.Hour) // until the calls that hang have returned
				e.fault = nil
				c, err := s.Get(t.Context(), h)
				require.NoError(t, err)
				same(t, twin, c)
				require.Equal(t, h, put(t, s, twin), "all calls are made again")
			})
		})
	}
}

// An answer of a store that works is no failure.
func TestGuardKnowsAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []error{store.ErrNotFound, store.ErrConflict, store.ErrDamaged} {
		e := &engine{Memory: store.NewMemory(0), fault: func() error { return fmt.Errorf("get: %w", answer) }}
		s := store.Guard(e, store.Limits{Failures: 1, Pause: time.Hour})
		for range 5 {
			_, err := s.Get(t.Context(), store.HandleOf("", twin))
			require.EqualError(t, err, "get: "+answer.Error())
		}
		require.Equal(t, int32(5), e.calls.Load())
	}
}
