package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Options say when an [Editor] may edit. The zero value edits whenever there is something
// to edit.
type Options struct {
	Trigger  Trigger // nil: always
	MinCalls int     // model calls from one edit to the next, at least; 0: no minimum
	Strict   bool    // a failing editor, a refused plan and an option that does not fit fail the call

	// EditWithoutArchive makes edits even if the archive fails: the editor is asked
	// again, with a view without an archive, and an event of kind [Failed] says that the
	// removed content is not kept. It has no effect with Strict.
	EditWithoutArchive bool

	// PauseAfter is the number of attempts in a row without progress after which the
	// editor is paused until the next message of the user. 0: 3; negative: never. The
	// comment of the package defines progress.
	PauseAfter int
}

// Validate returns an error for options that make no sense.
func (o Options) Validate() error {
	if o.MinCalls < 0 {
		return fmt.Errorf("MinCalls is %d calls, want 0 or more", o.MinCalls)
	}
	if t, ok := o.Trigger.(interface{ Validate() error }); ok {
		if err := t.Validate(); err != nil {
			return fmt.Errorf("Trigger: %w", err)
		}
	}
	return nil
}

// Editing makes an [Editor] a [Middleware]. In each call it applies the remembered edits,
// asks the trigger, lets the editor plan, verifies the plan, applies and reports it. The
// name is used in events, in the journal and in [Request.Force]. Editing panics with
// "middleware: Editing: …" if the name is empty, the editor is nil or the options are
// not valid.
func Editing(name string, e Editor, opts Options) Middleware {
	if name == "" || e == nil {
		panic("middleware: Editing: want a name and an editor")
	}
	if err := opts.Validate(); err != nil {
		panic("middleware: Editing: " + name + ": " + err.Error())
	}
	return standAlone((&layer{name: name, editor: e, opts: opts}).around)
}

// standAlone makes a middleware that works on views usable outside of a chain, as a chain
// of its own.
func standAlone(mw Middleware) Middleware {
	own := newChain(Env{})
	return func(next Model) Model {
		inChain, alone := mw(next), own.wrap(next, mw)
		return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			if req.closer == nil {
				return alone(ctx, req, emit)
			}
			return inChain(ctx, req, emit)
		}
	}
}

// layer is one editing middleware of a chain.
type layer struct {
	name   string
	editor Editor
	opts   Options
}

func (l *layer) around(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		v, err := openView(ctx, req)
		if err != nil {
			return nil, err
		}
		if v, err = l.edit(ctx, v); err != nil {
			return nil, err
		}
		r := *v.req
		r.carry(v)
		return next(ctx, &r, emit)
	}
}

// edit returns the view as this layer wants it: it asks the trigger, plans, builds,
// archives, and reports the outcome.
func (l *layer) edit(ctx context.Context, v *View) (*View, error) {
	var p *proposal
	plan := func() *Plan { // made once, when the trigger asks for it or is met
		if p == nil {
			p = l.propose(ctx, v)
		}
		return p.planned()
	}
	met, why, err := l.due(ctx, v, plan)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return v, l.misconfigured(ctx, v, err)
	case !met && (p == nil || p.err == nil): // a failed plan is reported even if it is the reason why the trigger is not met
		return v, nil
	}
	plan()
	l.build(ctx, p)
	archivePlan(ctx, p)
	if p.err != nil && !p.refused && l.opts.EditWithoutArchive && !l.opts.Strict && v.Env().Archive != nil && ctx.Err() == nil {
		p = withoutArchive(ctx, l, p)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.err != nil && !p.refused && !p.expensive && KindOf(p.err) == Invalid:
		return v, l.misconfigured(ctx, v, p.err)
	case p.err != nil:
		return l.failed(ctx, v, p)
	case p.after != nil:
		return l.edited(ctx, p, why), nil
	case p.plan != nil && p.plan.Why != "":
		l.report(ctx, v, Event{Kind: Refused, Why: p.plan.Why, Before: v.size.Tokens, After: v.size.Tokens, Detail: p.plan.Detail})
	}
	if l.opts.Trigger != nil && !v.req.Forced(l.name) {
		warnHopeless(ctx, l, v)
	}
	return v, nil
}

// due reports whether the layer may edit now.
func (l *layer) due(ctx context.Context, v *View, plan func() *Plan) (met bool, why string, err error) {
	if v.req.Forced(l.name) {
		return true, "forced by the request", nil
	}
	if paused(l, progressOf(v, l.name)) {
		return false, "", nil
	}
	if l.opts.MinCalls > 0 {
		if n := v.CallsSince(l.name); n >= 0 && n < l.opts.MinCalls {
			return false, "", nil
		}
	}
	if l.opts.Trigger == nil {
		return true, "", nil
	}
	met, why, err = l.ask(v, plan)
	if met && err == nil && v.newestEdit(l.name) >= 0 { // an earlier edit did not satisfy it
		if text := hopeless(l, v); text != "" {
			reportHopeless(ctx, l, v, text)
			return false, "", nil
		}
	}
	return met, why, err
}

// ask asks the trigger about a view. A panic of the trigger is an error.
func (l *layer) ask(v *View, plan func() *Plan) (met bool, why string, err error) {
	defer func() {
		if r := recover(); r != nil {
			met, err = false, fmt.Errorf("trigger panicked: %v", r)
		}
	}()
	return l.opts.Trigger.Met(v, plan)
}

// stillMet reports whether the trigger is met by a view for which there is no plan.
func (l *layer) stillMet(v *View) (met bool, why string) {
	asked := false
	met, why, err := l.ask(v, func() *Plan {
		asked = true
		return nil
	})
	return met && err == nil && !asked, why
}

// proposal is what an editor proposes for a view.
type proposal struct {
	layer     *layer
	before    *View
	plan      *Plan
	records   []*journal.Record
	after     *View // nil if nothing is edited
	expensive bool  // messages of folds were made
	err       error
	refused   bool // err is the rule that the plan breaks
}

// propose lets the editor plan, and checks the plan.
func (l *layer) propose(ctx context.Context, v *View) *proposal {
	p := &proposal{layer: l, before: v}
	if p.plan, p.err = l.plan(ctx, v); p.err == nil && p.plan != nil && len(p.plan.Edits) > 0 {
		p.check()
	}
	return p
}

// plan calls the editor. A panic of the editor is an error.
func (l *layer) plan(ctx context.Context, v *View) (plan *Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("editor panicked: %v\n%s", r, debug.Stack())
		}
	}()
	if plan, err = l.editor(ctx, v); plan != nil {
		own := *plan
		plan = &own
	}
	return plan, err
}

// check makes the view of the plan and verifies it.
func (p *proposal) check() {
	if p.records, p.after, p.err = preview(p.before, p.layer.name, p.plan); p.err != nil {
		p.after, p.refused = nil, true
		return
	}
	p.plan.Saved = p.before.size.Tokens - p.after.size.Tokens
}

// planned returns the plan for a trigger: nil if nothing can be done.
func (p *proposal) planned() *Plan {
	if p.refused {
		return nil
	}
	return p.plan
}

// build makes the messages of folds that are not made yet, and checks again.
func (l *layer) build(ctx context.Context, p *proposal) {
	if p.err != nil || p.after == nil || !p.plan.pending() {
		return
	}
	p.expensive = true
	plan := *p.plan
	plan.Edits = slices.Clone(plan.Edits)
	for i := range plan.Edits {
		e := &plan.Edits[i]
		if e.Make == nil {
			continue
		}
		if e.Messages, p.err = makeFold(ctx, e); p.err != nil {
			p.after = nil
			return
		}
		e.Make = nil
	}
	p.plan = &plan
	p.check()
}

func makeFold(ctx context.Context, e *Edit) (msgs []message.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("fold panicked: %v\n%s", r, debug.Stack())
		}
	}()
	if msgs, err = e.Make(ctx); err != nil {
		return nil, fmt.Errorf("make fold: %w", err)
	}
	return msgs, nil
}

// edited reports the edits that were made, and returns the view that they made.
func (l *layer) edited(ctx context.Context, p *proposal, trigger string) *View {
	why := p.plan.Why
	if why == "" {
		why = trigger
	} else {
		why += inParentheses(trigger)
	}
	l.report(ctx, p.before, Event{
		Kind: Edited, Why: why, Edits: p.records, Before: p.before.size.Tokens, After: p.after.size.Tokens,
		First: p.before.Span(p.plan.First).First, Calls: p.before.CallsSince(l.name), Detail: p.plan.Detail,
	})
	warnFrequent(ctx, l, p.after)
	if l.opts.Trigger == nil {
		return tried(p.after, l, "")
	}
	met, numbers := l.stillMet(p.after)
	failure := ""
	if met && p.expensive {
		failure = "the trigger is still met after the edit" + inParentheses(numbers) + "; let it remove more, or raise the trigger"
	}
	if met && !p.before.req.Forced(l.name) {
		warnHopeless(ctx, l, p.after)
	}
	return tried(p.after, l, failure)
}

// failed reports a plan that could not be made or was refused, and returns the view as it
// was.
func (l *layer) failed(ctx context.Context, v *View, p *proposal) (*View, error) {
	if l.opts.Strict {
		kind := KindOf(p.err)
		if p.refused {
			kind = Invalid
		}
		return nil, &Error{Kind: kind, Op: l.name, Err: p.err}
	}
	e := Event{Kind: Failed, Err: p.err, Why: l.text(p.err), Before: v.size.Tokens, After: v.size.Tokens}
	if p.refused {
		e.Kind = Refused
	}
	l.report(ctx, v, e)
	first, _, _ := strings.Cut(e.Why, "\n") // a panic has its stack in further lines
	return tried(v, l, first), nil
}

// misconfigured reports, once per conversation, options that cannot work for it.
func (l *layer) misconfigured(ctx context.Context, v *View, err error) error {
	if KindOf(err) != Invalid {
		err = &Error{Kind: Invalid, Op: l.name, Err: err}
	}
	if l.opts.Strict {
		return err
	}
	if v.session.State.conversation.once(v.req, err.Error()) {
		l.report(ctx, v, Event{Kind: Misconfigured, Err: err, Why: l.text(err)})
	}
	return nil
}

// text returns the text of an error without the name of the layer, which events have
// already.
func (l *layer) text(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == l.name && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

func (l *layer) report(ctx context.Context, v *View, e Event) {
	e.By = l.name
	v.session.chain.report(ctx, v.req, e)
}

// inParentheses returns what a trigger has compared, to be appended to a text.
func inParentheses(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// preview returns the records of a plan and the verified view that they make. Folds whose
// messages are not made yet count as estimated.
func preview(v *View, name string, p *Plan) ([]*journal.Record, *View, error) {
	records, err := translate(v, name, p)
	if err != nil {
		return nil, nil, err
	}
	s, w := v.session, *v
	newer, first := make(edit.List, len(records)), len(s.Body)
	for i, r := range records {
		newer[i] = s.Weigh(r)
		first = min(first, r.Runs[0].First)
	}
	if w.list, err = v.list.Over(newer); err != nil {
		return nil, nil, err
	}
	before := &v.result
	if v.repaired {
		before = nil
	}
	w.unsaved, w.result = true, s.Apply(s.all, w.list, before, first)
	pending := false
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Make != nil {
			w.result.Sum += e.Estimate
			pending = true
		}
	}
	w.measure()
	if w.size.Counted >= v.size.Counted {
		return nil, nil, fmt.Errorf("the view would not become shorter: %d tokens, then %d", v.size.Counted, w.size.Counted)
	}
	if err := s.Verify(&v.result, &w.result, records, pending); err != nil {
		return nil, nil, err
	}
	return records, &w, nil
}
