package middlewaretest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/middleware"
)

// Recorder keeps the events that it hears. The zero value is ready, and it is
// safe for concurrent use.
//
//	var rec middlewaretest.Recorder
//	model := middleware.Chain(rec.Middleware(), contextedit.New(opts))(provider)
type Recorder struct {
	mu     sync.Mutex
	events []middleware.Event
}

// Middleware returns the middleware that hears what happens inside it.
func (r *Recorder) Middleware() middleware.Middleware { return middleware.Observe(r.Hear) }

// Hear takes an event. It is a [middleware.Observer].
func (r *Recorder) Hear(_ context.Context, e middleware.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns the events so far that are of one of these kinds; without a
// kind, all. The slice belongs to the caller.
func (r *Recorder) Events(kinds ...middleware.EventKind) []middleware.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.events), func(e middleware.Event) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, e.Kind)
	})
}

// Take returns all events so far and forgets them.
func (r *Recorder) Take() []middleware.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// Freed returns the tokens that all edits so far have freed.
func (r *Recorder) Freed() int {
	n := 0
	for _, e := range r.Events(middleware.Edited) {
		n += e.Freed()
	}
	return n
}

// String returns the events, one a line and without their times.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, e := range r.Events() {
		b.WriteString(e.String())
		b.WriteByte('\n')
	}
	return b.String()
}
