package langchaingo

import (
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/middleware"
)

// relay calls generate in a goroutine of its own, and take in that of the
// caller for each chunk that generate sends: the client for Anthropic calls
// streaming functions from another goroutine than the one it was called in.
// Both wait for each other, so that only one of them runs at a time, and
// nothing is left running when relay returns or panics.
func relay(generate func(send func(chunk) error) (*llms.ContentResponse, error), take func(chunk) error) (*llms.ContentResponse, error) {
	type outcome struct {
		resp     *llms.ContentResponse
		err      error
		returned bool
		panicked any
	}
	type sent struct {
		chunk chunk
		reply chan error
	}
	var (
		chunks = make(chan sent)
		over   = make(chan struct{}) // the caller listens no more
		ended  = make(chan outcome, 1)
	)
	go func() {
		var o outcome
		defer func() {
			if !o.returned {
				o.panicked = recover()
			}
			ended <- o
		}()
		o.resp, o.err = generate(func(c chunk) error {
			s := sent{c, make(chan error, 1)}
			select {
			case chunks <- s:
			case <-over:
				return errOver
			}
			select {
			case err := <-s.reply:
				return err
			case <-over:
				return errOver
			}
		})
		o.returned = true
	}()
	waiting := true
	defer func() {
		close(over)
		if waiting { // take panicked, or ended the goroutine
			<-ended
		}
	}()
	for {
		select {
		case s := <-chunks:
			s.reply <- take(s.chunk)
		case o := <-ended:
			waiting = false
			switch {
			case o.returned:
				return o.resp, o.err
			case o.panicked != nil:
				panic(o.panicked)
			}
			return nil, &middleware.Error{Op: op, Err: errors.New("the model ended its goroutine")}
		}
	}
}

// errOver is what a streaming function returns to a model that calls it when
// nobody listens any more.
var errOver = errors.New("langchaingo: the call is over")
