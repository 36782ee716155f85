package react

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errLeft is what send returns after the reader has left its loop.
var errLeft = errors.New("react: the reader of the run has left the loop")

// send passes an event to the reader and returns when the body of its loop has
// returned. So nothing happens after an event at which the reader left the loop or
// cancelled the run. Any goroutine may call it.
type send func(Event) error

// reader is the loop that ranges over a run. Its body runs in its own goroutine
// alone, whichever goroutine sends an event.
type reader struct {
	yield func(Event, error) bool
	left  bool // the loop has ended
}

func (r *reader) send(e Event) { r.last(e, nil) }

func (r *reader) last(e Event, err error) {
	r.left = r.left || !r.yield(e, err)
}

// follow runs work in a goroutine and passes its events to the reader, until it
// returns. If the reader leaves, the context of the work is cancelled. follow
// waits for the work in any case. A panic of the work becomes one here.
func (r *reader) follow(ctx context.Context, work func(context.Context, send)) {
	ctx, cancel := context.WithCancel(ctx)
	w := worker{events: make(chan Event), read: make(chan struct{}), left: make(chan struct{}), done: make(chan struct{})}
	go w.run(ctx, work)
	func() {
		defer func() { // also if the body of the loop panics
			cancel()
			close(w.left)
			<-w.done
		}()
		for !r.left {
			select {
			case e := <-w.events:
				r.send(e)
				if !r.left {
					w.read <- struct{}{}
				}
			case <-w.done:
				return
			}
		}
	}()
	if w.panicked != nil {
		panic(w.panicked)
	}
}

// worker is the goroutine that a reader follows.
type worker struct {
	events   chan Event
	read     chan struct{} // receives once for each event that the reader has handled
	left     chan struct{} // closed when the reader handles no more events
	done     chan struct{} // closed when the goroutine ends; panicked is set then
	panicked *PanicError
}

func (w *worker) run(ctx context.Context, work func(context.Context, send)) {
	defer close(w.done)
	defer func() { w.panicked = caught(recover()) }()
	work(ctx, w.send)
}

func (w *worker) send(e Event) error {
	select {
	case w.events <- e:
	case <-w.left:
		return errLeft
	}
	select { // events are handled one by one, so the receipt is for this one
	case <-w.read:
		return nil
	case <-w.left:
		return errLeft
	}
}

// PanicError is a panic of a tool or a model.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

// Error returns the value and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// caught returns a recovered value as an error, nil for nil. It must be called in the
// deferred function that recovered.
func caught(value any) *PanicError {
	if value == nil {
		return nil
	}
	return &PanicError{Value: value, Stack: debug.Stack()}
}
