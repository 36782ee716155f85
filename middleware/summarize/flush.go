package summarize

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Flusher keeps what must be found again beyond the conversation, of messages that
// are about to be folded, as the caller has them. It returns how many memories
// there are. An error is told by an event, and does not stop the fold. It must be
// safe for concurrent use.
type Flusher func(ctx context.Context, folded []message.Message) (memories int, err error)

// Memory is something to be remembered.
type Memory struct {
	Text string
}

// Extractor finds what is to be remembered of messages, by rules or with a model.
// It must be safe for concurrent use.
type Extractor func(ctx context.Context, folded []message.Message) ([]Memory, error)

// MemoryStore keeps memories. An implementation must be safe for concurrent use,
// and keep all of those it is given, or none and return an error.
type MemoryStore interface {
	Save(ctx context.Context, memories []Memory) error
}

// FlushTo returns the [Flusher] that saves what the extractor finds. The store is
// not asked if that is nothing.
func FlushTo(store MemoryStore, extract Extractor) Flusher {
	return func(ctx context.Context, folded []message.Message) (int, error) {
		memories, err := extract(ctx, folded)
		if err != nil {
			return 0, fmt.Errorf("summarize: extract memories: %w", err)
		}
		if len(memories) == 0 {
			return 0, nil
		}
		if err := store.Save(ctx, memories); err != nil {
			return 0, fmt.Errorf("summarize: save memories: %w", err)
		}
		return len(memories), nil
	}
}

// flush keeps memories of what is folded now and was not before. A dry run keeps
// none: what it would fold is remembered, in case the run is committed.
func (j *job) flush(ctx context.Context) {
	if j.Flush == nil {
		return
	}
	v := j.fold.View
	d := &debt{key: j.key}
	for _, k := range j.fresh {
		d.places = append(d.places, place{scope: v.Env().Scope, id: j.ids[k]})
		d.messages = append(d.messages, v.History()[k])
	}
	if v.Dry() {
		j.claims.owe(d)
		return
	}
	j.pay(ctx, v, d)
}

// pay keeps the memories of a fold, as far as they have not been kept.
func (e *editor) pay(ctx context.Context, v *middleware.View, d *debt) {
	mine := e.claims.take(d.places)
	var folded []message.Message
	var claimed []place
	for i, yes := range mine {
		if yes {
			folded = append(folded, d.messages[i])
			claimed = append(claimed, d.places[i])
		}
	}
	if len(folded) == 0 {
		return
	}
	n, err := e.flushed(ctx, folded)
	if err != nil {
		e.claims.release(claimed)
		v.Report(ctx, middleware.Event{Kind: FlushFailed, By: Name, Err: err, Why: err.Error()})
		return
	}
	v.Report(ctx, middleware.Event{
		Kind: Flushed, By: Name, Detail: Report{Memories: n},
		Why: fmt.Sprintf("%s of %s", count(n, "memory"), count(len(folded), "message")),
	})
}

// settle keeps the memories of folds that come from a committed dry run. It
// plans nothing.
func (e *editor) settle(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Dry() || !e.claims.owes() {
		return nil, nil
	}
	for i := range v.Len() {
		r := ours(v, i)
		if r == nil {
			continue
		}
		if d := e.claims.due(v.Env().Scope, r.ID); d != nil {
			e.pay(ctx, v, d)
		}
	}
	return nil, nil
}

// flushed calls the caller's function for as long as it may take.
func (e *editor) flushed(ctx context.Context, folded []message.Message) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("summarize: flush panicked: %v", r)
		}
	}()
	ctx, stop := e.limited(ctx)
	defer stop()
	return e.Flush(ctx, folded)
}
