package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// answerRules are about what comes back.
func answerRules() []rule {
	return []rule{
		{
			name: "one-of",
			text: "exactly one of response and error is non-nil, in good and bad cases, " +
				"since a caller looks at one of them and uses the other without asking",
			check: checkOneOf,
		},
		{
			name: "response",
			text: "the model is called once, and its message, usage and stop reason come back as they are, " +
				"since loops go by them and costs are counted by them",
			check: checkResponse,
		},
		{
			name: "error",
			text: "an error of the next model keeps its identity: errors.Is, errors.As and KindOf find in it what they found before, " +
				"since callers decide by them what to do",
			check: checkError,
		},
		{
			name: "canceled-before",
			text: "a call whose context is done returns an error for which errors.Is(err, ctx.Err()) holds and KindOf is Canceled, " +
				"since callers must tell it from a failure",
			check: checkCanceledBefore,
		},
		{
			name: "canceled-during",
			text: "a context that is done in the middle of a call ends the call of the next model, and its error comes back as it is: " +
				"nobody waits for the answer, and it would still be paid for",
			check: checkCanceledDuring,
		},
		{
			name: "context",
			text: "the next model gets the caller's context or one derived from it, " +
				"since traces, deadlines and credentials travel in it",
			check: checkContext,
		},
	}
}

// fault is an error of a type of its own.
type fault struct{ code int }

func (f *fault) Error() string { return fmt.Sprintf("fault %d", f.code) }

func denied() error {
	return &middleware.Error{Kind: middleware.Denied, Op: "provider", Err: &fault{code: 403}}
}

func checkOneOf(s *subject) error {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	cases := []struct {
		when   string
		ctx    context.Context //nolint:containedctx // a table of calls
		answer middleware.Model
	}{
		{"the model answers", context.Background(), done()},
		{"the model fails", context.Background(), Fail(denied())},
		{"the context is done", canceled, done()},
	}
	return both(func(req *middleware.Request) error {
		for _, c := range cases {
			out, err := s.instance(c.answer).call(c.ctx, req, nil)
			if err != nil {
				return err
			}
			if (out.resp == nil) == (out.err == nil) {
				return fmt.Errorf("when %s: response %v and error %s", c.when, out.resp, words(out.err))
			}
		}
		return nil
	})
}

func checkResponse(s *subject) error {
	resp := middleware.Response{
		Message: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "I read it."},
			message.ToolCall{ID: "x", Name: "read_file", Arguments: `{ "path": "a" }`}),
		Usage: message.Usage{Input: 1000, CacheRead: 900, Output: 20, Thinking: 5},
		Stop:  middleware.StopTools,
	}
	return both(func(req *middleware.Request) error {
		out, err := s.instance(Give(resp)).answered(context.Background(), req, nil)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(*out.resp, resp) {
			return fmt.Errorf("response %+v, want %+v", *out.resp, resp)
		}
		return nil
	})
}

func checkError(s *subject) error {
	plain := errors.New("the provider has a bad day")
	return both(func(req *middleware.Request) error {
		for _, want := range []error{plain, denied()} {
			out, err := s.instance(Fail(want)).call(context.Background(), req, nil)
			if err != nil {
				return err
			}
			if !errors.Is(out.err, want) {
				return otherError(out.err, want)
			}
			if got, kind := middleware.KindOf(out.err), middleware.KindOf(want); got != kind {
				return fmt.Errorf("error %s is of kind %v, want %v", words(out.err), got, kind)
			}
		}
		return nil
	})
}

// otherError says that an error is not the one that it should be. It does not
// wrap either: a test that fails is neither.
func otherError(got, want error) error {
	return fmt.Errorf("error %s, want one that is %s", words(got), words(want))
}

func words(err error) string {
	if err == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", err.Error())
}

// isCanceled reports an error that is not that of the context.
func isCanceled(ctx context.Context, err error) error {
	switch {
	case !errors.Is(err, ctx.Err()):
		return otherError(err, ctx.Err())
	case middleware.KindOf(err) != middleware.Canceled:
		return fmt.Errorf("error %s is of kind %v, want %v", words(err), middleware.KindOf(err), middleware.Canceled)
	}
	return nil
}

func checkCanceledBefore(s *subject) error {
	return both(func(req *middleware.Request) error {
		canceled, cancel := context.WithCancel(context.Background())
		cancel()
		late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
		defer cancel()
		for _, ctx := range []context.Context{canceled, late} {
			out, err := s.instance(done()).call(ctx, req, nil)
			if err != nil {
				return err
			}
			if err := isCanceled(ctx, out.err); err != nil {
				return err
			}
		}
		return nil
	})
}

func checkCanceledDuring(s *subject) error {
	return both(func(req *middleware.Request) error {
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
		return isCanceled(ctx, out.err)
	})
}

type contextKey struct{}

func checkContext(s *subject) error {
	return both(func(req *middleware.Request) error {
		var got any
		in := s.instance(func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			got = ctx.Value(contextKey{})
			return done()(ctx, r, emit)
		})
		if _, err := in.answered(context.WithValue(context.Background(), contextKey{}, "trace 7"), req, nil); err != nil {
			return err
		}
		if got != "trace 7" {
			return fmt.Errorf("a value of the caller's context is %v in that of the model, want %q", got, "trace 7")
		}
		return nil
	})
}
