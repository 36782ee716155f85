package guard_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/guard"
)

var (
	errDown    = errors.New("connection refused")
	errMissing = errors.New("not found")
)

// engine is called through a guard.
type engine struct {
	guard *guard.Guard
	calls atomic.Int64
	err   error
	takes time.Duration
	deaf  bool // ignores its context
}

func (e *engine) call(ctx context.Context) (int, error) {
	result, takes, deaf := e.err, e.takes, e.deaf
	return guard.Do(ctx, e.guard, func(ctx context.Context) (int, error) {
		n, took := int(e.calls.Add(1)), time.After(takes)
		if deaf {
			<-took
			return n, result
		}
		select {
		case <-took:
			return n, result
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

func newEngine(l guard.Limits) *engine {
	return &engine{guard: guard.New("test", l, func(err error) bool { return errors.Is(err, errMissing) })}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(guard.Limits{})
		n, err := e.call(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		e.err = errDown
		for range 3 {
			_, err = e.call(t.Context())
			require.ErrorIs(t, err, errDown)
		}
		require.EqualValues(t, 4, e.calls.Load())
		_, err = e.call(t.Context())
		require.EqualError(t, err, "not called for 1s, since 3 calls in a row have failed; the last one: connection refused")
		require.ErrorIs(t, err, errDown)
		<-time.After(200 * time.Millisecond)
		_, err = e.call(t.Context())
		require.ErrorContains(t, err, "not called for 800ms")
		require.EqualValues(t, 4, e.calls.Load(), "the engine is left alone")

		<-time.After(800 * time.Millisecond)
		_, err = e.call(t.Context())
		require.EqualError(t, err, "connection refused", "one call tries again")
		_, err = e.call(t.Context())
		require.ErrorContains(t, err, "not called for 1s, since 4 calls")
		<-time.After(time.Second)
		e.err = nil
		for range 2 {
			_, err = e.call(t.Context())
			require.NoError(t, err)
		}
	})
}

func TestOnlyOneCallTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(guard.Limits{Failures: 1, Pause: time.Minute, Timeout: 10 * time.Second})
		e.err = errDown
		_, err := e.call(t.Context())
		require.ErrorIs(t, err, errDown)
		<-time.After(time.Minute)
		e.err, e.takes = nil, 2*time.Second
		tried := make(chan error)
		go func() {
			_, err := e.call(t.Context())
			tried <- err
		}()
		synctest.Wait()
		_, err = e.call(t.Context())
		require.EqualError(t, err, "not called, since 1 calls in a row have failed and one is trying again; the last one: connection refused")
		require.NoError(t, <-tried)
		_, err = e.call(t.Context())
		require.NoError(t, err)
	})
}

func TestAnswersAndTheCallersContextAreNoFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(guard.Limits{Failures: 2})
		for range 5 {
			e.err, e.takes = errMissing, 0
			_, err := e.call(t.Context())
			require.ErrorIs(t, err, errMissing)
			require.NotErrorIs(t, err, guard.ErrNoAnswer)
			e.err = errDown
			_, err = e.call(t.Context())
			require.ErrorIs(t, err, errDown, "one failure, and none in a row")
		}
		e.err, e.takes = nil, time.Hour
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := e.call(ctx)
			require.Equal(t, context.DeadlineExceeded, err)
			_, err = e.call(ctx)
			require.Equal(t, context.DeadlineExceeded, err, "no call is made")
			cancel()
		}
		require.EqualValues(t, 15, e.calls.Load())
		e.takes = 0
		_, err := e.call(t.Context())
		require.NoError(t, err)
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := newEngine(guard.Limits{Timeout: 200 * time.Millisecond, Failures: 2})
			e.takes, e.deaf = time.Minute, deaf
			start := time.Now()
			for range 2 {
				_, err := e.call(t.Context())
				require.EqualError(t, err, "no answer within 200ms: context deadline exceeded", "deaf to its context: %t", deaf)
			}
			require.Equal(t, 400*time.Millisecond, time.Since(start))
			_, err := e.call(t.Context())
			require.ErrorContains(t, err, "not called for 1s")
			<-time.After(time.Hour) // until the calls have returned
		})
	}
}

func TestHangingCallsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(guard.Limits{Timeout: time.Millisecond, Failures: 1000})
		e.takes, e.deaf = time.Hour, true
		for range 64 {
			_, err := e.call(t.Context())
			require.ErrorContains(t, err, "no answer within 1ms")
		}
		_, err := e.call(t.Context())
		require.EqualError(t, err, "not called, since 64 calls that were given up have not returned yet")
		require.EqualValues(t, 64, e.calls.Load())
		<-time.After(2 * time.Hour)
		e.takes = 0
		_, err = e.call(t.Context())
		require.NoError(t, err, "they have returned")
	})
}
