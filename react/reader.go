package react

import (
	"context"
	"errors"
	"runtime"
)

// errLeft is what a sender gets once nobody reads on.
var errLeft = errors.New("react: the reader of the run has left the loop")

// send hands an event to the reader and returns when the reader is done with
// it, so that nothing happens behind an event at which the reader left the loop
// or cancelled the run. Any goroutine may call it.
type send func(Event) error

// reader is whoever ranges over a run. The body of its loop runs in its own
// goroutine alone, whichever goroutine has something to tell.
type reader struct {
	yield func(Event, error) bool
	gone  bool // it has left the loop
}

func (r *reader) tell(e Event) { r.last(e, nil) }

func (r *reader) last(e Event, err error) {
	r.gone = r.gone || !r.yield(e, err)
}

// follow runs work in a goroutine and tells the reader what it sends, until it
// returns. If the reader leaves, the context of the work is cancelled. The
// work is waited for in any case. Its panic becomes one here, and so does its
// runtime.Goexit.
func (r *reader) follow(ctx context.Context, work func(context.Context, send)) {
	ctx, cancel := context.WithCancel(ctx)
	w := worker{
		events: make(chan Event),
		read:   make(chan struct{}),
		left:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	go w.run(ctx, work)
	func() {
		defer func() { // also if the body of the loop panics
			cancel()
			close(w.left)
			<-w.done
		}()
		for !r.gone {
			select {
			case e := <-w.events:
				r.tell(e)
				if !r.gone {
					w.read <- struct{}{}
				}
			case <-w.done:
				return
			}
		}
	}()
	switch {
	case w.panicked != nil:
		panic(w.panicked)
	case !w.returned:
		runtime.Goexit()
	}
}

// worker is the goroutine that a reader follows.
type worker struct {
	events chan Event
	read   chan struct{} // answers each event once the reader is done with it
	left   chan struct{} // closed when nobody reads events any more
	done   chan struct{} // closed when the goroutine ends

	panicked *PanicError
	returned bool
}

func (w *worker) run(ctx context.Context, work func(context.Context, send)) {
	defer close(w.done)
	defer func() { w.panicked = caught(recover()) }()
	work(ctx, w.send)
	w.returned = true
}

func (w *worker) send(e Event) error {
	select {
	case w.events <- e:
	case <-w.left:
		return errLeft
	}
	select { // events are read one by one, so the answer is for this one
	case <-w.read:
		return nil
	case <-w.left:
		return errLeft
	}
}
