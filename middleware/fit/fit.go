package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// layerName is the name of the middleware; see [New].
const layerName = "fit"

// New returns the middleware. It is safe for concurrent use. Its name in events, in the journal and in errors is "fit". It
// panics with "fit: …" if [Options.Validate] returns an error.
//
// A call goes through five layers: retry repeats it after a refusal, plan makes the view smaller, learn reads the answer,
// declare adds tool definitions, and repair makes the messages valid or returns the error that they do not fit.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("fit: " + err.Error())
	}
	opts.Placeholder = cmp.Or(opts.Placeholder, defaultPlaceholder)
	opts.Note = cmp.Or(opts.Note, defaultNote)
	f := &fitter{opts: opts}
	return middleware.Chain(
		f.retry,
		middleware.Editing(layerName, f.plan, middleware.Options{PauseAfter: -1, ForWindow: true}),
		f.learn,
		f.declare,
		middleware.Repairing(layerName, f.repair),
	)
}

// fitter is the middleware. Its options are complete.
type fitter struct {
	opts Options
	net  net
}

// attempt is a way to make a view fit.
type attempt struct {
	margin      bool // it is also made with room for the error of the count, which is no reason to give up more
	onlyShorten bool // no message is left out, so placeholders may have facts
	handles     bool // what is removed has a handle, and what is left out has a note
	lastResort  bool // calls and results of protected tools and arguments of the newest calls are cut
	opaque      bool // rounds with what only the provider can read are left out: last of all, since only then the request can be sent
	least       bool // as little as possible is left
}

// attempts are made in this order. The first whose plan fits is taken.
var attempts = [...]attempt{
	{margin: true, handles: true, onlyShorten: true},
	{margin: true, handles: true},
	{},
	{least: true},
	{handles: true, lastResort: true},
	{lastResort: true},
	{lastResort: true, least: true},
	{lastResort: true, opaque: true, handles: true},
	{lastResort: true, opaque: true, least: true},
}

// plan returns the edits that make a view fit. It returns nil if the view fits, and if no edits can make it fit: then
// [fitter.repair] returns the error.
func (f *fitter) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	j := f.judge(ctx, v, false)
	f.remember(j)
	reportBudget(ctx, v)
	reportRepeated(ctx, v)
	if j.excess() == nil {
		return nil, nil
	}
	if !v.Request().Refused && v.Repeated(layerName) && j.withoutMargin().excess() == nil {
		return nil, nil // a repeated call sends the same, if there was no room for a margin
	}
	plan, err := f.search(ctx, j)
	if plan == nil && ctx.Err() == nil && v.Request().Lenient {
		plan, err = f.smallest(ctx, v)
	}
	if plan != nil && plan.LastResort {
		v.Report(ctx, middleware.Event{Kind: middleware.Notice, By: layerName, Why: "nothing else helps, so arguments of the newest " +
			"calls, or calls and results of protected tools are shortened, or results that only the provider can read are left out; " +
			"have less written in one call, protect fewer tools, or take a model with a larger window"})
	}
	return plan, err
}

// smallest returns the plan of the smallest request, if no plan makes the view fit; nil otherwise.
func (f *fitter) smallest(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	j := f.judge(ctx, v, true)
	if j.excess() == nil {
		return nil, nil
	}
	plan, after, err := f.least(ctx, j)
	if err != nil || after.excess() == nil {
		return nil, err
	}
	return plan, nil
}

// search returns the plan of the first attempt that fits: into the room less the margin, into the whole room, or, if that is
// only a guess, into the room that is sure. The window is a guess after a refusal without a number. If nothing fits the guess,
// a request is first sent as large as the sure room allows, and as small as possible once it was refused. search returns nil
// if the view fits as it is, or if no plan helps.
func (f *fitter) search(ctx context.Context, j *judgement) (*middleware.Plan, error) {
	var failed error
	recalled, sure := recalledIn(ctx, j.view), f.judge(ctx, j.view, true)
	for _, in := range []*judgement{j, j.withoutMargin(), sure} {
		switch {
		case in != j && in.excess() == nil:
			return nil, nil
		case in == j && j.margin == 0, in == sure && sure.room == j.room+j.margin:
			continue // the same as after or before
		}
		for _, a := range attempts {
			if in == j && !a.margin || in == sure && j.view.Request().Refused && !a.least {
				continue
			}
			plan, err := f.try(ctx, in, a, recalled)
			if plan != nil || ctx.Err() != nil {
				return plan, ctx.Err()
			}
			failed = err
		}
	}
	return nil, failed
}

// try returns the plan of an attempt, or nil if it does not fit. It is made once more with less room if repairs, the note,
// facts or bytes take more than expected.
func (f *fitter) try(ctx context.Context, j *judgement, a attempt, recalled recalls) (*middleware.Plan, error) {
	missing := 0
	for range 2 {
		d := f.draft(ctx, j, a, recalled, missing)
		if !d.shrink() || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		plan, after, err := f.planOf(ctx, d)
		if err != nil { // for example if messages of a broken history cannot be left out alone
			return nil, err
		}
		excess := after.excess()
		if excess == nil {
			f.remember(after)
			return plan, nil
		}
		if a.least {
			break
		}
		missing = d.most - d.total // what seemed to be free
		for _, e := range excess {
			missing += d.tokensFor(e)
		}
	}
	return nil, nil
}

// planOf returns the plan of a draft, and what the view is then. The plan is nil if nothing is to be edited.
func (f *fitter) planOf(ctx context.Context, d *draft) (*middleware.Plan, *judgement, error) {
	edits := d.edits()
	if len(edits) == 0 {
		return nil, d.judgement, nil
	}
	plan := &middleware.Plan{Edits: edits, Why: d.why() + ": " + d.reason(), LastResort: d.may.lastResort}
	v, err := d.view.Preview(layerName, plan)
	if err != nil {
		return nil, nil, err
	}
	after := f.judge(ctx, v, d.sure)
	if d.margin == 0 {
		after = after.withoutMargin()
	}
	return plan, after, nil
}

// repair returns the repairs of what is about to be sent, or an error if it is too large.
func (f *fitter) repair(ctx context.Context, v *middleware.View) (*message.Repaired, error) {
	j := f.judge(ctx, v, true)
	f.remember(j)
	if isStrict(ctx) && !j.stricter() {
		return nil, errNotStricter
	}
	excess := j.excess()
	if excess == nil {
		return j.repaired, nil
	}
	if e := f.irreducible(ctx, j); e != nil {
		failed := &middleware.Error{Kind: middleware.Irreducible, Op: layerName, Err: e}
		if v.Request().Lenient {
			v.Report(ctx, middleware.Event{
				Kind: middleware.Failed, By: layerName, Err: failed, Reason: "room",
				Why: "the request is sent as small as it can be, and the provider decides",
			})
			return j.repaired, nil
		}
		return nil, failed
	}
	return nil, &middleware.Error{Kind: middleware.Invalid, Op: layerName, Err: fmt.Errorf("%s, %w", excess[0], errAvoidable)}
}

// retry calls the model a second time if the provider refuses the request as too long: by then the chain has learned the
// window. If that misses it by little, a third attempt follows. It does not after a piece of the answer has been emitted.
// A call that fails with errAvoidable is repeated, at most ten times: the next plan begins with the edits that are remembered by then.
func (f *fitter) retry(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		begun, watched := false, emit
		if emit != nil {
			watched = func(d middleware.Delta) error {
				begun = true
				return emit(d)
			}
		}
		var before error // the newest refusal
		made, restarts, refused := req, 0, 0
		for {
			resp, err := f.net.call(ctx, next, made, watched, &begun)
			if errors.Is(err, errAvoidable) && restarts < 10 { // the model has not been called
				made, restarts = made.Again(false), restarts+1
				continue
			}
			limits, tooLong := middleware.ParseOverflow(err, req)
			if tooLong {
				refused++
			}
			stop := begun || ctx.Err() != nil || f.opts.NoRetry || refused == 3 || refused == 2 && !isNear(limits)
			e, failed := errors.AsType[*Irreducible](err)
			switch {
			case failed && refused > 0:
				err = fmt.Errorf("%w; the provider had refused it: %w", e, before)
				return nil, &middleware.Error{Kind: middleware.Irreducible, Op: layerName, Err: err}
			case !tooLong || stop && refused == 1:
				return resp, err
			case stop:
				const text = "the provider refused the request as too long, and again; set the Budget to what it serves: %w; before: %w"
				return nil, &middleware.Error{Kind: middleware.Overflow, Op: layerName, Err: fmt.Errorf(text, err, before)}
			}
			before, made = err, req.Again(true)
		}
	}
}

// isNear reports whether a refusal names a number of tokens that is at most 3 % of the window too high.
func isNear(e middleware.PromptLimits) bool {
	return e.Sent > 0 && float64(e.Sent+e.Answer-e.Limit) <= 0.03*float64(e.Limit)
}

// errAvoidable is the error for a request that could be made to fit but was not: a concurrent call with the same history and
// a larger window was faster, or a middleware after fit has added to the request.
var errAvoidable = errors.New("although it can be made to fit: " +
	"a middleware after fit makes it larger, or an event reports why edits were refused; put fit last")
