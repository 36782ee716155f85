package summarize

import (
	"context"
	"fmt"
	"sync"
)

// Background runs the tasks of [Options.Background], a bounded number at a time.
// It is safe for concurrent use.
//
//	bg := summarize.NewBackground(ctx, 4)
//	defer bg.Wait()
//	summarize.New(summarize.By(by, summarize.Ask{}), summarize.Options{Soft: soft, Background: bg.Go})
type Background struct {
	ctx    context.Context //nolint:containedctx // tasks outlive the calls that begin them, and end with this
	places chan struct{}
	tasks  sync.WaitGroup
}

// NewBackground returns one for at most so many tasks at a time. All of them are
// called off when ctx is done. It panics with "summarize: …" if most is less than 1.
func NewBackground(ctx context.Context, most int) *Background {
	if most < 1 {
		panic(fmt.Sprintf("summarize: NewBackground is for %d tasks at a time, want 1 or more", most))
	}
	return &Background{ctx: ctx, places: make(chan struct{}, most)}
}

// Go runs the task in a goroutine of its own. It returns false, and does not run
// it, where as many as may are running, or the context is done.
func (b *Background) Go(task func(ctx context.Context)) bool {
	if b.ctx.Err() != nil {
		return false
	}
	select {
	case b.places <- struct{}{}:
	default:
		return false
	}
	b.tasks.Go(func() {
		defer func() { <-b.places }()
		task(b.ctx)
	})
	return true
}

// Wait returns when all tasks have ended. No task must be begun meanwhile.
func (b *Background) Wait() { b.tasks.Wait() }
