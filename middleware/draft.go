package middleware

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// DraftResult is what a chain would do to a request. It never changes, is safe
// for concurrent use, and everything in it is read-only. [DraftResult.Refold],
// [DraftResult.Rewrite] and [DraftResult.Without] return changed ones,
// [DraftResult.Commit] keeps one. One that is not committed is as good as never
// made.
type DraftResult struct {
	Before *View       // what the model would be sent with the edits remembered so far
	After  *View       // what it would be sent, as far as the last editing middleware
	Edits  []DraftEdit // what is new in After, in the order of the history
	Events []Event     // what observers would have heard of the dry run, refusals among it

	runs []*View // of each history that editors have worked on; the last is After
}

// Draft asks what a chain would do to a request now: which view the model would
// be sent, and by which edits. It runs the middlewares as a call does, with
// triggers, Request.Force, remembered edits, verification and, if a plan has
// folds that are dear to make, making them. But no model is asked, nothing is
// written to the journal or remembered otherwise, and no observer hears of it.
// If the draft is dropped, the next call does what it would have done without.
//
// The request counts as a new one, even if it is that of a call under way, and
// belongs to the caller again when Draft returns. Events that a conversation
// has once come in every draft.
//
// All other middlewares do what they do in a call: they see the view and an
// empty response, as in [Apply], once or as often as they ask for it; the last
// time counts. What they put behind the last editing middleware is not part of
// the draft.
//
// It is an error if a middleware answers by itself, or passes on a Request made
// anew: what lies behind that takes it for a call. Other errors are those of a
// call: of the context, of kind [Invalid] for a request that is wrong, and of
// editors under Strict.
func Draft(ctx context.Context, mw Middleware, req *Request) (*DraftResult, error) {
	var (
		mu     sync.Mutex
		events []Event
		sent   *Request
	)
	r := *req
	r.Messages = appendOwn(nil, req.Messages)
	r.Tools = slices.Clone(req.Tools)
	r.Force = slices.Clone(req.Force)
	if req.Budget != nil {
		b := *req.Budget
		r.Budget = &b
	}
	r.owner, r.view, r.left = nil, nil, false
	r.probe = &probe{outer: req.probe}
	r.observers = &observation{fn: func(_ context.Context, e Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}}
	capture := func(_ context.Context, r *Request, _ Emit) (*Response, error) {
		mu.Lock()
		defer mu.Unlock()
		sent = r
		return &Response{}, nil
	}
	if _, err := mw(capture)(ctx, &r, nil); err != nil {
		return nil, err
	}
	switch {
	case sent == nil:
		return nil, undrafted("a middleware answered by itself, so nothing would be sent")
	case sent.probe == nil:
		return nil, undrafted("a middleware made a Request anew, want a copy of the one that it was given")
	}
	runs, err := sent.runs(ctx)
	if err != nil {
		return nil, err
	}
	return newDraft(runs, events), nil
}

func undrafted(why string) error {
	return &Error{Op: "middleware", Err: errors.New("Draft: " + why)}
}

// runs returns what would be kept of a request that has come through a dry run,
// or, if no editor has seen it, the view of it as it is.
func (r *Request) runs(ctx context.Context) ([]*View, error) {
	if len(r.probe.kept) > 0 {
		return r.probe.kept, nil
	}
	own := *r
	if own.owner == nil {
		own.owner = newChain(Env{})
	}
	v, err := own.openAnew(ctx)
	return []*View{v}, err
}

func newDraft(runs []*View, events []Event) *DraftResult {
	d := &DraftResult{Events: events}
	for n, v := range runs {
		v = v.alone()
		d.runs = append(d.runs, v)
		for _, it := range v.fresh() {
			d.Edits = append(d.Edits, v.draftEdit(n, it, events))
		}
	}
	d.Before, d.After = d.runs[0].opened().alone(), d.runs[len(runs)-1]
	return d
}
