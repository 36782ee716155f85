package engine

import (
	"context"
	"errors"
	"fmt"
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

// lazy is a backend that connects in the background. Until then it keeps contents in memory, and all other calls fail. The
// entries of the journal wait in the chains that made them, which write them as after an outage.
type lazy struct {
	end  context.CancelFunc
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	backend Backend // nil: not connected, or waiting contents are not written
	failed  error   // of the last attempt; nil: there was none
	waiting []waiting
	bytes   int
}

// waiting is a call of PutContents that is not in the database yet.
type waiting struct {
	scope        string
	conversation message.ID
	contents     []Content
	bounds       Bounds
}

func newLazy(open func(ctx context.Context) (Backend, error)) *lazy {
	ctx, end := context.WithCancel(context.Background())
	l := &lazy{end: end, done: make(chan struct{})}
	go l.connect(ctx, open)
	return l
}

// connect tries to connect until that works, and writes what waits. A content that cannot be written is kept in memory.
func (l *lazy) connect(ctx context.Context, open func(ctx context.Context) (Backend, error)) {
	defer close(l.done)
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		b, err := open(ctx)
		if err == nil {
			if err = l.begin(ctx, b); err == nil {
				return
			}
			err = errors.Join(err, b.Close())
		}
		l.mu.Lock()
		l.failed = err
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// begin writes what waits, and then uses the backend.
func (l *lazy) begin(ctx context.Context, b Backend) error {
	var refused []waiting // by a database that works
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.backend, l.waiting = b, refused
			l.mu.Unlock()
			return nil
		}
		w := l.waiting[0]
		l.mu.Unlock()
		err := b.PutContents(ctx, w.scope, w.conversation, w.contents, w.bounds)
		if err != nil && !isAnswer(err) {
			return err
		}
		if err != nil {
			refused = append(refused, w)
		}
		l.mu.Lock()
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
	}
}

// connected returns the backend. The error wraps [errNotConnected] and store.ErrNoAnswer.
func (l *lazy) connected() (Backend, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.backend != nil:
		return l.backend, nil
	case l.failed != nil:
		return nil, fmt.Errorf("engine: %w: %w: %w", errNotConnected, l.failed, store.ErrNoAnswer)
	}
	return nil, fmt.Errorf("engine: %w: %w", errNotConnected, store.ErrNoAnswer)
}

// do makes a call of the backend.
func (l *lazy) do(call func(b Backend) error) error {
	b, err := l.connected()
	if err != nil {
		return err
	}
	return call(b)
}

// Find implements [Backend].
func (l *lazy) Find(ctx context.Context, scope string, first message.ID, ids []message.ID, b Bounds) (at int, rows []Row, err error) {
	at = -1
	err = l.do(func(d Backend) (err error) { at, rows, err = d.Find(ctx, scope, first, ids, b); return err })
	return at, rows, err
}

// Put implements [Backend].
func (l *lazy) Put(ctx context.Context, scope string, rows []Write, b Bounds) (winner Row, err error) {
	err = l.do(func(d Backend) (err error) { winner, err = d.Put(ctx, scope, rows, b); return err })
	return winner, err
}

// Entries implements [Backend].
func (l *lazy) Entries(ctx context.Context, scope string, conversation message.ID) (rows []Row, err error) {
	err = l.do(func(d Backend) (err error) { rows, err = d.Entries(ctx, scope, conversation); return err })
	return rows, err
}

// Get implements [Backend].
func (l *lazy) Get(ctx context.Context, scope, handle string, b Bounds) (Content, error) {
	backend, err := l.connected()
	if c, ok := l.held(scope, handle); ok {
		return c, nil
	}
	if err != nil {
		return Content{}, err
	}
	return backend.Get(ctx, scope, handle, b)
}

// held returns a content that waits.
func (l *lazy) held(scope, handle string) (Content, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.waiting {
		for _, c := range w.contents {
			if w.scope == scope && c.Handle == handle && len(c.Data) > 0 {
				return c, true
			}
		}
	}
	return Content{}, false
}

// PutContents implements [Backend].
func (l *lazy) PutContents(ctx context.Context, scope string, conversation message.ID, contents []Content, b Bounds) error {
	l.mu.Lock()
	backend := l.backend
	if backend == nil {
		defer l.mu.Unlock()
		return l.wait(waiting{scope, conversation, contents, b})
	}
	l.mu.Unlock()
	return backend.PutContents(ctx, scope, conversation, contents, b)
}

// wait keeps contents in memory.
func (l *lazy) wait(w waiting) error {
	n := 0
	for i := range w.contents {
		n += len(w.contents[i].Data)
	}
	if l.bytes+n > maxWaiting {
		return fmt.Errorf("engine: %w, and %d bytes of contents wait already: %w", errNotConnected, l.bytes, store.ErrNoAnswer)
	}
	l.bytes += n
	l.waiting = append(l.waiting, w)
	return nil
}

// Delete implements [Backend].
func (l *lazy) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	return l.do(func(d Backend) error { return d.Delete(ctx, scope, conversations...) })
}

// List implements [Backend].
func (l *lazy) List(ctx context.Context, scopes ...string) (all []Usage, err error) {
	err = l.do(func(d Backend) (err error) { all, err = d.List(ctx, scopes...); return err })
	return all, err
}

// Drop implements [Backend].
func (l *lazy) Drop(ctx context.Context, scope string, rows []Row) error {
	return l.do(func(d Backend) error { return d.Drop(ctx, scope, rows) })
}

// Rewrite implements [Backend].
func (l *lazy) Rewrite(ctx context.Context, change func(scope string, data []byte) ([]byte, error)) error {
	return l.do(func(d Backend) error { return d.Rewrite(ctx, change) })
}

// Vacuum implements [Backend].
func (l *lazy) Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error) {
	err = l.do(func(d Backend) (err error) { removed, err = d.Vacuum(ctx, ttl); return err })
	return removed, err
}

// Lost asks the backend, if it can, whether the database has lost everything.
func (l *lazy) Lost(err error) (lost error) {
	_ = l.do(func(d Backend) error {
		if d, ok := d.(lossy); ok {
			lost = d.Lost(err)
		}
		return nil
	})
	return lost
}

// Close implements [Backend]. What waits is lost, as are the edits that it belongs to.
func (l *lazy) Close() error {
	l.end()
	<-l.done
	if backend, err := l.connected(); err == nil {
		return backend.Close()
	}
	return nil
}
