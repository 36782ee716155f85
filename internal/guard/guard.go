// Package guard keeps an engine that is slow or down from holding up its callers: each call
// has a time limit, and after some failures in a row the engine is not called for a while.
//
//	g := guard.New("journal", guard.Limits{}, nil)
//	found, err := guard.Do(ctx, g, func(ctx context.Context) (Found, error) { return engine.Find(ctx, ids) })
package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Limits are when a call is given up, and when no call is made at all.
type Limits struct {
	Timeout  time.Duration // of one call, or of all with a context of Share; five times as much with one of Patient; 0: 1 s
	Failures int           // number of failures in a row after which calls fail at once; 0: 3
	Pause    time.Duration // until one call tries the engine again; 0: 1 s
}

// ErrNoAnswer is in the error of each call that the engine has not answered, for [errors.Is].
var ErrNoAnswer = errors.New("no answer")

// noAnswerError is an error with ErrNoAnswer in it, but not in its text.
type noAnswerError struct{ error }

func (e noAnswerError) Unwrap() error      { return e.error }
func (noAnswerError) Is(target error) bool { return target == ErrNoAnswer }

// Keys of a context.
type (
	spent   struct{} // *atomic.Int64: the time that calls have taken
	patient struct{} // anything
)

// Share returns a context whose calls, of any guards, have their Timeout together: none has what those before it have taken.
func Share(ctx context.Context) context.Context {
	return context.WithValue(ctx, spent{}, new(atomic.Int64))
}

// Patient returns a context whose calls have five times the Timeout. Those that succeed take nothing from what is shared.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patient{}, true) }

// maxHanging is how many calls may still run after they were given up. Beyond it no call is
// made: an engine that ignores its context would collect goroutines without end.
const maxHanging = 64

// Guard makes calls. It is safe for concurrent use.
type Guard struct {
	limits Limits
	answer func(error) bool

	mu       sync.Mutex
	failures int       // in a row
	last     error     // of them
	until    time.Time // no call is made before; zero: calls are made
	trying   bool      // one call finds out whether the engine works again
	hanging  int       // calls that were given up and have not returned
}

// New returns a guard. answer reports errors that are answers of an engine that works; nil:
// there are none. It panics with "who: Guard: …" if a limit is negative.
func New(who string, l Limits, answer func(error) bool) *Guard {
	if l.Timeout < 0 || l.Failures < 0 || l.Pause < 0 {
		panic(fmt.Sprintf("%s: Guard: a limit is negative in %+v, want 0 for the default, or more", who, l))
	}
	return &Guard{answer: answer, limits: Limits{
		Timeout: cmp.Or(l.Timeout, time.Second), Failures: cmp.Or(l.Failures, 3), Pause: cmp.Or(l.Pause, time.Second),
	}}
}

// Do makes a call and returns what it returns, or an error if it panics, takes too long, or
// is not made since the calls before it have failed. If ctx is done it returns the error of
// ctx, which is no failure of the engine. A call that is given up may run on, and what it
// does may still take effect; its context is done. Errors that are no answer wrap [ErrNoAnswer].
func Do[T any](ctx context.Context, g *Guard, call func(context.Context) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	limit, long := g.limits.Timeout, ctx.Value(patient{}) != nil
	if long {
		limit *= 5
	}
	used, shared := ctx.Value(spent{}).(*atomic.Int64)
	if shared {
		limit -= time.Duration(used.Load())
		if limit <= 0 {
			return none, noAnswerError{errors.New("not called, since the calls before it have taken all the time")}
		}
	}
	if err := g.enter(); err != nil {
		return none, noAnswerError{err}
	}
	start := time.Now()
	type result struct {
		value T
		err   error
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var over atomic.Bool // the call has returned or was given up, whichever is first
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panicked: %v\n%s", p, debug.Stack())
			}
			if over.Swap(true) {
				g.hang(-1)
			}
			done <- r
		}()
		r.value, r.err = call(limited)
	}()
	var r result
	select {
	case r = <-done:
	case <-limited.Done():
		if over.Swap(true) {
			r = <-done
			break
		}
		g.hang(1)
		r.err = limited.Err()
	}
	if shared && (r.err != nil || !long) {
		used.Add(int64(time.Since(start)))
	}
	return r.value, g.leave(ctx, limited, limit, r.err)
}

// enter returns an error if no call is to be made now.
func (g *Guard) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hanging >= maxHanging {
		return fmt.Errorf("not called, since %d calls that were given up have not returned yet", g.hanging)
	}
	if g.until.IsZero() {
		return nil
	}
	left := time.Until(g.until)
	switch {
	case left > 0:
		return fmt.Errorf("not called for %v, since %d calls in a row have failed; the last one: %w",
			left.Round(time.Millisecond), g.failures, g.last)
	case g.trying:
		return fmt.Errorf("not called, since %d calls in a row have failed and one is trying again; the last one: %w", g.failures, g.last)
	}
	g.trying = true
	return nil
}

// leave takes how a call has ended, and returns its error.
func (g *Guard) leave(ctx, limited context.Context, limit time.Duration, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trying = false
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err == nil || g.answer != nil && g.answer(err):
		g.failures = 0
		g.last = nil
		g.until = time.Time{}
		return err
	case limited.Err() != nil:
		err = fmt.Errorf("no answer within %v: %w", limit.Round(time.Millisecond), limited.Err())
	}
	g.failures++
	g.last = err
	if g.failures >= g.limits.Failures {
		g.until = time.Now().Add(g.limits.Pause)
	}
	return noAnswerError{err}
}

func (g *Guard) hang(n int) {
	g.mu.Lock()
	g.hanging += n
	g.mu.Unlock()
}
