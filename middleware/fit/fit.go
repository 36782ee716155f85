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
		middleware.Editing(Name, f.plan, middleware.Options{}),
		f.declare,
		f.watch,
		middleware.Mending(Name, f.mend),
	)
}

// fitter is the middleware. Its options are complete.
type fitter struct {
	opts  Options
	words *words
}

// planTries bounds how often a plan is made anew since the repairs of its view
// took more than thought. The last one leaves as little as can be.
const planTries = 4

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
	var beyond load
	for try := 1; ; try++ {
		s := f.sketch(j)
		r := j.roomBeside(s.before).less(beyond)
		least := try == planTries || !s.shrink(r, f.opts.Target)
		if least {
			s = f.sketch(j)
			s.leaveLeast()
		}
		p := &middleware.Plan{Edits: s.edits(), Why: s.why(excess[0])}
		p.Items = len(p.Edits)
		w, err := v.Preview(Name, p)
		switch {
		case err != nil && least:
			return nil, err
		case err != nil: // as in a history that is broken
			try = planTries - 1
			continue
		}
		after := f.judge(w)
		left := after.excess()
		switch {
		case left == nil:
			return p, nil
		case least:
			return nil, nil
		}
		beyond = beyond.plus(sizeOf(left))
	}
}

// sizeOf returns by how much limits are broken.
func sizeOf(excess []message.Excess) load {
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
func (f *fitter) mend(_ context.Context, v *middleware.View) (*message.Mended, error) {
	j := f.judge(v)
	excess := j.excess()
	f.keep(j)
	if excess != nil {
		return nil, f.tooMuch(j, excess[0])
	}
	return j.mended, nil
}

// tooMuch returns the error for what does not fit.
func (f *fitter) tooMuch(j *judgement, excess message.Excess) error {
	if e := f.irreducible(j); e != nil {
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
