package middleware

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// proposal is a plan on its way to a view.
type proposal struct {
	layer  *layer
	before *View

	made    bool
	plan    *Plan
	records []*Record
	after   *View // nil: nothing to do, or not possible
	err     error
	refused bool // err says which rule the plan breaks
	dear    bool // the plan has folds that were made, or tried
}

// complete makes the plan, with all that is still to be made of it, and archives
// what it takes out.
func (p *proposal) complete(ctx context.Context) {
	p.once(ctx)
	if p.err == nil && p.after != nil {
		p.finish(ctx)
	}
	if p.err == nil && p.after != nil && ctx.Err() == nil {
		p.keep(ctx)
	}
}

// once lets the editor plan, the first time it is called, and verifies the
// plan.
func (p *proposal) once(ctx context.Context) *Plan {
	if p.made {
		return p.plan
	}
	p.made = true
	if p.plan, p.err = p.propose(ctx); p.err != nil || p.plan == nil || len(p.plan.Edits) == 0 {
		return p.plan
	}
	p.apply()
	if p.after == nil {
		return nil
	}
	p.plan.Saved = p.before.Size().Tokens - p.after.Size().Tokens
	return p.plan
}

func (p *proposal) propose(ctx context.Context) (plan *Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("editor panicked: %v\n%s", r, debug.Stack())
		}
	}()
	if plan, err = p.layer.editor(ctx, p.before); plan != nil {
		own := *plan
		plan = &own
	}
	return plan, err
}

// apply makes the view of the plan and verifies it.
func (p *proposal) apply() {
	var err error
	if p.records, p.after, err = p.before.planned(p.layer.name, p.plan); err != nil {
		p.after, p.err, p.refused = nil, err, true
	}
}

// finish makes the folds that are still to be made, and verifies again.
func (p *proposal) finish(ctx context.Context) {
	if p.dear = p.plan.lazy(); !p.dear {
		return
	}
	plan := *p.plan
	plan.Edits = slices.Clone(plan.Edits)
	for i := range plan.Edits {
		e := &plan.Edits[i]
		if e.Make == nil {
			continue
		}
		msgs, err := p.makeFold(ctx, e)
		if err != nil {
			p.after, p.err = nil, err
			return
		}
		e.Messages, e.Make = msgs, nil
	}
	p.plan = &plan
	p.apply()
}

// makeFold makes the messages of one fold.
func (p *proposal) makeFold(ctx context.Context, e *Edit) (msgs []message.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("fold panicked: %v\n%s", r, debug.Stack())
		}
	}()
	msgs, err = e.Make(ctx)
	if err != nil {
		return nil, fmt.Errorf("make fold: %w", err)
	}
	return msgs, nil
}

// withEdits returns the view with more edits. The folds still to be made count
// as estimated.
func (v *View) withEdits(records []*Record, p *Plan) (*View, error) {
	newer, first := make(list, len(records)), len(v.call.body)
	for i, r := range records {
		newer[i] = weigh(v.call.chain.meter, r, v.call.body)
		first = min(first, r.first())
	}
	l, err := v.list.over(newer)
	if err != nil {
		return nil, err
	}
	w := *v
	w.list, w.edited = l, true
	w.shape = l.applyTo(v, first)
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Make != nil {
			w.msgTokens += e.Estimate
		}
	}
	return &w, nil
}
