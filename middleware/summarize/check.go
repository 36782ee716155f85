package summarize

import (
	"context"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// Urgency says how near a fold is.
type Urgency int

// The urgencies.
const (
	None Urgency = iota // nothing is to be done
	Soft                // a fold comes near: [Options.Soft] is met
	Hard                // the next call folds: [Options.Trigger] is met
)

// String returns the urgency in lower case.
func (u Urgency) String() string {
	return [...]string{"none", "soft", "hard"}[min(max(u, None), Hard)]
}

// Status says whether a conversation should be folded.
type Status struct {
	Due       bool    // from the soft threshold on
	Tokens    int     // of all that would be sent
	Threshold int     // tokens: the one that is reached, else the soft one if there is one; 0: it does not go by tokens
	Urgency   Urgency // which threshold is reached
	Why       string  // for people: in numbers
}

// Check says whether a request should be folded by these options, and folds
// nothing. What stands before summarize in the chain, or its Env by
// [middleware.With], is given as before: the tokens are those that they leave. An
// error is of kind [middleware.Invalid]: the options are not valid, or do not fit
// the request.
func Check(ctx context.Context, req *middleware.Request, opts Options, before ...middleware.Middleware) (Status, error) {
	if err := opts.Validate(); err != nil {
		return Status{}, &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: err}
	}
	d, err := middleware.Draft(ctx, middleware.Chain(before...), req)
	if err != nil {
		return Status{}, err
	}
	e := &editor{Options: opts.complete()}
	s, err := e.status(d.After)
	if err != nil {
		return Status{}, &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: err}
	}
	return s, nil
}

// status says how near a fold of a view is.
func (e *editor) status(v *middleware.View) (Status, error) {
	h, _ := e.Trigger.(hard)
	s := Status{Tokens: v.Size().Tokens, Threshold: h.threshold(v)}
	none := func() *middleware.Plan { return nil }
	met, why, err := h.Met(v, none)
	if s.Why = why; err != nil {
		return Status{}, err
	}
	if met {
		s.Due, s.Urgency = true, Hard
		return s, nil
	}
	if e.Soft == nil {
		return s, nil
	}
	if met, s.Why, err = e.Soft.Met(v, none); err != nil {
		return Status{}, err
	}
	s.Threshold, _ = trigger.Threshold(e.Soft, v)
	if met {
		s.Due, s.Urgency = true, Soft
	}
	return s, nil
}
