package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// core is what only the middlewares of this module ask the core.
var core = middleware.Internals(edit.Key{})

// Name is the name of the middleware in events, in the journal and in errors.
const Name = "fit"

// New returns the middleware. It is safe for concurrent use. It panics with
// "fit: …" if [Options.Validate] returns an error.
//
// A call goes through four layers: retry repeats it after a refusal, plan makes the
// view smaller, declare adds tool definitions, and repair makes the messages valid or
// returns the error that they do not fit.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("fit: " + err.Error())
	}
	opts.Target = cmp.Or(opts.Target, defaultTarget)
	opts.Placeholder = cmp.Or(opts.Placeholder, defaultPlaceholder)
	opts.Note = cmp.Or(opts.Note, defaultNote)
	f := &fitter{opts}
	return middleware.Chain(
		f.retry,
		middleware.Editing(Name, f.plan, middleware.Options{PauseAfter: -1, EditWithoutArchive: true, ForWindow: true}),
		f.declare,
		middleware.Repairing(Name, f.repair),
	)
}

// fitter is the middleware. Its options are complete.
type fitter struct{ opts Options }

// plan returns the edits that make a view fit. It returns nil if the view fits, and
// if no edits can make it fit: then [fitter.repair] returns the error.
func (f *fitter) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	j := f.judge(v, false)
	excess := j.excess()
	f.remember(j)
	f.reportUnknownWindow(ctx, j)
	f.reportRepeated(ctx, v)
	if excess == nil {
		return nil, nil
	}
	if ctx.Value(secondKey{}) == nil && core.Repeated(v, Name) && j.withoutMargin().excess() == nil {
		return nil, nil // a repeated call sends the same, if there was no room for a margin
	}
	plan, err := f.fitting(ctx, j)
	if plan != nil && plan.LastResort && f.once(v, fmt.Sprintf("last resort %d", len(v.History()))) {
		what, cure := "results or calls of protected tools", "protect fewer tools"
		if slices.ContainsFunc(plan.Edits, func(e middleware.Edit) bool { return e.Kind == journal.Rewrite && isNewestAnswer(v, e.At) }) {
			what, cure = "arguments of the newest calls", "have less written in one call"
		}
		v.Report(ctx, middleware.Event{Kind: middleware.Notice, By: Name, Why: fmt.Sprintf(
			"nothing else helps, so %s are shortened; %s, or take a model with a larger window", what, cure)})
	}
	return plan, err
}

// fitting returns the edits that make a view fit, or nil if there are none. What can only be made
// to fit into the whole room has no margin; it is sent as short as possible if the provider has just
// refused it.
func (f *fitter) fitting(ctx context.Context, j *judgement) (*middleware.Plan, error) {
	if j.margin > 0 {
		plan, after, err := f.milder(ctx, j)
		j = j.withoutMargin()
		if err == nil && plan == nil && ctx.Value(secondKey{}) != nil {
			plan, after, err = f.shortest(ctx, j)
		}
		if err == nil && plan != nil && after.excess() == nil {
			return plan, nil
		}
		if ctx.Err() != nil || j.excess() == nil {
			return nil, ctx.Err()
		}
	}
	plan, after, err := f.shorter(ctx, j)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && after.excess() == nil:
		return plan, nil
	}
	sure := f.judge(j.view, true)
	if sure.room == j.room {
		return nil, err
	}
	// A window that is only a guess is no reason to fail: what does not fit into it is
	// sent whole, or as short as possible if the provider has just refused that.
	if err == nil && ctx.Value(secondKey{}) != nil && f.judge(after.view, true).excess() == nil {
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
// the view is then. Calls and results of protected tools and arguments of the newest calls
// are cut only if nothing else helps. If no plan makes the view fit, it returns the one that keeps the least.
func (f *fitter) shorter(ctx context.Context, j *judgement) (*middleware.Plan, *judgement, error) {
	plan, after, err := f.milder(ctx, j)
	if ctx.Err() != nil || err == nil && after.excess() == nil || !f.hasLastResort(j.view) {
		return plan, after, err
	}
	return f.milder(ctx, j.asLastResort())
}

// hasLastResort reports whether a view has what is cut only if nothing else helps.
func (f *fitter) hasLastResort(v *middleware.View) bool {
	for i := range v.Len() {
		if v.Protected(i)&middleware.ProtectTool != 0 || isNewestAnswer(v, i) {
			return true
		}
	}
	return false
}

// isNewestAnswer reports whether a message is the one with the calls of the newest round, and
// not in the messages of a fold.
func isNewestAnswer(v *middleware.View, i int) bool {
	e := v.Span(i).Edit
	return v.At(i).Role == message.RoleAssistant && v.Protected(i)&middleware.ProtectNewest != 0 && (e == nil || e.Kind != journal.Fold)
}

// milder is shorter, with or without the last resort. It returns nil if there is no plan that leaves
// a margin and all handles and notes.
func (f *fitter) milder(ctx context.Context, j *judgement) (*middleware.Plan, *judgement, error) {
	var best *middleware.Plan // with the most tokens in its view
	var after *judgement
	var margin load      // kept free for repairs
	handles := true      // until they have no room
	for try := range 6 { // repairs and facts may take more or less tokens than expected
		s := f.sketch(ctx, j)
		s.allow(handles, try < 3)
		fits := s.shrink(s.room(j.free(s.before, margin)), j.target(f.opts.Target))
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case !fits && j.margin > 0: // handles and notes are worth more than a margin
			return best, after, nil
		case !fits && best == nil && s.archiver != nil:
			handles = false
			continue
		}
		if !fits {
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
	if best != nil || j.margin > 0 {
		return best, after, nil
	}
	return f.shortest(ctx, j)
}

// shortest returns the plan that keeps the least, and what the view is then.
func (f *fitter) shortest(ctx context.Context, j *judgement) (*middleware.Plan, *judgement, error) {
	s := f.sketch(ctx, j)
	s.shrinkAll()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return f.try(s, j)
}

// try returns the plan of a sketch, and what the view is then.
func (f *fitter) try(s *sketch, j *judgement) (*middleware.Plan, *judgement, error) {
	edits := s.edits()
	s.leaveFacts(edits)
	plan := &middleware.Plan{Edits: edits, Why: s.why() + ": " + j.reason(), LastResort: s.cutsProtected()}
	v, err := core.Preview(j.view, Name, plan)
	if err != nil {
		return nil, nil, err
	}
	after := f.judge(v, j.sure)
	if j.margin == 0 {
		after = after.withoutMargin()
	}
	if after.excess() == nil {
		f.remember(after)
	}
	return plan, after, nil
}

// above returns by how much limits are exceeded.
func above(excess []payload.Excess) (l load) {
	for _, e := range excess {
		if e.Limit == Tokens {
			l.tokens = e.Is - e.Most
		}
		if e.Limit == payload.RequestBytes {
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
		return j.repaired, nil
	}
	if e := f.irreducible(ctx, j); e != nil {
		return nil, &middleware.Error{Kind: middleware.Irreducible, Op: Name, Err: e}
	}
	return nil, &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: fmt.Errorf("%s, %w", excess[0], errAvoidable)}
}

// errAvoidable is the error for a request that could be made to fit but was not: a
// concurrent call with the same history and a larger window was faster, or a
// middleware after fit has added to the request.
var errAvoidable = errors.New("although it can be made to fit: " +
	"a middleware after fit makes it larger, or an event reports why edits were refused; put fit last")

// retry calls the model a second time if the provider refuses the request as too
// long: by then the chain has learned the window. If that misses it by little, a third
// attempt follows. It does not after a piece of the answer has been emitted.
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
		resp, err := next(ctx, req, watched)
		refused, tooLong := middleware.ParseOverflow(err, req)
		if !tooLong || begun || ctx.Err() != nil {
			return resp, err
		}
		for attempt := 2; ; attempt++ {
			refusal := err
			resp, err = next(context.WithValue(ctx, secondKey{}, true), core.Again(req), watched)
			if e, ok := errors.AsType[*Irreducible](err); ok {
				return nil, &middleware.Error{
					Kind: middleware.Irreducible, Op: Name, Err: fmt.Errorf("%w; the provider had refused it: %w", e, refusal),
				}
			}
			again, tooLong := middleware.ParseOverflow(err, req)
			switch {
			case !tooLong:
				return resp, err
			case attempt > 2 || !isNear(again) || begun || ctx.Err() != nil:
				return nil, &middleware.Error{Kind: middleware.Overflow, Op: Name, Err: fmt.Errorf(
					"the provider refused the request as too long%s, and again%s; set the Budget to what it serves: %w",
					numbers(refused), numbers(again), err)}
			}
		}
	}
}

// restart repeats a call that fails with errAvoidable: the next plan begins with the
// edits of the other call. The model has not been called by then. Each failure means that
// one other call has succeeded, and edits made for another window may not hold in this one.
func restart(next middleware.Model) middleware.Model {
	const tries = 10
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (resp *middleware.Response, err error) {
		for range tries {
			if resp, err = next(ctx, req, emit); !errors.Is(err, errAvoidable) {
				break
			}
			req = core.Again(req)
		}
		return resp, err
	}
}

// secondKey is the key in the context of the second attempt of a call.
type secondKey struct{}

// isNear reports whether a refusal names a number of tokens that is at most 3 % of the window too high.
func isNear(e middleware.PromptLimits) bool {
	const share = 0.03
	return e.Sent > 0 && float64(e.Sent+e.Answer-e.Limit) <= share*float64(e.Limit)
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
