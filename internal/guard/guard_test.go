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

// All calls for one request have the time of one.
func TestSharedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := guard.Share(t.Context())
		journal, archive := newEngine(guard.Limits{}), newEngine(guard.Limits{})
		journal.takes, archive.takes = 700*time.Millisecond, time.Minute
		_, err := journal.call(ctx)
		require.NoError(t, err)
		_, err = archive.call(ctx)
		require.EqualError(t, err, "no answer within 300ms: context deadline exceeded")
		require.ErrorIs(t, err, guard.ErrNoAnswer)
		_, err = journal.call(ctx)
		require.EqualError(t, err, "not called, since the calls before it have taken all the time")
		require.ErrorIs(t, err, guard.ErrNoAnswer)
		require.EqualValues(t, 1, journal.calls.Load())
		_, err = journal.call(guard.Share(t.Context()))
		require.NoError(t, err, "another request has its own time")

		journal.takes = 4 * time.Second
		ctx = guard.Share(t.Context())
		_, err = journal.call(guard.Patient(ctx))
		require.NoError(t, err)
		_, err = archive.call(ctx)
		require.EqualError(t, err, "no answer within 1s: context deadline exceeded", "a patient call that succeeds takes nothing from the others")
		ctx, journal.takes = guard.Share(t.Context()), time.Minute
		_, err = journal.call(guard.Patient(ctx))
		require.EqualError(t, err, "no answer within 5s: context deadline exceeded")
		_, err = journal.call(guard.Patient(ctx))
		require.ErrorContains(t, err, "have taken all the time")
		_, err = archive.call(ctx)
		require.ErrorContains(t, err, "have taken all the time", "one that fails leaves nothing")
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
	for name, deaf := range map[string]bool{"heeds its context": false, "ignores it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(guard.Limits{Timeout: 200 * time.Millisecond, Failures: 2})
				e.takes, e.deaf = time.Minute, deaf
				start := time.Now()
				for range 2 {
					_, err := e.call(t.Context())
					require.EqualError(t, err, "no answer within 200ms: context deadline exceeded")
				}
				require.Equal(t, 400*time.Millisecond, time.Since(start))
				_, err := e.call(t.Context())
				require.ErrorContains(t, err, "not called for 1s")
				<-time.After(time.Hour) // until the calls have returned
			})
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

func TestPanicIsAFailure(t *testing.T) {
	t.Parallel()
	g := guard.New("test", guard.Limits{Failures: 1}, nil)
	call := func(context.Context) (int, error) { panic("no disk") }
	_, err := guard.Do(t.Context(), g, call)
	require.ErrorContains(t, err, "panicked: no disk\n")
	_, err = guard.Do(t.Context(), g, call)
	require.ErrorContains(t, err, "not called for")
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guard.New("test", guard.Limits{Failures: 3, Timeout: 50 * time.Millisecond}, nil)
		var made atomic.Int64
		for i := range 200 {
			go func() {
				for k := range 50 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+(i+k)%80)*time.Millisecond)
					_, _ = guard.Do(ctx, g, func(ctx context.Context) (int, error) {
						made.Add(1)
						select {
						case <-ctx.Done():
							return 0, ctx.Err()
						case <-time.After(time.Duration((i*k)%70) * time.Millisecond):
							return 0, map[bool]error{true: errDown}[k%5 == 0]
						}
					})
					cancel()
				}
			}()
		}
		<-time.After(time.Hour)
		require.Positive(t, made.Load())
		_, err := guard.Do(t.Context(), g, func(context.Context) (int, error) { return 0, nil })
		require.NoError(t, err, "nothing is left of the failures")
	})
}

func TestNegativeLimit(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "test: Guard: a limit is negative in {Timeout:0s Failures:-1 Pause:0s}, want 0 for the default, or more",
		func() { guard.New("test", guard.Limits{Failures: -1}, nil) })
}
