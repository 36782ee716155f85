package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Name is the name of the middleware in events, in the journal and in errors.
const Name = "fit"

// New returns the middleware. It is safe for concurrent use. It panics with
// "fit: …" if [Options.Validate] returns an error.
//
// A call goes through five layers: retry repeats it after a refusal, plan makes the
// view smaller, declare adds tool definitions, watch checks the reported usage, and
// repair makes the messages valid or returns the error that they do not fit.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("fit: " + err.Error())
	}
	opts.Target = cmp.Or(opts.Target, DefaultTarget)
	f := &fitter{opts: opts, words: opts.words()}
	return middleware.Chain(
		f.retry,
		middleware.Editing(Name, f.plan, middleware.Options{PauseAfter: -1, EditWithoutArchive: true}),
		f.declare,
		f.watch,
		middleware.Repairing(Name, f.repair),
	)
}

// fitter is the middleware. Its options are complete.
type fitter struct {
	opts  Options
	words *words
}

// plan returns the edits that make a view fit. It returns nil if the view fits, and
// if no edits can make it fit: then [fitter.repair] returns the error.
func (f *fitter) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	j := f.judge(v, false)
	excess := j.excess()
	f.remember(j)
	f.reportUnknownWindow(ctx, j)
	if excess == nil {
		return nil, nil
	}
	plan, after, err := f.shorter(ctx, j)
	if err == nil && after.excess() == nil {
		return plan, nil
	}
	sure := f.judge(v, true)
	if sure.room == j.room {
		return nil, err
	}
	// A window that is only a guess is no reason to fail: what does not fit into it is
	// sent whole, or as short as possible if the provider has just refused that.
	if err == nil && attemptOf(ctx).again && f.judge(after.view, true).excess() == nil {
		return plan, nil
	}
	if sure.excess() == nil {
		return nil, nil
	}
	if plan, after, err = f.shorter(ctx, sure); err != nil || after.excess() != nil {
		return nil, err
	}
	return plan, nil
}

// shorter returns the plan that makes a view fit and keeps the most of it, and what
// the view is then. If no plan makes it fit, it returns the one that keeps the least.
func (f *fitter) shorter(ctx context.Context, j *judgement) (*middleware.Plan, *judgement, error) {
	var best *middleware.Plan // with the most tokens in its view
	var after *judgement
	var margin load // kept free for repairs
	for range 6 {   // repairs may take more or less tokens than expected
		s := f.sketch(ctx, j)
		if !s.shrink(s.room(j.free(s.before, margin)), f.opts.Target) {
			break
		}
		plan, then, err := f.try(s, j)
		if err != nil { // for example if messages of a broken history cannot be folded alone
			break
		}
		if left := then.excess(); left != nil {
			margin = margin.plus(above(left))
			continue
		}
		if best == nil || then.view.Size().Counted > after.view.Size().Counted {
			best, after = plan, then
		}
		spare := j.view.Size().Charged(j.added-then.added) + margin.tokens // kept free for repairs of removed messages
		if spare <= j.room/10 {
			break
		}
		margin.tokens -= spare
	}
	if best != nil {
		return best, after, nil
	}
	return f.shortest(ctx, j)
}

// shortest returns the plan that keeps the least, and what the view is then.
func (f *fitter) shortest(ctx context.Context, j *judgement) (*middleware.Plan, *judgement, error) {
	s := f.sketch(ctx, j)
	s.shrinkAll()
	return f.try(s, j)
}

// try returns the plan of a sketch, and what the view is then.
func (f *fitter) try(s *sketch, j *judgement) (*middleware.Plan, *judgement, error) {
	plan := &middleware.Plan{Edits: s.edits(), Why: s.why() + ": " + j.excess()[0].String()}
	v, err := j.view.Preview(Name, plan)
	if err != nil {
		return nil, nil, err
	}
	after := f.judge(v, j.sure)
	if after.excess() == nil {
		f.remember(after)
	}
	return plan, after, nil
}

// above returns by how much limits are exceeded.
func above(excess []message.Excess) (l load) {
	for _, e := range excess {
		if e.Limit == Tokens {
			l.tokens = e.Is - e.Most
		}
		if e.Limit == message.RequestBytes {
			l.bytes = e.Is - e.Most
		}
	}
	return l
}

// repair returns the repairs of what is about to be sent, or an error if it is too
// large.
func (f *fitter) repair(ctx context.Context, v *middleware.View) (*message.Repaired, error) {
	j := f.judge(v, true)
	excess := j.excess()
	f.remember(j)
	if excess == nil {
		attemptOf(ctx).sent.Store(int64(j.charged()))
		return j.repaired, nil
	}
	if e := f.irreducible(ctx, j); e != nil {
		return nil, &middleware.Error{Kind: middleware.Irreducible, Op: Name, Err: e}
	}
	return nil, &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: &conflict{excess[0]}}
}

// conflict is the error for a request that could be made to fit but was not: a
// concurrent call with the same history and a larger window was faster, or a
// middleware after fit has added to the request.
type conflict struct{ message.Excess }

func (e *conflict) Error() string {
	return e.String() + ", although it can be made to fit: " +
		"a middleware after fit makes it larger, or an event reports why edits were refused; put fit last"
}

// retry calls the model a second time if the provider refuses the request as too
// long: by then the chain has learned the window. It does not after a piece of the
// answer has been emitted.
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
		first, second := attempt{}, attempt{again: true}
		resp, err := next(first.in(ctx), req, watched)
		refused, tooLong := middleware.ParseOverflow(err)
		if !tooLong || begun || ctx.Err() != nil {
			return resp, err
		}
		resp, err = next(second.in(ctx), req.Again(), watched)
		if again, tooLong := middleware.ParseOverflow(err); tooLong {
			then := "once more"
			if second.sent.Load() < first.sent.Load() {
				then = "the shortened one"
			}
			return nil, &middleware.Error{Kind: middleware.Overflow, Op: Name, Err: fmt.Errorf(
				"the provider refused the request as too long%s, and %s%s; set Request.Budget to what it serves: %w",
				numbers(refused), then, numbers(again), err)}
		}
		return resp, err
	}
}

// restart repeats a call that fails with a [conflict]: the next plan begins with the
// edits of the other call. The model has not been called by then.
func restart(next middleware.Model) middleware.Model {
	const tries = 3
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (resp *middleware.Response, err error) {
		for range tries {
			resp, err = next(ctx, req, emit)
			if _, ok := errors.AsType[*conflict](err); !ok {
				break
			}
			req = req.Again()
		}
		return resp, err
	}
}

// attempt is one of the two attempts of a call.
type attempt struct {
	again bool         // the provider has refused the first
	sent  atomic.Int64 // tokens
}

type attemptKey struct{}

func (a *attempt) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// attemptOf returns the attempt that a context belongs to, or a first one.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return new(attempt)
}

// numbers formats the numbers in a refusal.
func numbers(e middleware.PromptLimits) string {
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
