package summarize

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// maxProducts bounds how many summaries are remembered. One that has been taken is
// in the journal: this is for calls at the same time, for dry runs and for what is
// made in advance.
const maxProducts = 64

// key names a summary by the messages that it stands for, and so by all before
// them.
type key struct {
	scope  string
	last   message.ID // of the newest of them
	covers string
	handle store.Handle // in the archive
}

func keyOf(v *middleware.View, ids []message.ID, covers []int) key {
	var b strings.Builder
	lead := message.Leading(v.History()) // positions count from behind these, whose number may change
	for i := 0; i < len(covers); i++ {
		first := i
		for i+1 < len(covers) && covers[i+1] == covers[i]+1 {
			i++
		}
		fmt.Fprintf(&b, "%d-%d ", covers[first]-lead, covers[i]-lead)
	}
	return key{scope: v.Env().Scope, last: ids[covers[len(covers)-1]], covers: b.String()}
}

// memory remembers the summaries that were made last, and lets equal ones be made
// once. It is safe for concurrent use.
type memory struct {
	mu       sync.Mutex
	products map[key]*product
	made     []key // oldest first
	flights  map[key]*flight
}

// flight is a summary that is being made.
type flight struct {
	landed    chan struct{} // closed once the others are set
	product   *product
	err       error
	abandoned bool // whoever made it was called off, or gave up early
}

// behind is the key under which the context of a summariser says so.
type behind struct{ *memory }

// isBehind reports whether a call is made by a summariser of its own: to fold it
// would be to wait for oneself.
func (m *memory) isBehind(ctx context.Context) bool { return ctx.Value(behind{m}) != nil }

func newMemory() *memory {
	return &memory{products: map[key]*product{}, flights: map[key]*flight{}}
}

// do returns what was made for the key, or makes it; own says that this call has
// made it. Whoever asks meanwhile waits. It makes it itself if the first one is
// called off, or has failed while it worked in advance.
func (m *memory) do(
	ctx context.Context, k key, quiet bool, write func(context.Context) (*product, error),
) (p *product, own bool, err error) {
	for {
		p, f, first := m.board(k)
		switch {
		case p != nil:
			return p, false, nil
		case first:
			p, err := m.fly(ctx, k, f, quiet, write)
			return p, true, err
		}
		select {
		case <-f.landed:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		if !f.abandoned {
			return f.product, false, f.err
		}
	}
}

// board returns what was made for the key, or else the flight that makes it, and
// whether that begins now.
func (m *memory) board(k key) (p *product, f *flight, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.products[k]; p != nil {
		return p, nil, false
	}
	if f := m.flights[k]; f != nil {
		return nil, f, false
	}
	f = &flight{landed: make(chan struct{})}
	m.flights[k] = f
	return nil, f, true
}

// fly makes a summary. If that panics, those who wait make it themselves.
func (m *memory) fly(ctx context.Context, k key, f *flight, quiet bool, write func(context.Context) (*product, error)) (*product, error) {
	f.abandoned = true
	ctx = context.WithValue(ctx, behind{m}, true)
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.flights, k)
		if f.err == nil && f.product != nil {
			m.keep(k, f.product)
		}
		close(f.landed)
	}()
	p, err := write(ctx)
	f.product, f.err = p, err
	f.abandoned = err != nil && (quiet || ctx.Err() != nil)
	return p, err
}

// keep remembers what was made. The caller holds the lock.
func (m *memory) keep(k key, p *product) {
	if len(m.made) == maxProducts {
		delete(m.products, m.made[0])
		m.made = slices.Delete(m.made, 0, 1)
	}
	m.products[k] = p
	m.made = append(m.made, k)
}

// forget forgets what was made for a key, if it is that still.
func (m *memory) forget(k key, p *product) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.products[k] == p {
		delete(m.products, k)
		m.made = slices.DeleteFunc(m.made, func(o key) bool { return o == k })
	}
}
