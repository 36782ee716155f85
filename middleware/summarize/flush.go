package summarize

import (
	"context"
	"fmt"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

// Limits of what is remembered of flushes.
const (
	maxFlushed = 1 << 13 // messages in one generation, of which there are two
	maxPending = 64      // folds of dry runs
)

// flushes are the messages for which Options.Flush was called, so that it is called once
// for each, and the folds of dry runs for which it is called if they are committed.
type flushes struct {
	mu        sync.Mutex
	new, old  map[place]bool // old are those before the newest maxFlushed
	postponed map[place]*pending
}

// place is a message, by its ID, which depends on all messages before it.
type place struct {
	scope string
	id    message.ID
}

// pending are the messages of a fold that are to be flushed.
type pending struct {
	places   []place
	messages []message.Message
}

// claim claims the messages of a fold that are not claimed yet, and returns them.
func (f *flushes) claim(p *pending) (mine pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, at := range p.places {
		if f.new[at] || f.old[at] {
			continue
		}
		if len(f.new) >= maxFlushed || f.new == nil {
			f.new, f.old = map[place]bool{}, f.new
		}
		f.new[at] = true
		mine.places = append(mine.places, at)
		mine.messages = append(mine.messages, p.messages[i])
	}
	return mine
}

func (f *flushes) release(p pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range p.places {
		delete(f.new, at)
		delete(f.old, at)
	}
}

// postpone remembers the fold of a dry run by its newest message; with maxPending of
// them, it forgets those before.
func (f *flushes) postpone(last place, p *pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.postponed) >= maxPending || f.postponed == nil {
		f.postponed = map[place]*pending{}
	}
	f.postponed[last] = p
}

// takePostponed removes and returns the fold of a dry run by its newest message, or nil.
func (f *flushes) takePostponed(last place) *pending {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.postponed[last]
	delete(f.postponed, last)
	return p
}

// flush flushes the messages that are folded now and were not before. A dry run only
// remembers them.
func (j *job) flush(ctx context.Context) {
	if j.Flush == nil {
		return
	}
	v := j.fold.View
	p := &pending{}
	for _, k := range j.fresh {
		p.places = append(p.places, place{scope: j.key.scope, id: j.ids[k]})
		p.messages = append(p.messages, v.History()[k])
	}
	if v.Dry() {
		j.flushes.postpone(place{scope: j.key.scope, id: j.key.last}, p)
		return
	}
	j.flushNow(ctx, v, p)
}

// flushNow flushes the messages of a fold that are not flushed yet.
func (e *editor) flushNow(ctx context.Context, v *middleware.View, p *pending) {
	mine := e.flushes.claim(p)
	if len(mine.messages) == 0 {
		return
	}
	n, err := modelwriter.Call(ctx, e.Timeout, func(ctx context.Context) (int, error) { return e.Flush(ctx, mine.messages) })
	if err != nil {
		e.flushes.release(mine)
	}
	v.Report(ctx, middleware.Event{
		Kind: Flushed, By: Name, Err: err, Detail: Report{Memories: n},
		Why: fmt.Sprintf("%s of %s", count(n, "memory"), count(len(mine.messages), "message")),
	})
}

// flushCommitted flushes the messages of folds in committed dry runs. It plans nothing.
func (e *editor) flushCommitted(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	for i := range v.Len() {
		if r := ownFold(v, i); r != nil && !v.Dry() {
			if p := e.flushes.takePostponed(place{scope: v.Env().Scope, id: r.ID}); p != nil {
				e.flushNow(ctx, v, p)
			}
		}
	}
	return nil, nil
}
