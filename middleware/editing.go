package middleware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Options set when an editor may edit; see [Editing]. The zero value edits whenever there is something to edit.
type Options struct {
	Trigger  Trigger // nil: always
	MinCalls int     // model calls from one edit to the next, at least; 0: no minimum
	Strict   bool    // a failing editor, a refused plan and an option that does not fit fail the call

	// Protect lists tools whose calls and results this editor and all later ones keep, in
	// addition to Env.Protect. nil or empty: none.
	Protect []string

	// ForWindow is for edits that have no other reason than the window. They do not hold in a larger one, by the budget of the
	// request or the table of models: there, what they have replaced is sent again, and an event reports it. They are made even if
	// the archive fails, unless the editor is Strict: it is asked again, with a view without an archive, and an event reports it.
	ForWindow bool

	// Tools are the lists of tools in the options of the editor, by the names of the options: a name that no tool has is reported
	// once, by the first request that declares tools and has a call.
	Tools map[string][]string

	// PauseAfter is the number of attempts in a row without progress (see the comment of
	// the package) after which the editor is paused. 0: 3; negative: never.
	PauseAfter int
}

// Validate returns an error for options that make no sense.
func (o Options) Validate() error {
	if o.MinCalls < 0 {
		return fmt.Errorf("MinCalls is %d calls, want 0 or more", o.MinCalls)
	}
	if err := validateTools(o.Protect); err != nil {
		return err
	}
	if t, ok := o.Trigger.(interface{ Validate() error }); ok {
		if err := t.Validate(); err != nil {
			return fmt.Errorf("Trigger: %w", err)
		}
	}
	return nil
}

// Editing makes an editor a [Middleware]. In each call it applies the remembered edits, asks the trigger, lets the
// editor plan, verifies the plan, applies and reports it. The name is used in events, in the journal and in
// [Request.Force]. Editing panics with "middleware: Editing: …" if the name is empty, the editor is nil or the
// options are not valid.
//
// An editor looks at a view and returns the plan of its edits, or nil if there is nothing to do. It does not make
// them. It must be deterministic and safe for concurrent use, and must not modify what it sees. If it returns an
// error, the call continues without it; an error of kind [Invalid] means that its options do not fit the request, and
// is reported once per conversation.
func Editing(name string, editor func(ctx context.Context, v *View) (*Plan, error), opts Options) Middleware {
	if name == "" || editor == nil {
		panic("middleware: Editing: want a name and an editor")
	}
	if err := opts.Validate(); err != nil {
		panic("middleware: Editing: " + name + ": " + err.Error())
	}
	opts.Protect = slices.Clone(opts.Protect)
	const pauseAfter = 3
	opts.PauseAfter = cmp.Or(opts.PauseAfter, pauseAfter)
	if opts.PauseAfter < 0 {
		opts.PauseAfter = math.MaxInt
	}
	return named(name, opts.Tools, onView(opts.Protect, (&layer{name: name, editor: editor, opts: opts}).edit))
}

// layer is one editing middleware of a chain.
type layer struct {
	name   string
	editor func(ctx context.Context, v *View) (*Plan, error)
	opts   Options
}

// edit returns the view as this layer wants it: it asks the trigger, plans, builds, archives, and reports the outcome.
func (l *layer) edit(ctx context.Context, v *View, out *Request) (*View, error) {
	out.editor = l.name
	if last := out.last; last != "" && last != l.name && out.observers != nil {
		v.Report(ctx, Event{Kind: Misconfigured, By: last, Why: l.name + " edits after it; put " + last + " last"})
	}
	p := &proposal{layer: l, before: v, past: progressOf(v, l.name), forced: len(out.Force) > 0 && out.Forces(l.name)}
	why, met := p.due(ctx)
	if out.observers != nil && !l.opts.ForWindow {
		out.floor.lower(l, v, met)
	}
	if met && ctx.Err() == nil {
		p.complete(ctx)
	}
	if p.kind == Failed && l.opts.ForWindow && !l.opts.Strict && v.Env().Archive != nil && ctx.Err() == nil {
		p.withoutArchive(ctx)
		met = true
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case p.kind == Misconfigured, p.kind == Failed && !p.expensive && KindOf(p.err) == Invalid:
		return v, l.misconfigured(ctx, v, p.err)
	case p.kind == Refused, p.kind == Failed: // also if that is why the trigger is not met
		return p.failed(ctx)
	case !met:
		if v.session.chain.env.Explain {
			l.explain(ctx, v, cmp.Or(why, "no edit is worth it, or possible"))
		}
		return v, nil
	case p.kind == Edited:
		return p.edited(ctx, why), nil
	case p.plan != nil && p.plan.Why != "" && v.isNews(string(Skipped)+" "+l.name):
		l.report(ctx, v, Event{Kind: Skipped, Why: p.plan.Why, Before: v.size.Tokens, After: v.size.Tokens, Detail: p.plan.Detail})
	case v.session.chain.env.Explain:
		l.explain(ctx, v, "there is nothing to edit")
	}
	if l.opts.Trigger != nil && !p.forced {
		l.warnHopeless(ctx, v)
	}
	return v, nil
}

// explain reports why nothing is edited.
func (l *layer) explain(ctx context.Context, v *View, why string) {
	l.report(ctx, v, Event{Kind: NotMet, Why: why, Before: v.size.Tokens, After: v.size.Tokens})
}

// ask asks the trigger about a view. A trigger that cannot work is not met.
func (l *layer) ask(v *View, plan func() *Plan) (met bool, why string, err error) {
	defer caught("trigger", &err)
	met, why, err = l.opts.Trigger.Met(v, plan)
	return met && err == nil, why, err
}

// stillMet reports whether the trigger is met by a view for which there is no plan.
func (l *layer) stillMet(v *View) (met bool, why string) {
	asked := false
	met, why, _ = l.ask(v, func() *Plan {
		asked = true
		return nil
	})
	return met && !asked, why
}

// call calls the editor.
func (l *layer) call(ctx context.Context, v *View) (plan *Plan, err error) {
	defer caught("editor", &err)
	plan, err = l.editor(ctx, v)
	if plan != nil {
		own := *plan
		plan = &own
	}
	return plan, err
}

// misconfigured reports options that cannot work for the request.
func (l *layer) misconfigured(ctx context.Context, v *View, err error) error {
	if KindOf(err) != Invalid {
		err = &Error{Kind: Invalid, Op: l.name, Err: err}
	}
	if l.opts.Strict {
		return err
	}
	v.Report(ctx, Event{Kind: Misconfigured, By: l.name, Err: err, Why: l.text(err)})
	return nil
}

// text returns the text of an error without the name of the layer, which events have
// already, and without the stack of a panic.
func (l *layer) text(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == l.name && e.Err != nil {
		err = e.Err
	}
	text, _, _ := strings.Cut(err.Error(), "\ngoroutine ")
	return text
}

func (l *layer) report(ctx context.Context, v *View, e Event) {
	e.By = l.name
	v.req.Report(ctx, e)
}

// inParentheses returns what a trigger has compared, to be appended to a text.
func inParentheses(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}
