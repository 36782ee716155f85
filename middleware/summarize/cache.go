package summarize

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/store"
)

// key identifies a summary by the messages that it covers, and so by all before them.
type key struct {
	scope  string
	last   message.ID // of the newest message
	covers string
	handle store.Handle // in the archive
	asked  Decision     // of Options.Before
}

func keyOf(v *middleware.View, ids []message.ID, covers []covered, handle store.Handle) key {
	lead := message.Leading(v.History()) // the number of leading system messages may change
	at := make([]int, len(covers))
	for i, c := range covers {
		at[i] = c.at - lead
	}
	return key{scope: v.Env().Scope, last: ids[covers[len(covers)-1].at], covers: fmt.Sprint(at), handle: handle}
}

// cache holds up to 64 summaries, and makes equal concurrent ones once. It serves
// concurrent calls, dry runs and preparations; what is used is in the journal.
type cache struct {
	mu      sync.Mutex
	flights map[key]*flight
}

// flight is a summary that is being made, or has been.
type flight struct {
	done    chan struct{} // closed once the others are set
	product *product      // nil while it is being made, guarded by the mutex
	err     error
	retry   bool // the maker was cancelled, failed in the background, or panicked: others make it themselves
}

// recursive is the context key of calls that a summariser makes.
type recursive struct{ *cache }

// isRecursive reports whether a call is made by a summariser of this middleware. To fold it would wait for that summariser itself.
func (c *cache) isRecursive(ctx context.Context) bool { return ctx.Value(recursive{c}) != nil }

// do returns the product of the key, or makes it; own reports whether this call made it. Concurrent calls wait for the first one.
func (c *cache) do(
	ctx context.Context, k key, background bool, write func(context.Context) (*product, error),
) (p *product, own bool, err error) {
	const most = 64
	for {
		c.mu.Lock()
		f := c.flights[k]
		own := f == nil
		if own && len(c.flights) >= most {
			maps.DeleteFunc(c.flights, func(_ key, f *flight) bool { return f.product != nil })
		}
		if own {
			f = &flight{done: make(chan struct{}), retry: true}
			c.flights[k] = f
		}
		c.mu.Unlock()
		if own {
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

// fly makes a product, and ends the flight, also after a panic. One that failed is forgotten.
func (c *cache) fly(
	ctx context.Context, k key, f *flight, background bool, write func(context.Context) (*product, error),
) (p *product, err error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		f.product = p
		if p == nil {
			delete(c.flights, k)
		}
		close(f.done)
	}()
	p, err = write(context.WithValue(ctx, recursive{c}, true))
	_, bug := errors.AsType[*modelwriter.PanicError](err)
	f.err, f.retry = err, err != nil && (background || bug || ctx.Err() != nil)
	return p, err
}
