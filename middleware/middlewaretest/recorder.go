package middlewaretest

import (
	"context"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/middleware"
)

// Recorder records events. The zero value is ready to use and safe for concurrent use.
//
//	var rec middlewaretest.Recorder
//	model := middleware.Chain(rec.Middleware(), contextedit.New(opts))(provider)
type Recorder struct {
	mu     sync.Mutex
	events []middleware.Event
}

// Middleware returns a middleware that records the events of the layers inside it.
func (r *Recorder) Middleware() middleware.Middleware {
	return middleware.Observe(func(_ context.Context, e middleware.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
}

// Events returns all events of these kinds so far. Without a kind it returns all but
// [middleware.Called], of which each call has one. The caller owns the slice.
func (r *Recorder) Events(kinds ...middleware.EventKind) []middleware.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e middleware.Event) bool {
		if len(kinds) == 0 {
			return e.Kind == middleware.Called
		}
		return !slices.Contains(kinds, e.Kind)
	})
}

// take returns all events so far and forgets them.
func (r *Recorder) take() []middleware.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}
