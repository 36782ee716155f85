package middleware

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// draft is a plan on its way to a view.
type draft struct {
	layer  *layer
	before *View

	made    bool
	plan    *Plan
	records []*Record
	after   *View // nil: nothing to do, or not possible
	err     error
	refused bool // err says which rule the plan breaks
}

// once lets the editor plan, the first time it is called, and verifies the
// plan.
func (d *draft) once(ctx context.Context) *Plan {
	if d.made {
		return d.plan
	}
	d.made = true
	if d.plan, d.err = d.propose(ctx); d.err != nil || d.plan == nil || len(d.plan.Edits) == 0 {
		return d.plan
	}
	d.apply()
	if d.after == nil {
		return nil
	}
	d.plan.Saved = d.before.Tokens() - d.after.Tokens()
	return d.plan
}

func (d *draft) propose(ctx context.Context) (p *Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("editor panicked: %v\n%s", r, debug.Stack())
		}
	}()
	if p, err = d.layer.editor(ctx, d.before); p != nil {
		own := *p
		p = &own
	}
	return p, err
}

// apply makes the view of the plan and verifies it.
func (d *draft) apply() {
	d.after = nil
	records, err := d.before.translate(d.layer.name, d.plan)
	if err == nil {
		d.records = records
		d.after, err = d.before.withEdits(records, d.plan)
	}
	if err == nil {
		err = verify(d.before, d.after, records, d.plan.lazy())
	}
	if err != nil {
		d.after, d.err, d.refused = nil, err, true
	}
}

// finish makes the folds that are still to be made, and verifies again.
func (d *draft) finish(ctx context.Context) {
	if !d.plan.lazy() {
		return
	}
	plan := *d.plan
	plan.Edits = slices.Clone(plan.Edits)
	for i := range plan.Edits {
		e := &plan.Edits[i]
		if e.Make == nil {
			continue
		}
		msgs, err := d.makeFold(ctx, e)
		if err != nil {
			d.after, d.err = nil, err
			return
		}
		e.Messages, e.Make = msgs, nil
	}
	d.plan = &plan
	d.apply()
}

// makeFold makes the messages of one fold.
func (d *draft) makeFold(ctx context.Context, e *Edit) (msgs []message.Message, err error) {
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
	newer := make(list, len(records))
	for i, r := range records {
		newer[i] = weigh(v.call.chain.counter, r, v.call.body)
	}
	l, err := v.list.over(newer)
	if err != nil {
		return nil, err
	}
	w := *v
	w.list, w.edited = l, true
	w.shape = l.apply(v.call)
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Make != nil {
			w.msgTokens += e.Estimate
		}
	}
	return &w, nil
}
