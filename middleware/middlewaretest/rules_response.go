package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
)

// responseRules are about what the caller receives: a response, an error, or pieces.
var responseRules = []rule{
	{"response", both(checkResponse), "the model is called once, also if emit is nil, and its message, usage " +
		"and stop reason are returned unchanged, since loops and cost reports depend on them"},
	{"error", both(checkError), "an error comes without a response, and errors.Is, errors.As and KindOf return " +
		"the same for it as for that of the next model, since callers decide by them what to do"},
	{"canceled-before", both(checkCanceledBefore), "a call whose context is done returns an error for which " +
		"errors.Is(err, ctx.Err()) is true and KindOf is Canceled, since callers must distinguish it from a " +
		"failure"},
	{"canceled-during", both(checkCanceledDuring), "a context that is canceled during a call cancels the call " +
		"of the next model, and its error is returned unchanged: the caller does not wait for the answer, which " +
		"would still be paid for"},
	{"context", both(checkContext), "the next model receives the caller's context or one derived from it, since " +
		"traces, deadlines and credentials are in it"},
	{"pieces", both(checkPieces), "the pieces of the answer reach emit in order, each once, never two at the " +
		"same time, all before the call returns, since a reader builds the answer from them"},
	{"emit-error", both(checkEmitError), "an error of emit means that the reader has left: it is returned " +
		"unchanged, nothing is emitted after it, and no model is called again, since the answer would not be " +
		"read"},
	{"no-retry", both(checkNoRetry), "after the first piece, the next model is never called again, and its " +
		"error is returned, since the reader cannot return the piece and would read two answers as one"},
}

func denied() error {
	return &middleware.Error{Kind: middleware.Denied, Op: "provider", Err: errors.New("status 403")}
}

func checkResponse(s *subject, req *middleware.Request) error {
	resp := middleware.Response{
		Message: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "I read it."},
			message.ToolCall{ID: "x", Name: "read_file", Arguments: `{ "path": "a" }`}),
		Usage: message.Usage{Input: 1000, CacheRead: 900, Output: 20, Thinking: 5},
		Stop:  middleware.StopTools,
		Cache: report.Cache{Miss: "messages_changed", Missed: 50},
	}
	out, err := s.instance(testkit.Give(resp, middleware.Delta{Text: "I read it."})).answered(context.Background(), req, nil)
	if err != nil {
		return err
	}
	got := *out.resp
	got.Cache = report.Cache{Miss: got.Cache.Miss, Missed: got.Cache.Missed} // a chain sets the other fields
	if u := got.Message.Usage; u != nil && *u == resp.Usage {                // and this one
		got.Message.Usage = nil
	}
	if !reflect.DeepEqual(got, resp) {
		err = fmt.Errorf("response %+v, want %+v", got, resp)
	}
	return err
}

func checkError(s *subject, req *middleware.Request) error {
	for _, want := range []error{errors.New("the provider is broken"), denied()} {
		out, err := s.instance(Fail(want)).call(context.Background(), req, nil)
		switch {
		case err != nil:
			return err
		case out.resp != nil:
			return fmt.Errorf("when the model fails: response %v and error %s", out.resp, fmt.Sprint(out.err))
		}
		if err := sameError(out.err, want, middleware.KindOf(want)); err != nil {
			return err
		}
	}
	return nil
}

// sameError returns an error unless got is the error want and of that kind. It wraps
// neither: the error of a test is neither.
func sameError(got, want error, kind middleware.ErrorKind) error {
	k := middleware.KindOf(got)
	switch {
	case !errors.Is(got, want):
		return fmt.Errorf("error %s, want one that is %s", fmt.Sprint(got), fmt.Sprint(want))
	case k != kind:
		return fmt.Errorf("error %s is of kind %s, want %s", fmt.Sprint(got), fmt.Sprint(k), fmt.Sprint(kind))
	}
	return nil
}

func checkCanceledBefore(s *subject, req *middleware.Request) error {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	for _, ctx := range []context.Context{canceled, late} {
		out, err := s.instance(done()).call(ctx, req, nil)
		if err == nil {
			err = sameError(out.err, ctx.Err(), middleware.Canceled)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkCanceledDuring(s *subject, req *middleware.Request) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reached := true
	in := s.instance(func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		cancel()
		timer := time.NewTimer(s.patience / 2)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			reached = false
			return nil, context.Canceled
		}
	})
	out, err := in.call(ctx, req, nil)
	switch {
	case err != nil:
		return err
	case !reached:
		return errors.New("the caller's context was canceled, and that of the model was not")
	}
	return sameError(out.err, ctx.Err(), middleware.Canceled)
}

type contextKey struct{}

func checkContext(s *subject, req *middleware.Request) error {
	var got any
	in := s.instance(func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		got = ctx.Value(contextKey{})
		return done()(ctx, r, emit)
	})
	_, err := in.answered(context.WithValue(context.Background(), contextKey{}, "trace 7"), req, nil)
	if err == nil && got != "trace 7" {
		err = fmt.Errorf("a value of the caller's context is %v in that of the model, want %q", got, "trace 7")
	}
	return err
}

// pieces answers in seven pieces.
func pieces() middleware.Model {
	resp := middleware.Response{
		Message: message.Assistant(message.Thinking{Text: "first I think. "}, message.Text{Text: "Then I read it."},
			message.ToolCall{ID: "x", Name: "read_file", Arguments: `{"path":"a"}`}),
		Stop: middleware.StopTools,
	}
	return testkit.Give(resp,
		middleware.Delta{Thinking: "first "}, middleware.Delta{Thinking: "I think. "},
		middleware.Delta{Text: "Then "}, middleware.Delta{Text: "I read"}, middleware.Delta{Text: " it."},
		middleware.Delta{Call: &middleware.CallDelta{ID: "x", Name: "read_file", Arguments: `{"path":`}},
		middleware.Delta{Call: &middleware.CallDelta{Arguments: `"a"}`}},
	)
}

// reader joins pieces.
type reader struct {
	text, thinking, call string

	read      int
	failAfter int         // number of pieces after which emit returns an error; 0: never
	busy      atomic.Bool // emit is running
	overlap   atomic.Bool // emit was called while it was running
	closed    atomic.Bool // the call has returned
	late      atomic.Bool // emit was called after that
}

var errReaderLeft = errors.New("the reader has left")

func (r *reader) emit(d middleware.Delta) error {
	if r.closed.Load() {
		r.late.Store(true)
		return errReaderLeft
	}
	if r.busy.Swap(true) {
		r.overlap.Store(true)
		return errReaderLeft
	}
	defer r.busy.Store(false)
	r.read++
	r.text += d.Text
	r.thinking += d.Thinking
	if d.Call != nil {
		r.call += fmt.Sprintf("%s%s%s", d.Call.ID, d.Call.Name, d.Call.Arguments)
	}
	if r.failAfter > 0 && r.read >= r.failAfter {
		return errReaderLeft
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

func checkPieces(s *subject, req *middleware.Request) error {
	const text, thinking, call = "Then I read it.", "first I think. ", `xread_file{"path":"a"}`
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
}

func checkEmitError(s *subject, req *middleware.Request) error {
	r := &reader{failAfter: 1}
	out, err := s.instance(pieces()).call(context.Background(), req, r.emit)
	r.closed.Store(true)
	switch {
	case err != nil:
		return err
	case r.read == 0: // rule "pieces" reports that
		return nil
	case r.read > 1:
		return fmt.Errorf("emit failed, and %d more pieces were emitted", r.read-1)
	case !errors.Is(out.err, errReaderLeft):
		return sameError(out.err, errReaderLeft, middleware.Unknown)
	}
	return errors.Join(out.calledOnce(), r.misuse())
}

func checkNoRetry(s *subject, req *middleware.Request) error {
	down := &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: errors.New("connection lost")}
	script := Script(Fail(down, "The build "), Say("The build fails."))
	r := &reader{}
	out, err := s.instance(script.Model).call(context.Background(), req, r.emit)
	switch {
	case err != nil:
		return err
	case r.read == 0:
		return nil
	case len(out.sent) != 1:
		return fmt.Errorf("the model failed after a piece and was called %d times, want once; the reader has %q",
			len(out.sent), r.text)
	}
	return sameError(out.err, down, middleware.Unavailable)
}
