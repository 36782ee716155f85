package fit

import (
	"cmp"
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Name is what the middleware is called in events, in the journal and in errors.
const Name = "fit"

// New returns the middleware. It is safe for concurrent use. It panics with
// "fit: …" if the options are not valid; [Options.Validate] tells beforehand.
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
		middleware.Repairing(Name, f.mend),
	)
}

// fitter is the middleware. Its options are complete.
type fitter struct {
	opts  Options
	words *words
}

// planTries bounds how often a plan is made anew since the repairs of its view
// took more than thought, or less.
const planTries = 6

// spareShare is the share of the room that repairs may leave unused.
const spareShare = 0.1

// plan returns the edits that make a view fit. It returns nil if the view fits,
// and if nothing can make it fit: then [fitter.mend] says why.
func (f *fitter) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	j := f.judge(v)
	excess := j.excess()
	f.keep(j)
	f.sayWindow(ctx, j)
	if excess == nil {
		return nil, nil
	}
	if plan := f.best(ctx, j, excess[0]); plan != nil {
		return plan, nil
	}
	plan, after, err := f.least(ctx, j, excess[0])
	if err == nil && after.excess() == nil {
		return plan, nil
	}
	sure := f.judgeBy(v, true)
	if sure.room == j.room {
		return nil, err
	}
	// A guess refuses nothing: what cannot be made to fit into it is sent whole, or,
	// if the provider has just refused that, as short as it can be.
	if err == nil && attemptOf(ctx).again && f.judgeBy(after.view, true).excess() == nil {
		return plan, nil
	}
	if excess = sure.excess(); excess == nil {
		return nil, nil
	}
	if plan := f.best(ctx, sure, excess[0]); plan != nil {
		return plan, nil
	}
	if plan, after, err = f.least(ctx, sure, excess[0]); err != nil || after.excess() != nil {
		return nil, err
	}
	return plan, nil
}

// best returns the plan that makes a view fit and leaves the most of it, or nil.
func (f *fitter) best(ctx context.Context, j *judgement, excess message.Excess) *middleware.Plan {
	var margin load
	var best *middleware.Plan
	most := -1 // tokens of the view that the best plan makes
	for range planTries {
		s := f.sketch(ctx, j)
		if !s.shrink(j.roomBeside(s.before).less(margin), f.opts.Target) {
			break
		}
		plan, after, err := f.try(s, excess)
		if err != nil { // as in a history that is broken, which cannot be cut everywhere
			break
		}
		if left := after.excess(); left != nil {
			margin = margin.plus(beyond(left))
			continue
		}
		if n := after.view.Size().Counted; n > most {
			best, most = plan, n
		}
		spare := j.view.Size().Charged(j.added-after.added) + margin.tokens // that was kept free for repairs of what is gone
		if float64(spare) <= spareShare*float64(j.room) {
			break
		}
		margin.tokens -= spare
	}
	return best
}

// least returns the plan that leaves the least, and what is to be known of its view.
func (f *fitter) least(ctx context.Context, j *judgement, excess message.Excess) (*middleware.Plan, *judgement, error) {
	s := f.sketch(ctx, j)
	s.leaveLeast()
	return f.try(s, excess)
}

// try returns the plan of a sketch, and what is to be known of the view that it
// makes.
func (f *fitter) try(s *sketch, excess message.Excess) (*middleware.Plan, *judgement, error) {
	plan := &middleware.Plan{Edits: s.edits(), Why: s.why(excess)}
	plan.Items = len(plan.Edits)
	v, err := s.view.Preview(Name, plan)
	if err != nil {
		return nil, nil, err
	}
	j := f.judgeBy(v, s.sure)
	if j.excess() == nil {
		f.keep(j)
	}
	return plan, j, nil
}

// beyond returns by how much limits are broken.
func beyond(excess []message.Excess) load {
	var l load
	for _, e := range excess {
		switch e.Limit {
		case Tokens:
			l.tokens = e.Is - e.Most
		case message.RequestBytes:
			l.bytes = e.Is - e.Most
		default:
		}
	}
	return l
}

// mend repairs what is about to be sent. It fails if that is too much.
func (f *fitter) mend(ctx context.Context, v *middleware.View) (*message.Repaired, error) {
	j := f.judgeBy(v, true)
	excess := j.excess()
	f.keep(j)
	if excess != nil {
		return nil, f.tooMuch(ctx, j, excess[0])
	}
	attemptOf(ctx).sent.Store(int64(j.charged()))
	return j.mended, nil
}

// tooMuch returns the error for what does not fit.
func (f *fitter) tooMuch(ctx context.Context, j *judgement, excess message.Excess) error {
	if e := f.irreducible(ctx, j); e != nil {
		return &middleware.Error{Kind: middleware.Irreducible, Op: Name, Err: e}
	}
	return &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: &overtaken{excess}}
}

// overtaken says that what is to be sent is not what was made to fit, and could be:
// another call with the same history was quicker, and has a larger window; or some
// middleware behind has added to it.
type overtaken struct{ message.Excess }

func (e *overtaken) Error() string {
	return e.String() + ", though it was made to fit: " +
		"a middleware behind fit makes it larger, or an event says why edits were refused; put fit last"
}
