package middleware

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/middleware/internal/bound"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/store"
)

// One call runs through these functions:
//
//	chain.enter    a chain becomes the one whose Env holds
//	chain.open     the first editor gets the view: the history with its remembered edits; see session.go
//	layer.edit     each editor edits; see editing.go
//	chain.leave    repairs are made and edits are remembered (closeCall), then the model is called
//	settle, learn  the answer calibrates token counts and windows; see learn.go

// call is what a request carries through the layers of a chain.
type call struct {
	chain      *chain       // the chain whose Env holds; nil if no chain has been entered
	protect    []string     // tools whose calls and results stay: Env.Protect, and Options.Protect of the editors so far
	rememberer *chain       // the chain that remembers the edits before the model call; nil outside of chains
	view       *View        // the view, once an editing middleware has run
	observers  *observers   // who receives events
	dry        *dryRun      // collects the views of a dry run; nil in a real call
	repairers  []*repairing // they have the last word on the view
	floor      floor        // below which the editors so far edit nothing
	editor     string       // name of the editor that has run last
	last       string       // name of an editor that repairs as well, so no other one should run after it

	run     *run                     // what is measured of it; nil outside of chains
	begun   *observers               // the innermost of those that an outer chain has told that the model is called; nil: none
	settled *atomic.Pointer[settled] // gets what the innermost chain has measured: it knows what the model was sent
}

// turn is the log of a call up to a view: what editors have done, and what is to be written of it. It is a value: each layer
// passes a new one on, since a layer may make a call twice.
type turn struct {
	reported  int               // first position of the history whose change an event has reported
	steps     []journal.Step    // that have led from what the journal has to the edits of the view
	attempts  []attempt         // of editors
	economics report.Economics  // of the edits that were reported
	removed   []store.Named     // in a dry run: what its edits remove
	thinking  *journal.Thinking // what the journal is to have of the thinking in the request; nil: what it has
}

// changed returns the log if an event reports, or has reported, what changes from a position on.
func (t turn) changed(position int) turn {
	t.reported = min(t.reported, position)
	return t
}

// wrap puts middlewares around a model.
func (c *chain) wrap(next Model, mws ...Middleware) Model {
	if next == nil {
		panic("middleware: Chain: the model is nil, want a Model")
	}
	last := c.leave(next)
	past := onView(nil, func(_ context.Context, v *View, _ *Request) (*View, error) { return v, nil })(last)
	next = last
	for _, mw := range slices.Backward(mws) {
		next = mw(next)
	}
	return c.enter(next, past)
}

// enter runs before the layers of a chain. It says whose Env and memory hold, and which chain remembers: its leave closes the
// session, exactly once. It does not look at the history, to which a layer before the first editor may still add.
//
//	request                                    Env of            remembers
//	of no chain                                this one          this one
//	that has left another chain                this one, if set  this one
//	in one without an Env, before any editor   this one, if set  this one
//	in another chain                           that one, filled  that one
//
// past is the way of requests that go past the layers.
func (c *chain) enter(next, past Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		if req == nil {
			panic("middleware: the request is nil, want a *Request")
		}
		inside := req.rememberer != nil // the layers of another chain
		own := struct {                 // in one allocation
			Request

			run run
		}{Request: *req}
		r := &own.Request
		if !inside {
			own.run.began = c.env.Clock()
			r.run = &own.run
		}
		switch {
		case req.chain == nil, c.hasEnv && (!inside || !req.chain.hasEnv && req.view == nil):
			r.chain = c
			r.rememberer = c
			r.view = nil
			r.protect = c.env.Protect
			if c.given.Journal != nil || c.given.Archive != nil {
				ctx = guard.Share(ctx)
			}
		case !inside: // the Env and the view of the chain before this one remain
			r.rememberer = c
		case c.hasEnv && req.chain != c:
			c.fill(ctx, r)
		}
		if !r.Past {
			return next(ctx, r, emit)
		}
		if r.chain == c {
			r.chain = c.journaling()
		}
		return past(ctx, r, emit)
	}
}

// journaling returns the chain that has the journal: the only one that this chain fills, or this one.
func (c *chain) journaling() *chain {
	c.filling.Lock()
	defer c.filling.Unlock()
	if len(c.inner) == 1 {
		for _, filled := range c.inner {
			return filled
		}
	}
	return c
}

// fill gives a request in another chain what the Env of that one leaves out and this one sets, unless an editor has run. It
// reports what is ignored.
func (c *chain) fill(ctx context.Context, r *Request) {
	if r.view == nil {
		r.chain = r.chain.filled(c)
		r.protect = r.chain.env.Protect
	}
	if c.env.Suggested || r.observers == nil {
		return
	}
	if ignored := c.given.besides(r.chain.given); len(ignored) > 0 && (r.dry != nil || c.warned.once(r, "Env")) {
		r.Report(ctx, Event{Kind: Misconfigured, By: "middleware.With", Why: strings.Join(ignored, ", ") +
			" of this chain is ignored, since an outer chain has its own Env; set it there"})
	}
}

// onView makes a middleware of a step that works on the view of a request. Outside of a chain it is a chain of its own. The
// step may change the request that is passed on, and returns the view that this request carries.
func onView(protect []string, step func(ctx context.Context, v *View, out *Request) (*View, error)) Middleware {
	own := newChain(Env{})
	return func(next Model) Model {
		var alone Model
		last := own.leave(next)
		inChain := func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
			if req.rememberer == nil {
				return alone(ctx, req, emit)
			}
			if len(protect) > 0 {
				r := *req
				r.protect, req = append(slices.Clip(r.protect), protect...), &r
			}
			var v *View
			var err error
			if req.view == nil {
				v, err = req.chain.open(ctx, req)
			} else {
				v, err = req.view.reopen(ctx, req, true)
			}
			if err != nil {
				return nil, err
			}
			out := *v.req
			v, err = step(ctx, v, &out)
			if err != nil {
				return nil, err
			}
			out.view, out.Messages = v, slices.Clip(v.result.Messages)
			return last(ctx, &out, emit)
		}
		alone = own.enter(inChain, inChain)
		return inChain
	}
}

// leave runs after the layers of a chain. In that of the rememberer, edits are remembered before the call; after it the
// innermost of the chains that remember settles: it knows what the model was sent.
func (c *chain) leave(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		if req.rememberer != c {
			return next(ctx, req, emit)
		}
		out, err := closeCall(ctx, req, "")
		if req.chain.uncounted.Load() != nil {
			req.chain.reportCounter(ctx, req)
		}
		if err != nil {
			return nil, err
		}
		if req.observers != nil {
			req.reportFloor(ctx)
		}
		if out.view == nil && req.observers != nil && req.dry == nil {
			out.watch(ctx)
		}
		resp, err := out.send(ctx, next, emit)
		if err != nil {
			if changed, refused := ParseVoidThinking(err); refused && KindOf(err) != VoidThinking {
				resp, err = out.resend(ctx, req, changed, err, next, emit)
			}
		}
		if by := out.req.settled.Load(); by != nil && req.settled != nil {
			req.settled.Store(by)
		}
		return resp, err
	}
}

// outgoing is a request that is about to be sent.
type outgoing struct {
	req      *Request
	view     *View // has the size of the request; nil: no editor has seen it
	replaced bool  // a layer after the last editor has replaced the messages
	begun    bool  // a piece of the answer has been emitted
	watched  bool  // no editor has seen it: the view is only for observers

	now    *sent // what is known of it; nil without a view
	same   int   // number of first messages that are those of the view
	before *sent // the call before; nil: unknown
	lead   bool  // the caller has the same leading system messages as then
}

// send calls the model with a request, and learns from the result.
func (o *outgoing) send(ctx context.Context, next Model, emit Emit) (*Response, error) {
	r := o.req
	if r.view != nil {
		o.describe()
	}
	if r.chain.env.Breakpoints {
		o.mark()
	}
	if o.watched { // behind mark, which knows nothing of a view that is only for observers
		o.describe()
	}
	r.settled = new(atomic.Pointer[settled])
	resp, err := (*Response)(nil), errPanicked
	inner, m := ctx, (*measurement)(nil)
	if r.observers != nil {
		inner, m = o.measure(ctx, emit != nil)
		defer func() { m.end(r.settled.Load(), resp, err) }()
	}
	counted := emit
	if emit != nil {
		counted = func(d Delta) error {
			if !o.begun && m != nil {
				m.piece()
			}
			o.begun = true
			return emit(d)
		}
	}
	resp, err = next(inner, r, counted)
	if m != nil {
		m.stop()
	}
	if err != nil {
		resp = nil
	} else if resp == nil {
		err = &Error{Kind: Invalid, Op: "middleware", Err: errors.New("the model returned neither a response nor an error")}
	}
	if o.view != nil {
		resp = o.settle(ctx, resp, err, m)
	}
	return resp, err
}

var errPanicked = errors.New("middleware: the model panicked")

// reopen returns the view as a later layer of the chain gets it with a request. If the messages were changed in between,
// the edits so far are remembered, and the changed messages are the history of a new view. edits means that it may be edited.
func (v *View) reopen(ctx context.Context, r *Request, edits bool) (*View, error) {
	if !v.repaired && history.Same(v.result.Messages, r.Messages) {
		return v.with(r), nil
	}
	own := *v.with(r)
	if s := own.session; s.thinking.rule == edit.ThinkingBound && !v.repaired && len(s.IDs) > 0 {
		passed := own.toBind()
		passed.Edited = false // void or not, it is what the next view begins with, which leaves out what is void
		now, _ := bound.Trust().Check(s.History, passed, own.result.LeftOut, -1)
		own = *s.note(&own, &own, now)
	}
	v, err := remember(ctx, &own)
	if err != nil {
		return nil, err
	}
	w := *r
	w.dry, r = r.dry.add(v), &w
	if edits {
		r.Report(ctx, Event{
			Kind: Notice, By: "middleware",
			Why: "the messages were changed between two editing middlewares, so the second one starts without earlier edits; " +
				"change them before the first editor or after the last one",
		})
	}
	economics := v.turn.economics
	v, err = r.chain.open(ctx, r)
	if err == nil {
		v.turn.reported, v.turn.economics = leading, economics
	}
	return v, err
}

// closeCall returns the request for the model. It carries the view as it is remembered and repaired; if a later layer has
// replaced the messages, these are sent. refusal is as in prepare.
func closeCall(ctx context.Context, r *Request, refusal string) (outgoing, error) {
	out := *r
	out.rememberer, out.repairers = nil, nil
	if r.view == nil {
		return outgoing{req: &out}, nil
	}
	own, v := sameSlice(r.view.result.Messages, r.Messages), r.view.with(r)
	switch {
	case !own && len(r.repairers) > 0: // they also see what was added after the last editor
		var err error
		v, err = r.view.reopen(ctx, r, false)
		if err != nil {
			return outgoing{}, err
		}
		own, out.dry = true, v.req.dry
	case v.model != v.session.model:
		v = v.forItsModel()
	}
	sent := v
	idle := !v.unsaved() && len(v.turn.attempts)+len(r.repairers) == 0 && r.dry == nil && v.session.thinking.rule != edit.ThinkingBound
	if !idle {
		kept, finished, err := finish(ctx, v, refusal)
		if err != nil {
			return outgoing{}, err
		}
		out.dry = out.dry.add(kept)
		sent = finished
	}
	out.view = sent
	if own { // what is void, or refused by another model, is gone
		out.Messages = slices.Clip(sent.result.Messages)
	} else if !sent.result.LeftOut.Equal(r.view.result.LeftOut) {
		out.Messages = withoutThinkingOf(out.Messages, r.view, sent.result.LeftOut)
	}
	return outgoing{req: &out, view: sent, replaced: !own}, nil
}

// finish repairs a view, and remembers its edits and attempts. It returns the view as it is remembered, which has the edits
// of another call if that was first, and the same with repairs. refusal is as in prepare.
func finish(ctx context.Context, v *View, refusal string) (kept, sent *View, err error) {
	own, sent, done, err := prepare(ctx, v, refusal) // first, since an error fails the call before anything is remembered
	if err != nil {
		return nil, nil, err
	}
	kept, err = remember(ctx, own)
	if err != nil {
		return nil, nil, err
	}
	if !sameSlice(kept.result.Messages, own.result.Messages) { // another call was first
		sent, done, err = repair(ctx, kept)
		if err != nil {
			return nil, nil, err
		}
	}
	w := *sent
	w.session, w.list = kept.session, kept.list
	w.turn = kept.turn.changed(reportRepairs(ctx, done))
	return kept, &w, nil
}

// sameSlice reports whether two slices are the same memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
