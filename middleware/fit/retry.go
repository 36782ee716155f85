package fit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/laconic-go/laconic/middleware"
)

// retry asks once more if the provider says that the request is too long: by then
// the chain has learned how long it may be. Once a piece has been emitted, nothing
// is asked again.
func (f *fitter) retry(next middleware.Model) middleware.Model {
	next = restart(next)
	if f.opts.NoRetry {
		return next
	}
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		begun := false
		watched := emit
		if emit != nil {
			watched = func(d middleware.Delta) error {
				begun = true
				return emit(d)
			}
		}
		var once, twice attempt
		twice.again = true
		resp, err := next(once.in(ctx), req, watched)
		first, tooLong := middleware.ReadExcess(err)
		if !tooLong || begun || ctx.Err() != nil {
			return resp, err
		}
		resp, err = next(twice.in(ctx), req.Again(), watched)
		if second, still := middleware.ReadExcess(err); still {
			then := "once more"
			if twice.sent.Load() < once.sent.Load() {
				then = "the shortened one"
			}
			return nil, &middleware.Error{Kind: middleware.Overflow, Op: Name, Err: fmt.Errorf(
				"the provider refused the request as too long%s, and %s%s; set Request.Budget to what it serves: %w",
				numbers(first), then, numbers(second), err)}
		}
		return resp, err
	}
}

// attempt is one of two that a call has.
type attempt struct {
	again bool         // the provider has refused the first
	sent  atomic.Int64 // tokens
}

type attemptKey struct{}

func (a *attempt) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// attemptOf returns the attempt that a context belongs to; without one, a first.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return new(attempt)
}

// restart plans anew if another call on the same history was quicker, and wanted
// less: what it has kept is where the next plan begins. The model has not been
// asked then.
func restart(next middleware.Model) middleware.Model {
	const tries = 3
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (resp *middleware.Response, err error) {
		for range tries {
			resp, err = next(ctx, req, emit)
			if _, raced := errors.AsType[*overtaken](err); !raced {
				break
			}
			req = req.Again()
		}
		return resp, err
	}
}

// numbers tells what an error of the provider said.
func numbers(e middleware.Excess) string {
	switch {
	case e.Sent > 0 && e.Limit > 0:
		return fmt.Sprintf(" (%d tokens of %d)", e.Sent, e.Limit)
	case e.Limit > 0:
		return fmt.Sprintf(" (more than %d tokens)", e.Limit)
	case e.Sent > 0:
		return fmt.Sprintf(" (%d tokens)", e.Sent)
	}
	return ""
}
