package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Options say when an [Editor] may edit.
type Options struct {
	Trigger  Trigger // nil: always
	MinCalls int     // model calls from one edit to the next, at least; 0: no minimum
	Strict   bool    // an editor that fails, a plan that is refused and an option that does not fit fail the call

	// EditWithoutArchive makes edits even if the archive fails: the editor is asked once
	// more, by a view without an archive, and an event of kind [Failed] says why
	// what goes is not kept. It does nothing under Strict.
	EditWithoutArchive bool

	// PauseAfter is how many attempts in a row without progress it takes until
	// the editor rests: it is not asked any more before the user speaks again,
	// and an event says so. 0: 3; negative: it never rests. The comment of the
	// package says what progress is.
	PauseAfter int
}

// Validate reports options that make no sense.
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

// Editing makes an [Editor] a [Middleware]. On each call it applies what is
// remembered, asks the trigger, lets the editor plan, verifies the plan,
// applies and reports it. The name stands in events, in the journal and in
// [Request.Force]. Editing panics with "middleware: Editing: …" if the name is
// empty, the editor nil or the options are not valid.
func Editing(name string, e Editor, opts Options) Middleware {
	if name == "" || e == nil {
		panic("middleware: Editing: want a name and an editor")
	}
	if err := opts.Validate(); err != nil {
		panic("middleware: Editing: " + name + ": " + err.Error())
	}
	l := &layer{name: name, editor: e, opts: opts}
	return Chain(l.around)
}

// layer is one editing middleware of a chain.
type layer struct {
	name   string
	editor Editor
	opts   Options
}

func (l *layer) around(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		v, err := req.open(ctx)
		if err != nil {
			return nil, err
		}
		if v, err = l.edit(ctx, v); err != nil {
			return nil, err
		}
		r := *v.req
		r.see(v)
		return next(ctx, &r, emit)
	}
}

// open returns the view that the request carries, or makes it.
func (r *Request) open(ctx context.Context) (*View, error) {
	if r.view == nil {
		return r.openAnew(ctx)
	}
	if !r.view.mended && (sameSlice(r.view.msgs, r.Messages) || slices.EqualFunc(r.view.msgs, r.Messages, unchanged)) {
		return r.view.with(r), nil
	}
	v, err := r.view.with(r).commit(ctx)
	if err != nil {
		return nil, err
	}
	w := *r
	w.probe, r = r.probe.keep(v), &w
	r.owner.tell(ctx, r, Event{
		Kind: Reopened, By: "middleware",
		Why: "the messages were changed between two editing middlewares, so the second begins anew; " +
			"change them before the first or behind the last",
	})
	return r.openAnew(ctx)
}

// openAnew makes the first view of the messages that the request carries now.
func (r *Request) openAnew(ctx context.Context) (*View, error) {
	c := r.owner
	if r.probe != nil {
		c = r.probe.fork(c)
	}
	return c.open(ctx, r)
}

func unchanged(a, b message.Message) bool { return same(&a, &b) && alike(&a, &b) }

// edit returns the view as this layer wants it.
func (l *layer) edit(ctx context.Context, v *View) (*View, error) {
	p := &proposal{layer: l, before: v}
	met, why, err := l.due(ctx, p)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return v, l.misfit(ctx, v, err)
	case !met && p.err == nil: // a plan that went wrong is told even if that is why the trigger is not met
		return v, nil
	}
	p.complete(ctx)
	if p.err != nil && !p.refused && l.opts.EditWithoutArchive && !l.opts.Strict && v.Env().Archive != nil && ctx.Err() == nil {
		p = l.regardless(ctx, p)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.err != nil && !p.refused && !p.dear && KindOf(p.err) == Invalid:
		return v, l.misfit(ctx, v, p.err)
	case p.err != nil:
		return l.fail(ctx, v, p)
	case p.after != nil:
		l.report(ctx, p, why)
		return p.after.tried(l, l.vain(p)), nil
	case p.plan != nil && p.plan.Why != "":
		l.tell(ctx, v, Event{Kind: Refused, Why: p.plan.Why, Before: v.Size().Tokens, After: v.Size().Tokens, Detail: p.plan.Detail})
	}
	return v, nil
}

// due reports whether the layer shall edit now.
func (l *layer) due(ctx context.Context, p *proposal) (met bool, why string, err error) {
	v := p.before
	if l.forced(v) {
		return true, "forced by the request", nil
	}
	if l.rests(v.tally(l.name)) {
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
	met, why, err = l.ask(v, func() *Plan { return p.once(ctx) })
	if err == nil && met && !p.made && l.overburdened(ctx, v) {
		return false, "", nil
	}
	return met, why, err
}

// forced reports whether the request says that the layer shall edit.
func (l *layer) forced(v *View) bool {
	f := v.req.Force
	return slices.Contains(f, l.name) || slices.Contains(f, "*")
}

// ask asks the trigger about a view.
func (l *layer) ask(v *View, plan func() *Plan) (met bool, why string, err error) {
	defer func() {
		if r := recover(); r != nil {
			met, err = false, fmt.Errorf("trigger panicked: %v", r)
		}
	}()
	return l.opts.Trigger.Met(v, plan)
}

// misfit reports, once per conversation, options that cannot work for it.
func (l *layer) misfit(ctx context.Context, v *View, err error) error {
	if KindOf(err) != Invalid {
		err = &Error{Kind: Invalid, Op: l.name, Err: err}
	}
	if l.opts.Strict {
		return err
	}
	if v.call.track.conversation.once(v.req, err.Error()) {
		l.tell(ctx, v, Event{Kind: Misconfigured, Err: err, Why: l.plainly(err)})
	}
	return nil
}

// fail reports a plan that could not be made or was refused, and returns the
// view as it was.
func (l *layer) fail(ctx context.Context, v *View, p *proposal) (*View, error) {
	if l.opts.Strict {
		kind := KindOf(p.err)
		if p.refused {
			kind = Invalid
		}
		return nil, &Error{Kind: kind, Op: l.name, Err: p.err}
	}
	why := l.plainly(p.err)
	e := Event{Kind: Failed, Err: p.err, Why: why, Before: v.Size().Tokens, After: v.Size().Tokens}
	if p.refused {
		e.Kind = Refused
	}
	l.tell(ctx, v, e)
	first, _, _ := strings.Cut(why, "\n") // a panic has a stack below
	return v.tried(l, first), nil
}

// plainly returns the text of an error without the name of the layer, which
// events carry already.
func (l *layer) plainly(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == l.name && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

func (l *layer) report(ctx context.Context, p *proposal, trigger string) {
	why := p.plan.Why
	if why == "" {
		why = trigger
	} else {
		why += aside(trigger)
	}
	l.tell(ctx, p.before, Event{
		Kind: Edited, Why: why, Edits: p.records, Items: p.plan.Items,
		Before: p.before.Size().Tokens, After: p.after.Size().Tokens,
		First: p.before.Span(p.plan.First).First,
		Calls: p.before.CallsSince(l.name), Detail: p.plan.Detail,
	})
	l.warn(ctx, p.after)
}

// aside returns what a trigger says, to be put behind something.
func aside(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func (l *layer) tell(ctx context.Context, v *View, e Event) {
	e.By, e.Exact = l.name, v.own()
	v.call.chain.tell(ctx, v.req, e)
}
