package fit

import (
	"cmp"
	"context"
	"fmt"

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
	f.keep(j)
	f.sayWindow(ctx, j)
	if j.exceeds() == "" {
		return nil, nil
	}
	margin := j.margin()
	for try := 1; ; try++ {
		s := f.words.sketch(v)
		least := try == planTries || !s.shrink(j.room.less(margin), j.room.share(f.opts.Target).less(margin))
		if least {
			s = f.words.sketch(v)
			s.leaveLeast()
		}
		p := &middleware.Plan{Edits: s.edits(), Why: s.why(j)}
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
		switch {
		case after.exceeds() == "":
			return p, nil
		case least:
			return nil, nil
		}
		margin = margin.plus(after.beyond())
	}
}

// mend repairs what is about to be sent. It fails if that is too much.
func (f *fitter) mend(_ context.Context, v *middleware.View) (*message.Mended, error) {
	j := f.judge(v)
	f.keep(j)
	if unit := j.exceeds(); unit != "" {
		return nil, f.tooMuch(j, unit)
	}
	return j.mended, nil
}

// tooMuch returns the error for what does not fit.
func (f *fitter) tooMuch(j *judgement, unit Unit) error {
	if e := f.irreducible(j); e != nil {
		return &middleware.Error{Kind: middleware.Irreducible, Op: Name, Err: e}
	}
	return &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: &overtaken{unit: unit, size: j.sent().in(unit), room: j.room.in(unit)}}
}

// overtaken says that what is to be sent is not what was made to fit, and could be:
// another call with the same history was quicker, and has a larger window; or some
// middleware behind has added to it.
type overtaken struct {
	unit       Unit
	size, room int
}

func (e *overtaken) Error() string {
	return fmt.Sprintf("the request has %d %s and there is room for %d, though it was made to fit: "+
		"a middleware behind fit makes it larger, or an event says why edits were refused; put fit last", e.size, e.unit, e.room)
}
