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
	sync.Mutex

	new, old  map[place]bool // old are those before the newest maxFlushed
	postponed map[place][]placed
}

// place is a message, by its ID, which depends on all messages before it.
type place struct {
	scope string
	id    message.ID
}

// placed is a message that is to be flushed.
type placed struct {
	place

	message message.Message
}

// claim claims the messages of a fold that are not claimed yet, and returns them.
func (f *flushes) claim(all []placed) (mine []placed) {
	f.Lock()
	defer f.Unlock()
	for _, p := range all {
		if f.new[p.place] || f.old[p.place] {
			continue
		}
		if len(f.new) >= maxFlushed || f.new == nil {
			f.new, f.old = map[place]bool{}, f.new
		}
		f.new[p.place] = true
		mine = append(mine, p)
	}
	return mine
}

func (f *flushes) release(all []placed) {
	f.Lock()
	defer f.Unlock()
	for _, p := range all {
		delete(f.new, p.place)
		delete(f.old, p.place)
	}
}

// flush flushes the messages that are folded now and were not before. A dry run only remembers them, by the newest; with
// maxPending of these folds, it forgets those before.
func (t *task) flush(ctx context.Context) {
	if t.Flush == nil {
		return
	}
	v := t.fold.View
	var all []placed
	for _, c := range t.newlyCovered() {
		all = append(all, placed{place{t.key.scope, t.ids[c.at]}, v.History()[c.at]})
	}
	f := t.flushes
	if !v.Request().Dry() {
		t.flushNow(ctx, v, all)
		return
	}
	f.Lock()
	defer f.Unlock()
	if len(f.postponed) >= maxPending || f.postponed == nil {
		f.postponed = map[place][]placed{}
	}
	f.postponed[place{t.key.scope, t.key.last}] = all
}

// flushNow flushes the messages of a fold that are not flushed yet.
func (e *editor) flushNow(ctx context.Context, v *middleware.View, all []placed) {
	mine := e.flushes.claim(all)
	if len(mine) == 0 {
		return
	}
	messages := make([]message.Message, len(mine))
	for i, p := range mine {
		messages[i] = p.message
	}
	n, err := modelwriter.Call(ctx, e.Timeout, func(ctx context.Context) (int, error) { return e.Flush(ctx, messages) })
	if err != nil {
		e.flushes.release(mine)
	}
	v.Report(ctx, middleware.Event{
		Kind: Flushed, By: layerName, Err: err, Detail: Report{Memories: n},
		Why: fmt.Sprintf("%s of %s", count(n, "memory"), count(len(mine), "message")),
	})
}

// flushCommitted flushes the messages of folds in committed dry runs. It plans nothing.
func (e *editor) flushCommitted(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	for i := range v.Len() {
		r := ownFold(v, i)
		if r == nil || v.Request().Dry() {
			continue
		}
		last := place{v.Env().Scope, r.ID}
		e.flushes.Lock()
		all := e.flushes.postponed[last]
		delete(e.flushes.postponed, last)
		e.flushes.Unlock()
		e.flushNow(ctx, v, all)
	}
	return nil, nil
}
