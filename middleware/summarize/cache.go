package summarize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/store"
)

// key identifies a summary by the messages that it covers, and so by all before
// them.
type key struct {
	scope  string
	last   message.ID // of the newest message
	covers string
	handle store.Handle // in the archive
}

func keyOf(v *middleware.View, ids []message.ID, covers []int, handle store.Handle) key {
	var b strings.Builder
	lead := message.Leading(v.History()) // the number of leading system messages may change
	for i := 0; i < len(covers); i++ {
		first := i
		for i+1 < len(covers) && covers[i+1] == covers[i]+1 {
			i++
		}
		fmt.Fprintf(&b, "%d-%d ", covers[first]-lead, covers[i]-lead)
	}
	return key{scope: v.Env().Scope, last: ids[covers[len(covers)-1]], covers: b.String(), handle: handle}
}

// cache holds up to 64 summaries, and makes equal concurrent ones once. It serves
// concurrent calls, dry runs and preparations; what is used is in the journal.
type cache struct {
	mu      sync.Mutex
	made    map[key]*product
	running map[key]*flight
}

// flight is a summary that is being made.
type flight struct {
	done    chan struct{} // closed once the others are set
	product *product
	err     error
	retry   bool // the maker was cancelled, failed in the background, or panicked: others make it themselves
}

func newCache() *cache {
	return &cache{made: map[key]*product{}, running: map[key]*flight{}}
}

// recursive is the context key of calls that a summariser makes.
type recursive struct{ *cache }

// isRecursive reports whether a call is made by a summariser of this middleware. To fold
// it would wait for that summariser itself.
func (c *cache) isRecursive(ctx context.Context) bool { return ctx.Value(recursive{c}) != nil }

// do returns the product of the key, or makes it; own reports whether this call made it.
// Concurrent calls wait for the first one.
func (c *cache) do(
	ctx context.Context, k key, background bool, write func(context.Context) (*product, error),
) (p *product, own bool, err error) {
	for {
		c.mu.Lock()
		p, f := c.made[k], c.running[k]
		first := p == nil && f == nil
		if first {
			f = &flight{done: make(chan struct{}), retry: true}
			c.running[k] = f
		}
		c.mu.Unlock()
		switch {
		case p != nil:
			return p, false, nil
		case first:
			p, err := c.fly(ctx, k, f, background, write)
			return p, true, err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		if !f.retry {
			return f.product, false, f.err
		}
	}
}

// fly makes a product, and ends the flight, also after a panic.
func (c *cache) fly(
	ctx context.Context, k key, f *flight, background bool, write func(context.Context) (*product, error),
) (*product, error) {
	defer func() {
		if f.err == nil && f.product != nil {
			c.add(k, f.product)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, k)
		close(f.done)
	}()
	p, err := write(context.WithValue(ctx, recursive{c}, true))
	_, bug := errors.AsType[*modelwriter.PanicError](err)
	f.product, f.err, f.retry = p, err, err != nil && (background || bug || ctx.Err() != nil)
	return p, err
}

// add adds a product; with 64 of them, it removes those before.
func (c *cache) add(k key, p *product) {
	const most = 64
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.made) >= most {
		clear(c.made)
	}
	c.made[k] = p
}

// forget removes a product, unless another one has replaced it.
func (c *cache) forget(k key, p *product) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made[k] == p {
		delete(c.made, k)
	}
}
