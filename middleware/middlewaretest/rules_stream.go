package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// streamRules are about emit.
func streamRules() []rule {
	return []rule{
		{
			name: "nil-emit",
			text: "emit may be nil, and then the response is all that is wanted: " +
				"who puts something around emit must not do so where there is none",
			check: checkNilEmit,
		},
		{
			name: "pieces",
			text: "the pieces of the answer reach emit in order, none twice, never two at once, all of them before the call returns, " +
				"since a reader puts them together to the answer",
			check: checkPieces,
		},
		{
			name: "emit-error",
			text: "an error of emit means that the reader is gone: it comes back as it is, nothing is emitted after it, " +
				"and no model is called again, since nobody would read the answer",
			check: checkEmitError,
		},
		{
			name: "no-retry",
			text: "the next model is never called again once a piece has been emitted, and its error comes back, " +
				"since the reader cannot give the piece back and would read two answers as one",
			check: checkNoRetry,
		},
	}
}

func pieces() middleware.Model {
	resp := middleware.Response{
		Message: message.Assistant(message.Thinking{Text: "first I think. "}, message.Text{Text: "Then I read it."},
			message.ToolCall{ID: "x", Name: "read_file", Arguments: `{"path":"a"}`}),
		Stop: middleware.StopTools,
	}
	return Give(resp,
		middleware.Delta{Thinking: "first "}, middleware.Delta{Thinking: "I think. "},
		middleware.Delta{Text: "Then "}, middleware.Delta{Text: "I read"}, middleware.Delta{Text: " it."},
		middleware.Delta{Call: &middleware.CallDelta{ID: "x", Name: "read_file", Arguments: `{"path":`}},
		middleware.Delta{Call: &middleware.CallDelta{Arguments: `"a"}`}},
	)
}

// reader puts pieces together.
type reader struct {
	text, thinking, call string

	read      int
	failAfter int // pieces, after which emit returns an error; 0: never
	busy      atomic.Bool
	overlap   atomic.Bool
	closed    atomic.Bool // the call has returned
	late      atomic.Bool
}

var errReaderGone = errors.New("the reader is gone")

func (r *reader) emit(d middleware.Delta) error {
	if r.closed.Load() {
		r.late.Store(true)
		return errReaderGone
	}
	if r.busy.Swap(true) {
		r.overlap.Store(true)
		return errReaderGone
	}
	defer r.busy.Store(false)
	r.read++
	r.text += d.Text
	r.thinking += d.Thinking
	if d.Call != nil {
		r.call += fmt.Sprintf("%s%s%s", d.Call.ID, d.Call.Name, d.Call.Arguments)
	}
	if r.failAfter > 0 && r.read >= r.failAfter {
		return errReaderGone
	}
	return nil
}

func (r *reader) misuse() error {
	switch {
	case r.overlap.Load():
		return errors.New("emit was called while it was running")
	case r.late.Load():
		return errors.New("emit was called after the call had returned")
	}
	return nil
}

func checkNilEmit(s *subject) error {
	return both(func(req *middleware.Request) error {
		_, err := s.instance(pieces()).answered(context.Background(), req, nil)
		return err
	})
}

func checkPieces(s *subject) error {
	const text, thinking, call = "Then I read it.", "first I think. ", `xread_file{"path":"a"}`
	return both(func(req *middleware.Request) error {
		r := &reader{}
		_, err := s.instance(pieces()).answered(context.Background(), req, r.emit)
		r.closed.Store(true)
		switch {
		case err != nil:
			return err
		case r.text != text || r.thinking != thinking || r.call != call:
			return fmt.Errorf("text %q, thinking %q and call %q were emitted, want %q, %q and %q",
				r.text, r.thinking, r.call, text, thinking, call)
		}
		return r.misuse()
	})
}

func checkEmitError(s *subject) error {
	return both(func(req *middleware.Request) error {
		r := &reader{failAfter: 1}
		out, err := s.instance(pieces()).call(context.Background(), req, r.emit)
		r.closed.Store(true)
		switch {
		case err != nil:
			return err
		case r.read == 0: // that is what the rule about pieces is for
			return nil
		case r.read > 1:
			return fmt.Errorf("emit failed, and %d more pieces were emitted", r.read-1)
		case !errors.Is(out.err, errReaderGone):
			return otherError(out.err, errReaderGone)
		case len(out.sent) != 1:
			return fmt.Errorf("the model was called %d times, want once", len(out.sent))
		}
		return r.misuse()
	})
}

func checkNoRetry(s *subject) error {
	return both(func(req *middleware.Request) error {
		down := &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: errors.New("connection lost")}
		script := Script(Fail(down, "The build "), Say("The build fails."))
		r := &reader{}
		out, err := s.instance(script.Model()).call(context.Background(), req, r.emit)
		switch {
		case err != nil:
			return err
		case r.read == 0:
			return nil
		case len(out.sent) != 1:
			return fmt.Errorf("the model failed after a piece and was called %d times in all, want once; the reader has %q",
				len(out.sent), r.text)
		case !errors.Is(out.err, down):
			return otherError(out.err, down)
		}
		return nil
	})
}
