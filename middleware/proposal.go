package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// proposal is what an editor proposes for a view.
type proposal struct {
	layer  *layer
	before *View
	past   progress     // of the editor so far
	forced bool         // the request forces the edit
	price  journal.Cost // of model calls for the edit

	outcome
}

// outcome is what has come of a proposal so far.
type outcome struct {
	kind      EventKind // Edited, Skipped, Refused, Failed or Misconfigured; "": the editor has not been asked
	plan      *Plan
	records   []*journal.Record // of the plan
	after     *View             // of Edited: the view of the plan
	expensive bool              // messages of folds were made
	err       error             // of Refused, Failed and Misconfigured
	reason    string            // of Failed: as in the event
}

// fail makes an error the outcome.
func (o *outcome) fail(kind EventKind, reason string, err error) {
	o.kind = kind
	o.after = nil
	o.reason = reason
	o.err = err
}

// due reports whether the editor may edit now.
func (p *proposal) due(ctx context.Context) (why string, met bool) {
	l, v := p.layer, p.before
	switch {
	case p.forced && !v.req.Asked:
		return "forced by the request", true
	case !l.opts.ForWindow && slices.Contains(v.session.waiting, l.name):
		return "its edit was undone; it waits for the next message of the user, or to be forced by the program", false
	case v.session.editedElsewhere && !l.opts.ForWindow:
		return "another process has edited this very history; further edits wait for the next call", false
	case p.forced && p.past.failures < l.opts.PauseAfter:
		return "asked for by the model", true
	case v.req.Native.Results != "" && !l.opts.ForWindow:
		return "the provider edits by itself in this call: " + v.req.Native.Results, false
	case p.past.failures >= l.opts.PauseAfter:
		return "it is paused", false
	case l.opts.MinCalls > 0:
		if n, _ := v.LastEdit(l.name); n >= 0 && n < l.opts.MinCalls {
			return "fewer calls than MinCalls since its last edit", false
		}
	}
	if l.opts.Trigger == nil {
		return "", true
	}
	plan := func() *Plan { // made once, when the trigger asks for it
		p.propose(ctx)
		if p.kind == Refused {
			return nil
		}
		return p.plan
	}
	met, why, err := l.ask(v, plan)
	if err != nil {
		p.kind, p.err = Misconfigured, err
		return why, false
	}
	if !met {
		return why, false
	}
	if calls, _ := v.LastEdit(l.name); calls >= 0 { // an earlier edit did not satisfy it
		if least := l.hopeless(ctx, v); least > 0 {
			made := plan()
			return why, made != nil && made.Saved >= least
		}
	}
	return why, true
}

// propose lets the editor plan, once, and checks the plan.
func (p *proposal) propose(ctx context.Context) {
	if p.kind != "" {
		return
	}
	plan, err := p.layer.call(ctx, p.before)
	p.kind, p.plan = Skipped, plan
	switch {
	case err != nil:
		p.fail(Failed, "editor", err)
	case plan != nil && len(plan.Edits) > 0:
		p.check()
	}
}

// check makes the view of the plan and verifies it.
func (p *proposal) check() {
	window := 0
	if p.layer.opts.ForWindow {
		window = p.before.session.budget.Window // as the next call compares it, before a layer can change the model
	}
	records, after, err := preview(p.before, p.layer.name, p.plan, window)
	if err != nil {
		reason := ""
		if rule, ok := errors.AsType[*edit.RuleError](err); ok {
			reason = rule.Name
		}
		p.fail(Refused, reason, err)
		return
	}
	p.kind = Edited
	p.records = records
	p.after = after
	p.plan.Saved = p.before.size.Tokens - after.size.Tokens
	p.plan.Calls, _ = p.before.LastEdit(p.layer.name)
}

// complete puts what the plan removes into the archive, makes the messages of folds that are not made yet, and checks the
// plan again. The archive is first, since a fold may cost more than an archive that does not answer.
func (p *proposal) complete(ctx context.Context) {
	p.price = journal.Cost{Known: true}
	p.propose(ctx)
	if p.kind != Edited {
		return
	}
	if err := archivePlan(ctx, p); err != nil {
		p.fail(Failed, "archive", err)
	} else if ctx.Err() == nil {
		p.build(ctx)
	}
}

// archivePlan puts what the plan removes into the archive. In a dry run it is put when the draft is committed.
func archivePlan(ctx context.Context, p *proposal) error {
	var contents []store.Named
	for i := range p.plan.Edits {
		contents = append(contents, p.plan.Edits[i].Archive...)
	}
	switch {
	case len(contents) == 0:
		return nil
	case p.before.Env().Archive == nil:
		return errors.New("the plan archives contents, but there is no archive")
	case slices.ContainsFunc(contents, func(n store.Named) bool { return n.Handle.IsZero() }):
		return errors.New("the plan archives a content without a handle, want those that View.Archive returns")
	case p.before.req.dry != nil:
		p.after.turn.removed = append(slices.Clip(p.before.turn.removed), contents...)
		return nil
	}
	if err := putAll(ctx, p.before, contents); err != nil {
		return fmt.Errorf("archive what is removed: %w", err)
	}
	return nil
}

// build makes the messages of folds that are not made yet, and checks again.
func (p *proposal) build(ctx context.Context) {
	plan, removed := *p.plan, p.after.turn.removed
	for i := range plan.Edits {
		if plan.Edits[i].Make == nil {
			continue
		}
		if !p.expensive {
			p.expensive, plan.Edits = true, slices.Clone(plan.Edits)
		}
		e := &plan.Edits[i]
		msgs, err := makeFold(ctx, e)
		if err != nil {
			p.fail(Failed, "fold", err)
			return
		}
		e.Messages = msgs
		e.Make = nil
		if e.Paid != nil {
			paid := e.Paid()
			p.price.Spent += paid.Spent
			p.price.Known = p.price.Known && paid.Known
		}
	}
	if !p.expensive {
		return
	}
	p.plan = &plan
	p.check()
	if p.kind == Edited {
		p.after.turn.removed = removed
	}
}

func makeFold(ctx context.Context, e *Edit) (msgs []message.Message, err error) {
	defer caught("fold", &err)
	msgs, err = e.Make(ctx)
	if err != nil {
		return nil, fmt.Errorf("make fold: %w", err)
	}
	return msgs, nil
}

// withoutArchive plans again for a view without an archive, after the archive has failed.
func (p *proposal) withoutArchive(ctx context.Context) {
	v, l := p.before, p.layer
	l.report(ctx, v, Event{
		Kind: Failed, Reason: p.reason, Err: p.err, Why: "what is removed now is not kept: " + l.text(p.err),
		Before: v.size.Tokens, After: v.size.Tokens,
	})
	unread := *v.req
	unread.Unread = true
	p.before = v.with(&unread)
	p.outcome = outcome{}
	p.complete(ctx)
	if p.after != nil {
		p.after = p.after.with(v.req)
	}
	p.before = v
}

// edited reports the edits that were made, and returns the view that they made.
func (p *proposal) edited(ctx context.Context, trigger string) *View {
	l, v := p.layer, p.before
	p.after.turn = p.after.turn.changed(v.span(p.plan.First).First)
	why := p.plan.Why
	if why == "" {
		why = trigger
	} else {
		why += inParentheses(trigger)
	}
	if waiting := v.session.waiting; len(waiting) > 0 && !p.forced && l.opts.ForWindow {
		why += "; edits of " + strings.Join(waiting, ", ") + " were undone in this turn, and without this one the request would not fit"
	}
	p.after.turn.steps = append(slices.Clip(v.turn.steps), p.step(why))
	if v.req.observers != nil {
		loss := v.loss(p.after.result.LeftOut, v.result.LeftOut)
		if loss.Answers > 0 {
			why += "; " + loss.String() + " cannot be sent behind it"
		}
		made := economics(v, p.after, p.plan.First)
		sum := v.turn.economics
		sum.Freed += made.Freed
		sum.Rewritten += made.Rewritten
		p.after.turn.economics = priced(sum, v)
		l.report(ctx, v, Event{
			Kind: Edited, Why: why, Edits: p.records, Before: v.size.Tokens, After: p.after.size.Tokens,
			First: v.Span(p.plan.First).First, Calls: p.plan.Calls, Thinking: loss, Economics: &made, Detail: p.plan.Detail,
		})
	}
	if l.opts.Trigger == nil {
		return p.tried(p.after, "")
	}
	met, numbers := l.stillMet(p.after)
	failure := ""
	switch {
	case !met:
	case p.expensive && l.hopeless(ctx, p.after) == 0:
		failure = "the trigger is still met after the edit" + inParentheses(numbers) + "; let it remove more, or raise the trigger"
	case !p.forced:
		l.warnHopeless(ctx, p.after)
	}
	return p.tried(p.after, failure)
}

// step returns what the journal keeps of the edits that were made.
func (p *proposal) step(why string) journal.Step {
	l, v := p.layer, p.before
	s := journal.Step{
		Records: p.records,
		Kind:    entries.StepEdit, By: l.name, Actor: entries.ByTrigger, Why: why, Time: v.session.chain.env.Clock().Round(0).UTC(),
		Before: v.size.Tokens, After: p.after.size.Tokens, Cost: p.price,
	}
	switch {
	case p.forced && v.req.Asked:
		s.Actor = entries.ByModel
	case p.forced:
		s.Actor = entries.ByUser
	case v.req.Refused:
		s.Actor = entries.ByRefusal
	}
	s.Change.Len, s.Change.Removed = len(v.session.Body), replaced(v.list, p.records)
	return s
}

// replaced returns the edits that rewrites replace; a fold covers what it replaces.
func replaced(l edit.List, records []*journal.Record) (removed []*journal.Record) {
	for _, r := range records {
		if r.Kind == journal.Rewrite {
			removed = append(removed, l.Inside(r.Runs)...)
		}
	}
	return removed
}

// failed reports a plan that could not be made or was refused, and returns the view as it was.
func (p *proposal) failed(ctx context.Context) (*View, error) {
	l, v := p.layer, p.before
	if l.opts.Strict {
		kind := KindOf(p.err)
		if p.kind == Refused {
			kind = Invalid
		}
		return nil, &Error{Kind: kind, Op: l.name, Err: p.err}
	}
	e := Event{Kind: p.kind, Reason: p.reason, Err: p.err, Why: l.text(p.err), Before: v.size.Tokens, After: v.size.Tokens}
	l.report(ctx, v, e)
	if errors.Is(p.err, store.ErrNoAnswer) { // the next call may find that the archive is back
		return v, nil
	}
	return p.tried(v, e.Why), nil
}

// tried returns a view to which the proposal has led, with the attempt of its editor.
func (p *proposal) tried(v *View, failure string) *View {
	now := p.past
	switch {
	case failure != "":
		now.failures++
	case now.failures == 0:
		return v
	default:
		now.failures = 0
	}
	w := *v
	w.turn.attempts = append(slices.Clip(v.turn.attempts), attempt{layer: p.layer, view: v, failure: failure, progress: now})
	return &w
}
