package summarize

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/laconic-go/laconic/message"
)

// batch makes several summaries, as many at a time as it may.
type batch struct {
	jobs     []*job
	parallel int

	once     sync.Once
	products []*product
	errs     []error
}

// product returns the messages of one of them. The first that asks has all made.
func (b *batch) product(ctx context.Context, i int) ([]message.Message, error) {
	b.once.Do(func() { b.run(ctx) })
	if err := b.errs[i]; err != nil {
		return nil, err
	}
	return b.products[i].messages, nil
}

func (b *batch) run(ctx context.Context) {
	b.products, b.errs = make([]*product, len(b.jobs)), make([]error, len(b.jobs))
	for _, j := range b.jobs {
		j.flush(ctx)
	}
	if len(b.jobs) == 1 {
		b.products[0], b.errs[0] = b.jobs[0].make(ctx)
		return
	}
	all, stop := context.WithCancel(ctx)
	defer stop()
	places := make(chan struct{}, b.parallel)
	var wg sync.WaitGroup
	for i, j := range b.jobs {
		places <- struct{}{}
		j.hold = true
		wg.Go(func() {
			defer func() { <-places }()
			if b.products[i], b.errs[i] = contained(all, j); b.errs[i] != nil {
				stop() // one that fails makes the others useless
			}
		})
	}
	wg.Wait()
	for _, j := range b.jobs {
		for _, e := range j.held {
			j.fold.View.Report(ctx, e)
		}
	}
	b.blame()
}

// blame puts the error that has stopped the others first.
func (b *batch) blame() {
	for _, err := range b.errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			b.errs[0] = err
			return
		}
	}
}

// contained makes a summary in a goroutine of its own, where a panic would end
// the program.
func contained(ctx context.Context, j *job) (p *product, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("summariser panicked: %v", r)
		}
	}()
	return j.make(ctx)
}
