package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Repairing makes a repairer, which has the last word on what a model is sent, a [Middleware]. It is called where the
// chain ends, after all editing middlewares, at any place of Repairing among them; several are called in the order of the
// chain. An event of kind [Repaired] reports each repair once as long as it is the same. Repairing panics with
// "middleware: Repairing: …" if the name is empty or the repairer is nil.
//
// A repairer sees the view with all edits and returns what is sent instead, or nil for the view as it is. What it
// returns need not be shorter, may change protected messages, and is not remembered: what breaks a rule now may be
// valid in the next call. So it should depend on the view alone. An error fails the call before anything is
// remembered. A repairer must be safe for concurrent use and must not modify what it sees.
func Repairing(name string, repair func(ctx context.Context, v *View) (*message.Repaired, error)) Middleware {
	if name == "" || repair == nil {
		panic("middleware: Repairing: want a name and a repairer")
	}
	r := &repairing{name: name, repair: repair}
	return onView(nil, func(_ context.Context, v *View, out *Request) (*View, error) {
		if out.editor == name {
			out.last = name
		}
		out.repairers = append(slices.Clip(out.repairers), r)
		return v, nil
	})
}

// repairing is one repairer of a chain.
type repairing struct {
	name   string
	repair func(ctx context.Context, v *View) (*message.Repaired, error)
}

// repair returns the view as the repairers of its request want it, and what they did.
func repair(ctx context.Context, v *View) (*View, []repairs, error) {
	var all []repairs
	for _, r := range v.req.repairers {
		repaired, err := r.call(ctx, v)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			return nil, nil, err
		case repaired == nil:
			continue
		}
		before := v
		v, err = withRepairs(v, r.name, repaired)
		if err != nil {
			return nil, nil, &Error{Op: r.name, Err: err}
		}
		if len(repaired.Fixes) > 0 {
			all = append(all, repairs{r.name, repaired, inHistory(before, repaired.Fixes), before, v})
		}
	}
	return v, all, nil
}

// call calls the repairer.
func (r *repairing) call(ctx context.Context, v *View) (repaired *message.Repaired, err error) {
	defer func() {
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			err = &Error{Op: r.name, Err: err}
		}
	}()
	defer caught("repairer", &err)
	return r.repair(ctx, v)
}

// WithRepairs returns the view with repairs, to see their cost; see [Repairing]. Messages that
// differ have a [Span.Edit] of kind [journal.Repair]. It panics on wrong positions.
func (v *View) WithRepairs(r *message.Repaired) *View {
	w, err := withRepairs(v, "", r)
	if err != nil {
		panic("middleware: WithRepairs: " + err.Error())
	}
	return w
}

// withRepairs returns the view with the messages of a repair.
func withRepairs(v *View, name string, r *message.Repaired) (*View, error) {
	n := len(r.Messages)
	switch {
	case r.From == nil && sameSlice(r.Messages, v.result.Messages):
		return v, nil
	case r.From == nil && n != len(v.result.Messages), r.From != nil && n != len(r.From):
		return nil, fmt.Errorf("repaired: %d messages, but %d positions that they come from", n, len(r.From))
	}
	w := *v
	if !w.repaired {
		w.repaired, w.unrepaired = true, min(n, v.Len())
	}
	w.result = edit.Result{
		Messages: slices.Clip(r.Messages), Spans: make([]edit.Span, n), Tokens: make([]int, n), LeftOut: v.result.LeftOut,
	}
	for i := range r.Messages {
		at := i
		if r.From != nil {
			at = r.From[i]
		}
		if at < 0 || at >= len(v.result.Messages) {
			return nil, fmt.Errorf("repaired: message %d comes from message %d of %d", i, at, len(v.result.Messages))
		}
		s, tokens := v.span(at), v.TokensOf(at)
		m := r.Messages[i]
		mended := !m.Equal(v.result.Messages[at])
		if mended || at != i {
			w.unrepaired = min(w.unrepaired, i)
		}
		if mended {
			if k := slices.IndexFunc(m.Parts, func(p message.Part) bool { return !within.KnownPart(p) }); k >= 0 {
				return nil, fmt.Errorf("repaired: message %d: part %d is nil or of an unknown type", i, k)
			}
			s.Record = &journal.Record{Middleware: name, Kind: journal.Repair, Runs: []message.Run{{First: s.First, Last: s.Last}}}
			tokens = v.session.chain.meter.Message(m)
		}
		w.result.Spans[i], w.result.Tokens[i] = s, tokens
		w.result.Sum += tokens
	}
	w.measure()
	return &w, nil
}

// inHistory returns fixes with history positions.
func inHistory(v *View, fixes []message.Fix) []message.Fix {
	out := slices.Clone(fixes)
	for i, f := range out {
		if f.At >= 0 && f.At < v.Len() {
			out[i].At = v.Span(f.At).First
		}
	}
	return out
}

// repairs are what one repairer did to a view.
type repairs struct {
	name          string
	repaired      *message.Repaired // with positions of the view
	fixes         []message.Fix     // with those of the history
	before, after *View
}

// changed returns the position of the first message that a fix may have changed, among the messages as they were repaired.
func (r repairs) changed(fix int) int {
	at := r.repaired.Fixes[fix].At
	if r.repaired.From == nil {
		return at
	}
	first := slices.IndexFunc(r.repaired.From, func(origin int) bool { return origin >= at })
	switch {
	case first < 0: // the last message has become a part of the one before
		return max(len(r.repaired.From)-1, 0)
	case r.repaired.From[first] > at: // another one has
		return max(first-1, 0)
	}
	return first
}

// reportRepairs reports the repairs that were not there in the call before, and returns the first position that they may
// have changed, or unchanged.
func reportRepairs(ctx context.Context, done []repairs) int {
	first := unchanged
	for _, r := range done {
		i := r.report(ctx)
		switch {
		case i < 0: // of no message
			first = leading
		case i < r.after.Len():
			first = min(first, r.after.span(i).First)
		}
	}
	return first
}

// report reports the repairs that were not there in the call before, and returns the index of the first message that they
// may have changed, or unchanged.
func (r repairs) report(ctx context.Context) int {
	type key struct{ name string }
	v := r.before
	had, _ := v.Load(key{r.name}).([]message.Fix)
	if v.req.dry != nil { // a draft has all events again
		had = nil
	}
	v.Store(key{r.name}, r.fixes)
	var fresh []message.Fix
	first := unchanged
	for i, f := range r.fixes {
		if !slices.Contains(had, f) {
			fresh, first = append(fresh, f), min(first, r.changed(i))
		}
	}
	if len(fresh) == 0 {
		return first
	}
	why := fresh[0].String()
	if n := len(fresh) - 1; n > 0 {
		why += fmt.Sprintf(", and %d more", n)
	}
	v.Report(ctx, Event{
		Kind: Repaired, By: r.name, Why: why, Detail: fresh,
		Before: v.size.Tokens, After: r.after.size.Tokens,
	})
	return first
}
