package summarize

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Limits of what is remembered of flushes.
const (
	maxFlushed = 1 << 13 // messages in one generation, of which there are two
	maxPending = 64      // folds of dry runs
)

// flushes are the messages for which Options.Flush was called, or is being called, so
// that it is called once for each, and the folds of dry runs for which it is called if
// they are committed. It is safe for concurrent use.
type flushes struct {
	mu          sync.Mutex
	new, old    map[place]bool // old are those before the newest maxFlushed
	pendingRuns []*pending     // oldest first
}

// place is a message, by its ID, which depends on all messages before it.
type place struct {
	scope string
	id    message.ID
}

// pending is a fold whose messages are to be flushed.
type pending struct {
	key      key
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

// release withdraws a claim.
func (f *flushes) release(p pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range p.places {
		delete(f.new, at)
		delete(f.old, at)
	}
}

// postpone remembers the fold of a dry run. It replaces an equal one.
func (f *flushes) postpone(p *pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pendingRuns = slices.DeleteFunc(f.pendingRuns, func(o *pending) bool { return o.key == p.key })
	if len(f.pendingRuns) == maxPending {
		f.pendingRuns = slices.Delete(f.pendingRuns, 0, 1)
	}
	f.pendingRuns = append(f.pendingRuns, p)
}

func (f *flushes) hasPostponed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pendingRuns) > 0
}

// takePostponed removes and returns the fold of a dry run that ends at a message, or
// nil.
func (f *flushes) takePostponed(scope string, last message.ID) *pending {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.pendingRuns, func(p *pending) bool { return p.key.scope == scope && p.key.last == last })
	if i < 0 {
		return nil
	}
	p := f.pendingRuns[i]
	f.pendingRuns = slices.Delete(f.pendingRuns, i, i+1)
	return p
}

// flush flushes the messages that are folded now and were not before. A dry run only
// remembers them.
func (j *job) flush(ctx context.Context) {
	if j.Flush == nil {
		return
	}
	v := j.fold.View
	p := &pending{key: j.key}
	for _, k := range j.fresh {
		p.places = append(p.places, place{scope: j.key.scope, id: j.ids[k]})
		p.messages = append(p.messages, v.History()[k])
	}
	if v.Dry() {
		j.flushes.postpone(p)
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
	n, err := e.callFlush(ctx, mine.messages)
	if err != nil {
		e.flushes.release(mine)
		v.Report(ctx, middleware.Event{Kind: FlushFailed, By: Name, Err: err, Why: err.Error()})
		return
	}
	v.Report(ctx, middleware.Event{
		Kind: Flushed, By: Name, Detail: Report{Memories: n},
		Why: fmt.Sprintf("%s of %s", count(n, "memory"), count(len(mine.messages), "message")),
	})
}

// flushCommitted flushes the messages of folds in committed dry runs. It plans nothing.
func (e *editor) flushCommitted(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Dry() || !e.flushes.hasPostponed() {
		return nil, nil
	}
	for i := range v.Len() {
		if r := ownFold(v, i); r != nil {
			if p := e.flushes.takePostponed(v.Env().Scope, r.ID); p != nil {
				e.flushNow(ctx, v, p)
			}
		}
	}
	return nil, nil
}

// callFlush calls the caller's function with its time limit.
func (e *editor) callFlush(ctx context.Context, folded []message.Message) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("summarize: flush panicked: %v", r)
		}
	}()
	ctx, cancel := e.withTimeout(ctx)
	defer cancel()
	return e.Flush(ctx, folded)
}
