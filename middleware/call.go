package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/models"
)

// One call runs through this file from top to bottom:
//
//	enter    a chain becomes the one whose Env holds
//	open     the first editor gets the view: the history with its remembered edits
//	         (each editor edits; see editing.go)
//	close    repairs are made and edits are remembered, right before the model is called
//	learn    the answer calibrates token counts and windows

// wrap puts middlewares around a model.
func (c *chain) wrap(next Model, mws ...Middleware) Model {
	return c.enter(compose(c.leave(next), mws))
}

// enter runs before the layers of a chain. It does not look at the history yet: a layer
// before the first editor may still add to it.
//
// The request has one closer: the chain whose leave remembers the edits. Each session is
// closed exactly once, by the chain that became its closer here.
func (c *chain) enter(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		open := req.closer != nil // inside the layers of another chain
		late := open && req.view != nil
		r := *req
		switch {
		case req.chain == nil, c.given && !open, c.given && !req.chain.given && !late:
			r.chain, r.closer, r.view = c, c, nil
		case !open: // after the layers of another chain: continues with its Env and view
			r.closer = c
		case c.given && req.chain != c && (req.dry != nil || !c.ignored.Swap(true)):
			c.report(ctx, req, Event{
				Kind: Misconfigured, By: "middleware.With",
				Why: "this Env is ignored, since an outer chain has its own; give it to the outermost With",
			})
		}
		return next(ctx, &r, emit)
	}
}

// leave runs after the layers of a chain, right before the model, or before the layers of
// an outer chain.
func (c *chain) leave(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		if req.closer != c {
			return next(ctx, req, emit)
		}
		r, err := req.close(ctx)
		if err != nil {
			return nil, err
		}
		resp, err := next(ctx, r, emit)
		if resp == nil && err == nil {
			err = &Error{
				Kind: Invalid, Op: "middleware",
				Err: errors.New("the model returned neither a response nor an error, want one of them"),
			}
		}
		if err != nil {
			resp = nil
		}
		if v := r.View(); v != nil && r.dry == nil {
			v.learn(ctx, resp, err)
		}
		return resp, err
	}
}

// session is one history under the edits of a chain. Nothing in it changes while editors
// run.
type session struct {
	*history.Track[state]

	opened *history.Track[state] // as it was before the edits of this call were remembered
	chain  *chain
	all    []message.Message // the history as the caller passed it
	model  models.Model      // zero if unknown
	priors calibrate.Priors
}

// open returns the view that the request carries, or makes the first one.
func (r *Request) open(ctx context.Context) (*View, error) {
	v := r.view
	if v == nil {
		return r.chain.open(ctx, r)
	}
	if !v.repaired && history.Same(v.result.Messages, r.Messages) {
		return v.with(r), nil
	}
	v, err := v.with(r).remember(ctx)
	if err != nil {
		return nil, err
	}
	w := *r
	w.dry, r = r.dry.add(v), &w
	r.chain.report(ctx, r, Event{
		Kind: Reopened, By: "middleware",
		Why: "the messages were changed between two editing middlewares, so the second one starts without earlier edits; " +
			"change them before the first editor or after the last one",
	})
	return r.chain.open(ctx, r)
}

// open makes the first view of a request: the history with all edits that are remembered
// for it and hold.
func (c *chain) open(ctx context.Context, req *Request) (*View, error) {
	if req.dry != nil {
		c = req.dry.fork(c)
	}
	if req.Budget != nil {
		if err := req.Budget.Validate(); err != nil {
			return nil, &Error{Kind: Invalid, Op: "middleware", Err: err}
		}
	}
	s, ch, err := c.follow(req)
	if err != nil {
		return nil, err
	}
	const slidesToReport = 2
	sliding := s.Slides == slidesToReport && len(s.IDs) > 0 && s.State.asked == 0
	if err := s.recall(ctx, req, ch); err != nil {
		return nil, err
	}
	if sliding { // reported only now, since a call that is cancelled above would report it twice
		c.report(ctx, req, Event{
			Kind: Sliding, By: "middleware",
			Why: "the caller drops its oldest messages from call to call, so no edit can be kept; " +
				"pass the whole history and let the chain shorten it",
		})
	}
	s.calibrate(ctx, req)
	v := &View{session: s, req: req, list: s.State.list, result: s.result(), unsaved: s.State.unsaved != nil, tools: s.ToolTokens}
	v.measure()
	c.histories.Publish(s.Track)
	return v, nil
}

// follow returns a session for the history of a request. Only what is new since an
// earlier call is looked at and counted.
func (c *chain) follow(req *Request) (*session, history.Change, error) {
	lead := message.Leading(req.Messages)
	t, ch, err := c.histories.Follow(req.Messages[:lead], req.Messages[lead:], c.meter, c.measure, newState)
	if err != nil {
		return nil, ch, &Error{Kind: Invalid, Op: "middleware", Err: err}
	}
	if !slices.Equal(t.Tools, req.Tools) {
		t.Tools, t.ToolTokens = slices.Clone(req.Tools), c.meter.Tools(req.Tools)
	}
	m := c.modelOf(req.Model)
	return &session{Track: t, opened: t, chain: c, all: req.Messages, model: m, priors: c.priors(m)}, ch, nil
}

// calibrate takes the usage that has been reported since the last call: to this chain by
// the model, or to the caller, who keeps it in the messages.
func (s *session) calibrate(ctx context.Context, req *Request) {
	st := &s.State
	learn := func(at, charged, counted, edited int) {
		if !st.tokens.Learn(at, charged, counted, edited, s.priors) && st.conversation.once(req, string(UsageIgnored)) {
			s.chain.report(ctx, req, Event{Kind: UsageIgnored, By: "middleware", Why: fmt.Sprintf(
				"the provider reported %d tokens for a prompt of %d by our count; if the server cuts long prompts, declare its window, "+
					"else set Env.Counter to a counter that fits", charged, counted)})
		}
	}
	var past *calibrate.Past
	from := max(st.calibrated-1, 0) // the answer to the newest message may have come since
	prompts := s.chain.prompts.Of(s.IDs[from:])
	for i := from; i < len(s.Body); i++ {
		if m := &s.Body[i]; i > st.tokens.At && m.Role == message.RoleAssistant && m.Usage != nil && m.Usage.Input > 0 {
			if past == nil {
				past = calibrate.PastOf(&s.History, st.list, s.chain.meter.Once()+s.ToolTokens+s.LeadSum)
			}
			counted, edited := past.Prompt(i)
			learn(i, m.Usage.Input, counted, edited)
		}
		if i >= st.calibrated && s.Wide[i] {
			st.tokens.Wide += s.Tokens[i]
		}
		if prompts != nil && prompts[i-from].Charged > 0 && i+1 >= st.tokens.At {
			p := prompts[i-from]
			learn(i+1, p.Charged, p.Counted, p.Edited)
		}
	}
	st.calibrated = len(s.Body)
}

// result returns the history with the edits that hold. It reuses that of the last call.
func (s *session) result() edit.Result {
	st := &s.State
	switch {
	case len(st.list) == 0:
		return s.Apply(s.all, nil, nil, 0)
	case st.shown:
		st.result.Append(&s.History, st.result.Upto, len(s.Body))
	default:
		st.result, st.shown = s.Apply(s.all, st.list, nil, 0), true
	}
	return st.result
}

// close returns the request for the model: with the view as it is remembered, and as the
// repairers want it. If a repairer fails, nothing is remembered.
func (r *Request) close(ctx context.Context) (*Request, error) {
	out := *r
	out.closer, out.repairers = nil, nil
	if r.view == nil {
		return &out, nil
	}
	own := sameSlice(r.view.result.Messages, r.Messages)
	v := r.view.with(r)
	if !own && len(r.repairers) > 0 { // they also see what was added after the last editor
		var err error
		if v, err = r.open(ctx); err != nil {
			return nil, err
		}
		own, out.dry = true, v.req.dry
	}
	sent, repairs, err := v.repair(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := v.remember(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !sameSlice(kept.result.Messages, v.result.Messages): // another call was first
		if sent, repairs, err = kept.repair(ctx); err != nil {
			return nil, err
		}
	case sent == v:
		sent = kept
	default:
		w := *sent
		w.list, w.unsaved, w.attempts = kept.list, kept.unsaved, kept.attempts
		sent = &w
	}
	for _, r := range repairs {
		r.report(ctx)
	}
	out.dry = out.dry.add(kept)
	if own {
		out.carry(sent)
	}
	return &out, nil
}

// learn takes what the result of a model call says about its prompt.
func (v *View) learn(ctx context.Context, resp *Response, err error) {
	if err == nil {
		v.accepted(resp.Usage.Input)
	} else if n, ok := ParseOverflow(err); ok {
		v.overflowed(ctx, n)
	}
}

// accepted takes that the provider has accepted the prompt and charged so many tokens; 0 if
// it did not report them.
func (v *View) accepted(charged int) {
	s := v.session
	sent := v.size.Tokens
	if charged > 0 {
		sent = charged
		v.learnPrompt(charged)
	}
	s.chain.windows.Change(v.req.Model, func(w *calibrate.Window) { w.Accept(sent) })
	s.State.conversation.window(func(w *calibrate.Window) { w.Accept(sent) })
}

// learnPrompt remembers what the provider has charged for the prompt of this view.
func (v *View) learnPrompt(charged int) {
	s := v.session
	if len(s.IDs) == 0 {
		return
	}
	p := calibrate.Prompt{Charged: charged, Counted: v.size.Counted}
	for _, it := range v.list {
		p.Edited = max(p.Edited, it.HistoryLen)
	}
	s.chain.prompts.Put(s.IDs[len(s.IDs)-1], p)
}

// overflowed takes that the provider has refused the prompt as too long. A number that
// can be right is learned for the model; otherwise the window is guessed, for this
// conversation only.
func (v *View) overflowed(ctx context.Context, n PromptLimits) {
	const tryNext = 0.8 // share of a refused prompt that is tried next if there is no number
	s := v.session
	declared, _ := v.declared()
	share := 1.0 // of the window that the prompt may fill
	if declared.Window > 0 {
		share = float64(declared.Room()) / float64(declared.Window)
	}
	sent := v.size.Tokens
	trusted := calibrate.Plausible(float64(n.Sent), float64(v.size.Counted))
	if trusted {
		v.learnPrompt(n.Sent)
	}
	window, why := n.Limit, fmt.Sprintf("the provider says that its window is %d", n.Limit)
	if room := n.Limit - n.Answer; n.Answer > 0 && room > 0 {
		window = min(window, int(float64(room)/share))
		why += fmt.Sprintf(", %d of it for the answer", n.Answer)
	}
	if window <= 0 || !trusted && float64(sent) <= share*float64(window) {
		window = 0
		if room := sent - n.Over; n.Over > 0 && room > 0 {
			window, why = int(float64(room)/share), fmt.Sprintf("the provider says that %d are too many", n.Over)
		}
	}
	learned := false
	s.chain.windows.Change(v.req.Model, func(w *calibrate.Window) { learned = w.Learn(window, declared.Window) })
	scope := "for this model"
	if !learned {
		switch {
		case window > 0 && trusted: // right about this prompt, if not for every one
		case window > 0:
			why += ", which cannot be right"
			window = int(tryNext * float64(sent) / share)
		default:
			why = "the provider does not say how many it accepts"
			window = int(tryNext * float64(sent) / share)
		}
		window, scope = max(1, window), "for this conversation"
		s.State.conversation.window(func(w *calibrate.Window) { w.Guess(window) })
	}
	s.chain.report(ctx, v.req, Event{
		Kind: TooLong, By: "middleware", Before: sent, After: sent,
		Why: fmt.Sprintf("a prompt of %d tokens by our count was refused as too long: %s; the window counts as %d %s from now on",
			sent, why, window, scope),
	})
}
