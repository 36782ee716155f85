package middleware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/internal/steady"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// One call runs through these functions:
//
//	chain.enter    a chain becomes the one whose Env holds
//	openView       the first editor gets the view: the history with its remembered edits (chain.open)
//	layer.around   each editor edits; see editing.go
//	chain.leave    repairs are made and edits are remembered (closeCall), then the model is called
//	learn          the answer calibrates token counts and windows; see session.go

// chain is what the layers of one [With] share. It is safe for concurrent use.
type chain struct {
	env            Env  // with all defaults
	given          Env  // as the caller has set it
	hasEnv         bool // given sets something
	meter          tokens.Meter
	encoding       string                 // by which the counter counts; "" if unknown
	defaultCounter bool                   // the counter is the default one
	estimates      bool                   // the counter is an estimate
	goodCounter    bool                   // the counter is an estimate or a tokenizer, and not a rule of thumb
	origin         *chain                 // of a dry run: the chain that this one stands in for
	uncounted      *atomic.Pointer[error] // a failure of the counter that no event has reported; nil inside: none

	histories history.Cache[state]
	windows   calibrate.Windows
	prompts   calibrate.Prompts
	recent    entries.Recent
	model     atomic.Pointer[namedModel] // looked up last
	binding   sync.Map                   // names of models that have refused thinking behind something changed: true
	warned    conversation               // has the events of kind Misconfigured that were reported
}

// wrap puts middlewares around a model.
func (c *chain) wrap(next Model, mws ...Middleware) Model {
	next = c.leave(next)
	for _, mw := range slices.Backward(mws) {
		next = mw(next)
	}
	return c.enter(next)
}

// enter runs before the layers of a chain: the request gets the chain whose Env holds, and the rememberer: the chain
// whose leave remembers the edits, so that each session is closed exactly once. It does not look at the history: a
// layer before the first editor may still add to it.
func (c *chain) enter(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		outermost, inside := req.chain == nil, req.rememberer != nil // of all chains; inside the layers of another chain
		r := *req
		switch {
		case outermost, // there is no other Env
			c.hasEnv && !inside, // after the layers of another chain, with an Env of its own
			c.hasEnv && !req.chain.hasEnv && req.view == nil: // inside one without an Env, before its first editor
			r.chain, r.rememberer, r.view, r.protect = c, c, nil, c.env.Protect
			if c.given.Journal != nil || c.given.Archive != nil {
				ctx = guard.Share(ctx)
			}
		case !inside: // after the layers of another chain: continues with its Env and view
			r.rememberer = c
		case c.hasEnv && req.chain != c && req.observers != nil:
			if ignored := c.given.besides(req.chain.given); len(ignored) > 0 && (req.dry != nil || c.warned.once(req, "Env")) {
				c.report(ctx, req, Event{Kind: Misconfigured, By: "middleware.With", Why: strings.Join(ignored, ", ") +
					" of this chain is ignored, since an outer chain has its own Env; set it there"})
			}
		}
		return next(ctx, &r, emit)
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
		resp, err := out.send(ctx, next, emit)
		if changed, refused := ParseVoidThinking(err); refused && KindOf(err) != VoidThinking {
			resp, err = out.resend(ctx, req, changed, err, next, emit)
		}
		if by := out.req.settled.Load(); by != nil && req.settled != nil {
			req.settled.Store(by)
		}
		return resp, err
	}
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
	r.settled = new(atomic.Pointer[chain])
	watched := emit
	if emit != nil {
		watched = func(d Delta) error {
			o.begun = true
			return emit(d)
		}
	}
	resp, err := next(ctx, r, watched)
	if err != nil {
		resp = nil
	} else if resp == nil {
		err = &Error{Kind: Invalid, Op: "middleware", Err: errors.New("the model returned neither a response nor an error")}
	}
	if r.view != nil {
		var by *chain
		if by, resp = o.settle(ctx, r.settled.Load(), resp, err); by != nil {
			r.settled.Store(by)
		}
	}
	return resp, err
}

// openView returns the view that the request carries, or makes the first one.
func openView(ctx context.Context, r *Request) (*View, error) {
	v := r.view
	if v == nil {
		return r.chain.open(ctx, r)
	}
	if !v.repaired && history.Same(v.result.Messages, r.Messages) {
		return v.with(r), nil
	}
	own := *v.with(r)
	if s := own.session; s.thinking.binds() && !v.repaired && len(s.IDs) > 0 {
		own.thinking = s.thinkingSent(&own, &own)
	}
	v, err := remember(ctx, &own)
	if err != nil {
		return nil, err
	}
	w := *r
	w.dry, r = r.dry.add(v), &w
	r.chain.report(ctx, r, Event{
		Kind: Notice, By: "middleware",
		Why: "the messages were changed between two editing middlewares, so the second one starts without earlier edits; " +
			"change them before the first editor or after the last one",
	})
	if v, err = r.chain.open(ctx, r); err == nil {
		v.told = 0
	}
	return v, err
}

// open makes the first view of a request: the history with all edits that are remembered for it and hold.
func (c *chain) open(ctx context.Context, req *Request) (*View, error) {
	if req.dry != nil {
		c = req.dry.fork(c)
	}
	if req.Budget != nil {
		if err := req.Budget.Validate(); err != nil {
			return nil, &Error{Kind: Invalid, Op: "middleware", Err: err}
		}
	}
	s, ch, err := c.follow(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := s.loadEdits(ctx, req, ch); err != nil {
		return nil, err
	}
	const slidesToReport = 2
	if s.Slides == slidesToReport && len(s.IDs) > 0 && s.State.conversation.once(req, "sliding") {
		c.report(ctx, req, Event{
			Kind: Notice, By: "middleware",
			Why: "the caller drops its oldest messages from call to call, so no edit can be kept; " +
				"pass the whole history and let the chain shorten it",
		})
	}
	s.calibrate(ctx, req)
	v := &View{
		session: s, req: req, list: s.State.list, result: s.result(), unsaved: s.State.unwritten != nil, tools: s.ToolTokens,
		model: s.model, budget: s.budget, told: untold,
	}
	if s.told != untold {
		v.told = s.indexFrom(s.told)
	}
	v.measure()
	v.reportRecalled(ctx)
	c.histories.Publish(s.Track)
	if req.dry == nil && c.uncounted.Load() != nil {
		c.reportCounter(ctx, req)
	}
	return v, nil
}

// follow returns a session for the history of a request. Only what is new since an
// earlier call is looked at and counted.
func (c *chain) follow(ctx context.Context, req *Request) (*session, history.Change, error) {
	lead := message.Leading(req.Messages)
	given := history.Given{Lead: req.Messages[:lead], Body: req.Messages[lead:], Steady: steady.Has(ctx, req.Messages)}
	t, ch, err := c.histories.Follow(given, c.meter, newState)
	if err != nil {
		return nil, ch, &Error{Kind: Invalid, Op: "middleware", Err: err}
	}
	if !slices.Equal(t.Tools, req.Tools) {
		t.Tools, t.ToolTokens = slices.Clone(req.Tools), c.meter.Tools(req.Tools)
	}
	m, budget := c.modelOf(req)
	return &session{
		Track: t, opened: t, chain: c, all: t.Ordered(req.Messages), told: untold,
		model: m, budget: budget,
		log: entries.Log{
			History: &t.History, Journal: c.env.Journal, Scope: c.env.Scope, Shared: c.given.Journal != nil, Recent: &c.recent,
		},
	}, ch, nil
}

// closeCall returns the request for the model. It carries the view as it is remembered and repaired; if a later layer has
// replaced the messages, these are sent. refusal is as in prepare.
func closeCall(ctx context.Context, r *Request, refusal string) (outgoing, error) {
	out := *r
	out.rememberer, out.repairers = nil, nil
	if r.view == nil {
		return outgoing{req: &out}, nil
	}
	own, v := sameSlice(r.view.result.Messages, r.Messages), r.view.with(r).forItsModel()
	if !own && len(r.repairers) > 0 { // they also see what was added after the last editor
		var err error
		if v, err = openView(ctx, r); err != nil {
			return outgoing{}, err
		}
		own, out.dry = true, v.req.dry
	}
	finishes := v.unsaved || len(v.attempts) > 0 || len(r.repairers) > 0 || r.dry != nil
	if finishes || v.session.thinking.binds() || v.session != r.view.session {
		kept, sent, err := finish(ctx, v, refusal)
		if err != nil {
			return outgoing{}, err
		}
		switch out.dry = out.dry.add(kept); {
		case own:
			out.carry(sent)
		case !sent.result.LeftOut.Equal(r.view.result.LeftOut):
			out.Messages = withoutThinkingOf(out.Messages, r.view, sent.result.LeftOut)
		}
		v = sent
	} else if own {
		out.carry(v) // may have more thinking than the last editor has seen
	}
	out.view = v
	return outgoing{req: &out, view: v, replaced: !own}, nil
}

// finish repairs a view, and remembers its edits and attempts. It returns the view as it is remembered, which has the edits
// of another call if that was first, and the same with repairs. refusal is as in prepare.
func finish(ctx context.Context, v *View, refusal string) (kept, sent *View, err error) {
	own, sent, done, err := prepare(ctx, v, refusal) // first, since an error fails the call before anything is remembered
	if err != nil {
		return nil, nil, err
	}
	if kept, err = remember(ctx, own); err != nil {
		return nil, nil, err
	}
	if !sameSlice(kept.result.Messages, own.result.Messages) { // another call was first
		if sent, done, err = repair(ctx, kept); err != nil {
			return nil, nil, err
		}
	}
	w := *sent
	w.session, w.list, w.unsaved, w.attempts = kept.session, kept.list, kept.unsaved, kept.attempts
	w.told = min(w.told, own.told, reportRepairs(ctx, done))
	return kept, &w, nil
}

// sameSlice reports whether two slices are the same memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// newChain returns a chain with an Env, of which zero fields get their defaults.
func newChain(env Env) *chain {
	c := &chain{given: env, hasEnv: len(env.besides(Env{})) > 0, defaultCounter: env.Counter == nil, uncounted: new(atomic.Pointer[error])}
	if n, ok := env.Counter.(interface{ Name() string }); ok {
		c.encoding = n.Name()
	}
	_, estimate := env.Counter.(tokens.Estimate)
	c.estimates = c.defaultCounter || estimate
	c.goodCounter = c.estimates || c.encoding != ""
	env.Protect = slices.Clone(env.Protect)
	if env.Journal == nil {
		env.Journal = journal.NewMemory(0)
	}
	if env.Counter == nil {
		env.Counter = tokens.Estimate{}
	}
	env.Counter = tokens.Memo(contained(env.Counter, c.uncounted))
	env.Framing = cmp.Or(env.Framing, tokens.DefaultFraming())
	if env.Models == nil {
		env.Models = models.Default()
	}
	if env.Clock == nil {
		env.Clock = time.Now
	}
	c.env = env
	c.meter = tokens.Meter{Counter: env.Counter, Framing: env.Framing}
	return c
}

// report gives an event to the observers of a request.
func (c *chain) report(ctx context.Context, req *Request, e Event) {
	if req.observers != nil {
		e.Time = c.env.Clock()
		req.observers.report(ctx, e)
	}
}

// counter is the counter of a chain. A text for which the counter of the caller panics or
// returns a negative number is estimated.
type counter struct {
	tokens.Counter

	failed *atomic.Pointer[error]
}

// contained returns a counter that does not panic. Those of package tokens never do.
func contained(c tokens.Counter, failed *atomic.Pointer[error]) tokens.Counter {
	switch c.(type) {
	case tokens.Estimate, tokens.Chars4, tokens.CJK15, tokens.Cautious:
		return c
	}
	return counter{c, failed}
}

// Count implements [tokens.Counter].
func (c counter) Count(text string) (n int) {
	var err error
	defer func() {
		if err != nil {
			n = tokens.Estimate{}.Count(text)
			failure := err // err itself would be allocated in each call
			c.failed.Store(&failure)
		}
	}()
	defer caught("counter", &err)
	if n = c.Counter.Count(text); n < 0 {
		err = fmt.Errorf("counter returned %d for a text of %d bytes", n, len(text))
	}
	return n
}

// reportCounter reports a failure of the counter since the last report. That of a dry run
// is in its draft, and the next call reports it as well.
func (c *chain) reportCounter(ctx context.Context, req *Request) {
	failed := c.uncounted.Load()
	if failed == nil || req.dry == nil && !c.uncounted.CompareAndSwap(failed, nil) {
		return
	}
	c.report(ctx, req, Event{
		Kind: Failed, By: "middleware", Err: *failed, Why: "the call continues with an estimate for each text that was not counted",
	})
}

// namedModel is what the table has for a name; the zero Model if it has nothing.
type namedModel struct {
	models.Model

	name     string
	budget   Budget          // zero if the table has no window
	thinking models.Thinking // what is demanded of thinking, also for names that the table has not
	priors   calibrate.Priors
}

// modelOf returns what is known of the model of a request, and the budget that the request or else the table declares.
func (c *chain) modelOf(req *Request) (*namedModel, Budget) {
	m := c.model.Load()
	if m == nil || m.name != req.Model {
		m = &namedModel{name: req.Model}
		if req.Model != "" {
			m.Model, _ = c.env.Models.Lookup(req.Model)
			m.thinking = c.env.Models.ThinkingOf(req.Model)
		}
		if m.Window > 0 {
			m.budget = Budget{Window: m.Window, Reserve: min(m.Output, m.Window/10)}
			if m.Input > 0 {
				m.budget.Reserve = max(m.budget.Reserve, m.Window-m.Input)
			}
		}
		m.priors = c.priors(m.Model)
		c.model.Store(m)
	}
	if req.Budget != nil {
		return m, *req.Budget
	}
	return m, m.budget
}

// priors are the rates for a model as long as no usage is reported. The ratios of the table
// are relative to o200k_base and hold for English. Others make more tokens of ideographs.
func (c *chain) priors(m models.Model) calibrate.Priors {
	encoding := c.encoding
	if c.defaultCounter {
		encoding = "o200k_base"
	}
	p := calibrate.Priors{Plain: 1}
	if m.Ratio > 0 && encoding == "o200k_base" {
		p.Plain = m.Ratio
	}
	switch {
	case encoding != "" && encoding == m.Encoding:
		p.Wide = p.Plain
	case encoding == "cl100k_base":
		p.Wide = 0.85 * p.Plain
	default:
		p.Wide = 1.15 * p.Plain
	}
	return p
}
