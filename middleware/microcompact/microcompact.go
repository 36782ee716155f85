package microcompact

import (
	"cmp"
	"context"
	"slices"

	"github.com/laconic-go/laconic/middleware"
)

// Names of what the middleware does, in events and in the journal. In
// [middleware.Request.Force], Name has old rounds shortened.
const (
	Name    = "microcompact"
	AtBirth = "microcompact at birth"
)

// untouched is how many messages a view has that stays as it is.
const untouched = 2

// New returns the middleware. It is safe for concurrent use, and several of them
// may stand in one chain. It panics with "microcompact: …" if the options are not
// valid; [Options.Validate] tells beforehand.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("microcompact: " + err.Error())
	}
	opts.KeepRounds = max(cmp.Or(opts.KeepRounds, DefaultKeepRounds), 0)
	opts.Limit.Results = cmp.Or(opts.Limit.Results, DefaultResults)
	opts.FreshShare = cmp.Or(opts.FreshShare, DefaultFreshShare)
	opts.Protect = append(slices.Clone(opts.Protect), alwaysProtected)
	old := middleware.Editing(Name, (&editor{opts}).plan, middleware.Options{
		Trigger: opts.Trigger, MinCalls: opts.MinCalls, Strict: opts.Strict,
	})
	if opts.FreshShare < 0 {
		return old
	}
	fresh := middleware.Editing(AtBirth, (&birth{opts.FreshShare, opts.Protect}).plan, middleware.Options{Strict: opts.Strict})
	return middleware.Chain(fresh, old)
}

// editor shortens old rounds, by options that are complete.
type editor struct{ Options }

func (o *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Len() <= untouched {
		return nil, nil
	}
	s := o.survey(ctx, v, o.Batch == Batch{} && v.Env().Archive == nil) // else it is open whether anything will go
	ripe := o.isRipe(&s)
	if ripe && !s.making {
		s = o.survey(ctx, v, true)
		ripe = len(s.edits) > 0
	}
	if ripe && o.Digest > 0 {
		s.digest(o.Digest)
		ripe = o.isRipe(&s)
	}
	if !ripe {
		return nil, nil
	}
	return &middleware.Plan{
		Why:   "shortened " + s.done.String(),
		Items: s.done.Items(), Detail: s.done, Edits: s.edits,
	}, nil
}

// isRipe reports whether there is something to do, and a batch of it.
func (o *editor) isRipe(s *survey) bool {
	return s.done.Items() > 0 && o.Batch.enough(s.done.Results, s.view.Size().Charged(s.freed))
}

// enough reports whether a batch has come together.
func (b Batch) enough(results, tokens int) bool {
	return b == Batch{} || b.Results > 0 && results >= b.Results || b.Tokens > 0 && tokens >= b.Tokens
}
