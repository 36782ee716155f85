package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

const (
	maxWaiting = 64 << 20         // bytes of contents that wait for a connection
	firstRetry = time.Second / 10 // pause after a failed attempt to connect; it doubles up to
	lastRetry  = 10 * time.Second
)

// errNotConnected is the error of calls before an engine with [Options.Lazy] has its connection. It names why the last
// attempt failed.
var errNotConnected = errors.New("not connected yet")

// lazy is what an engine has until it is connected: the contents that wait. All calls but those of the archives fail; the
// entries of the journal wait in the chains that made them, which write them as after an outage.
type lazy struct {
	mu      sync.Mutex
	failed  error // of the last attempt; nil: there was none
	waiting []contentsOf
	bytes   int
}

// contentsOf is a call of PutContents.
type contentsOf struct {
	scope        string
	conversation message.ID
	contents     []Content
	bounds       Bounds
}

func (c contentsOf) put(ctx context.Context, b Backend) error {
	return b.PutContents(ctx, c.scope, c.conversation, c.contents, c.bounds)
}

func (c contentsOf) size() (n int) {
	for i := range c.contents {
		n += len(c.contents[i].Data)
	}
	return n
}

// connect tries to connect until that works, or the engine is closed. The engine counts it as a call.
func (e *Engine) connect() {
	defer e.running.RUnlock()
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		b, err := e.open(e.end)
		if err == nil {
			err = e.begin(b)
			if err == nil {
				return
			}
			err = errors.Join(err, b.Close())
		}
		e.lazy.mu.Lock()
		e.lazy.failed = err
		e.lazy.mu.Unlock()
		select {
		case <-e.end.Done():
			return
		case <-time.After(pause):
		}
	}
}

// begin writes what waits, and then uses the backend. What a database that works refuses stays in memory.
func (e *Engine) begin(b Backend) error {
	l := &e.lazy
	var refused []contentsOf
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.waiting = refused
			e.backend.Store(&b)
			l.mu.Unlock()
			return nil
		}
		next := l.waiting[0]
		l.mu.Unlock()
		err := next.put(e.end, b)
		l.mu.Lock()
		switch {
		case err == nil:
			l.bytes -= next.size()
		case isAnswer(err):
			refused = append(refused, next)
		default:
			l.waiting = slices.Concat(refused, l.waiting)
			l.mu.Unlock()
			return err
		}
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
	}
}

// notConnected is the error of calls without a backend. It wraps [errNotConnected] and store.ErrNoAnswer.
func (e *Engine) notConnected() error {
	e.lazy.mu.Lock()
	defer e.lazy.mu.Unlock()
	if e.lazy.failed == nil {
		return fmt.Errorf("%w: %w", errNotConnected, store.ErrNoAnswer)
	}
	return fmt.Errorf("%w: %w: %w", errNotConnected, e.lazy.failed, store.ErrNoAnswer)
}

// hold keeps contents in memory until there is a connection; false: there is one.
func (e *Engine) hold(c contentsOf) (bool, error) {
	l := &e.lazy
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.backend.Load() != nil || e.end.Err() != nil {
		return false, nil
	}
	n := c.size()
	if l.bytes+n > maxWaiting {
		return false, fmt.Errorf("engine: %w, and %d bytes of contents wait already: %w", errNotConnected, l.bytes, store.ErrNoAnswer)
	}
	l.bytes += n
	l.waiting = append(l.waiting, c)
	return true, nil
}

// held returns a content that waits.
func (e *Engine) held(scope, handle string) (Content, bool) {
	e.lazy.mu.Lock()
	defer e.lazy.mu.Unlock()
	for _, w := range e.lazy.waiting {
		for _, c := range w.contents {
			if w.scope == scope && c.Handle == handle && len(c.Data) > 0 {
				return c, true
			}
		}
	}
	return Content{}, false
}

// forget removes what the database has refused of some conversations, or of all.
func (l *lazy) forget(scope string, conversations []message.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(c contentsOf) bool {
		return c.scope == scope && (len(conversations) == 0 || slices.Contains(conversations, c.conversation))
	})
}
