package middleware

import (
	"context"
	"errors"
	"iter"
)

// Delta is a piece of an answer: more of its text, of its thinking, or of a
// tool call. The last Delta of [Stream] carries the whole response instead.
type Delta struct {
	Text     string
	Thinking string
	Call     *CallDelta // nil: none
	Response *Response  // nil but in the last Delta of Stream
}

// CallDelta is more of a tool call.
type CallDelta struct {
	Index     int    // which call of the answer, from 0
	ID        string // "" but in the first piece
	Name      string // "" but in the first piece
	Arguments string // more of the JSON
}

// Emit takes the pieces of an answer while they come. An error means that the
// reader is gone: stop, and return that error.
type Emit func(Delta) error

// errStopped is what emit returns once the reader of a stream has left the
// loop.
var errStopped = errors.New("middleware: the reader of the stream has left")

// Stream calls the model and yields the pieces of the answer while they come,
// then one Delta with the whole response. A failed call ends with a zero Delta
// and the error. Leaving the loop early stops the call. It all happens in the
// caller's goroutine.
func Stream(ctx context.Context, m Model, req *Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		gone := false
		resp, err := m(ctx, req, func(d Delta) error {
			if !gone && !yield(d, nil) {
				gone = true
			}
			if gone {
				return errStopped
			}
			return nil
		})
		switch {
		case gone:
		case err != nil:
			yield(Delta{}, err)
		default:
			yield(Delta{Response: resp}, nil)
		}
	}
}
