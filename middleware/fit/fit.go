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
	if !core.Refused(v) && core.Repeated(v, Name) && j.withoutMargin().excess() == nil {
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

// attempt is a way to make a view fit.
type attempt struct {
	margin     bool // tokens are kept free for the error of the count; skipped if there is no such error
	sure       bool // the window is not a guess; skipped if it was none
	refused    bool // skipped unless the provider has just refused the request
	whole      bool // nothing is removed
	handles    bool // what is removed leaves handles, and facts
	lastResort bool // calls and results of protected tools and arguments of the newest calls are cut
	least      bool // as little as possible is left
}

// attempts are made in this order; the first plan that fits is taken. A window that is only a guess is no
// reason to fail: what does not fit into it is sent whole, or as short as possible if that was just refused.
var attempts = [...]attempt{
	{margin: true, handles: true},
	{margin: true, refused: true, least: true},
	{whole: true},
	{handles: true},
	{},
	{least: true},
	{lastResort: true, handles: true},
	{lastResort: true},
	{lastResort: true, least: true},
	{sure: true, refused: true, lastResort: true, least: true},
	{sure: true, whole: true},
	{sure: true, handles: true},
	{sure: true},
	{sure: true, least: true},
	{sure: true, lastResort: true, handles: true},
	{sure: true, lastResort: true},
	{sure: true, lastResort: true, least: true},
}

// fitting returns the first plan that makes a view fit. It is nil if the view fits without one, or if no plan helps.
func (f *fitter) fitting(ctx context.Context, j *judgement) (*middleware.Plan, error) {
	var failed error
	whole, sure, refused := j.withoutMargin(), f.judge(j.view, true), core.Refused(j.view)
	for _, a := range attempts {
		if a.margin && j.margin == 0 || a.sure && sure.room == whole.room || a.refused && !refused {
			continue
		}
		from := whole
		switch {
		case a.sure:
			from = sure
		case a.margin && !a.least:
			from = j
		}
		if a.whole {
			if from.excess() == nil {
				return nil, nil
			}
			continue
		}
		plan, err := f.try(ctx, from, a)
		if plan != nil || ctx.Err() != nil {
			return plan, ctx.Err()
		}
		failed = err
	}
	return nil, failed
}

// try returns the plan of an attempt, or nil if it does not fit.
func (f *fitter) try(ctx context.Context, j *judgement, a attempt) (*middleware.Plan, error) {
	var missing load
	for try := range 6 { // repairs and facts may take more tokens than expected
		s := f.sketch(ctx, j, a)
		if try > 2 {
			s.line = 0 // no facts
		}
		if !s.shrink(s.room(j.free(s.before, missing)), j.target(f.opts.Target)) || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		plan, after, err := f.planOf(s, j)
		if err != nil { // for example if messages of a broken history cannot be folded alone
			return nil, err
		}
		left := after.excess()
		if left == nil {
			f.remember(after)
			return plan, nil
		}
		missing = missing.plus(above(left))
	}
	return nil, nil
}

// isNewestAnswer reports whether a message is the one with the calls of the newest round, and
// not in the messages of a fold.
func isNewestAnswer(v *middleware.View, i int) bool {
	e := v.Span(i).Edit
	return v.At(i).Role == message.RoleAssistant && v.Protected(i)&middleware.ProtectNewest != 0 && (e == nil || e.Kind != journal.Fold)
}

// planOf returns the plan of a sketch, and what the view is then.
func (f *fitter) planOf(s *sketch, j *judgement) (*middleware.Plan, *judgement, error) {
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
			resp, err = next(ctx, core.Again(req, true), watched)
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
			req = core.Again(req, false)
		}
		return resp, err
	}
}

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
