package middleware

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// chain is what the layers of one [With] share. It is safe for concurrent use.
type chain struct {
	env     Env // with all defaults
	scope   string
	journal Journal
	meter   tokens.Meter
	named   string // the encoding that the counter counts by; "": it does not say
	guesses bool   // the counter is the default one
	models  *models.Table
	clock   func() time.Time
	adopts  bool
	archive store.Store // nil if there is none
	given   bool        // somebody chose the Env
	origin  *chain      // what this acts for in a dry run; nil: for itself
	memo    memo
	windows windows
	newest  atomic.Pointer[known] // the model that was looked up last
	ignored atomic.Bool           // an event has said that the Env came too late
}

func newChain(env Env) *chain {
	c := &chain{scope: env.Scope, journal: env.Journal, models: env.Models, clock: env.Clock, adopts: env.HistoryIsView}
	if env.Archive != nil {
		c.archive = env.Archive
	}
	c.meter = tokens.Meter{Counter: env.Counter, Framing: env.Framing}
	c.given = env.Scope != "" || env.Journal != nil || c.meter != (tokens.Meter{}) || env.Models != nil || env.Clock != nil || env.HistoryIsView ||
		env.Archive != nil
	if c.journal == nil {
		c.journal = NewMemory(0)
	}
	if n, ok := env.Counter.(interface{ Name() string }); ok {
		c.named = n.Name()
	}
	if c.meter.Counter == nil {
		c.meter.Counter, c.guesses = tokens.Estimate{}, true
	}
	if c.models == nil {
		c.models = models.Default()
	}
	c.meter.Counter = tokens.Memo(c.meter.Counter)
	if c.meter.Framing == (tokens.Framing{}) { // rather here than for each message
		c.meter.Framing = tokens.DefaultFraming()
	}
	if c.clock == nil {
		c.clock = time.Now
	}
	c.env = Env{
		Scope: c.scope, Journal: c.journal, Counter: c.meter.Counter, Framing: c.meter.Framing, Models: c.models,
		Archive: env.Archive, Clock: c.clock, HistoryIsView: c.adopts,
	}
	return c
}

// enter stands before the layers of a chain. It does not look at the history
// yet: whatever a layer before the first editor adds to it shall count.
func (c *chain) enter(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		late := req.view != nil && !req.left // an outer chain has begun to edit
		switch {
		case req.owner == nil, c.given && req.left, c.given && !req.owner.given && !late:
			r := *req
			r.owner, r.view, r.left = c, nil, false
			req = &r
		case c.given && req.owner != c && (req.probe != nil || !c.ignored.Swap(true)):
			c.tell(ctx, req, Event{
				Kind: EnvIgnored, By: "middleware.With",
				Why: "an outer chain has its own Env; give it to the outermost With",
			})
		}
		return next(ctx, req, emit)
	}
}

// leave stands behind the layers of a chain, right before the model. If the
// chain is the owner of the request, what was edited is kept here, and so
// outlives a call that fails. A chain that was put behind the owner by hand
// goes on with the owner's view, and keeps what it adds itself.
func (c *chain) leave(next Model) Model {
	return func(ctx context.Context, req *Request, emit Emit) (*Response, error) {
		if req.owner != c && !req.left {
			return next(ctx, req, emit)
		}
		r, err := req.close(ctx)
		if err != nil {
			return nil, err
		}
		resp, err := either(next(ctx, r, emit))
		if v := r.View(); v != nil && r.probe == nil {
			v.hear(ctx, resp, err)
		}
		return resp, err
	}
}

func (c *chain) tell(ctx context.Context, req *Request, e Event) {
	if req.observers == nil {
		return
	}
	e.Time = c.clock()
	req.observers.tell(ctx, e)
}

// slidesToTell is how often the caller has to drop its first messages until
// an event says what that costs.
const slidesToTell = 2

// call is what does not change about a history while a chain edits it. Its
// slices are those of the body: the history without the leading system
// messages, which no edit touches. So are all positions inside this package,
// but for those of views.
type call struct {
	chain   *chain
	history []message.Message
	lead    int               // leading system messages
	body    []message.Message // the others, in memory that nobody else writes
	ids     []message.ID
	toks    []int
	tokens  int // of the whole history
	guard   guard
	track   *track       // what the memo knows of this history
	model   models.Model // what the table knows of the model; zero: nothing
}

// open makes the first view of a request: the history with all edits that are
// remembered for it.
func (c *chain) open(ctx context.Context, req *Request) (*View, error) {
	if req.Budget != nil {
		if err := req.Budget.Validate(); err != nil {
			return nil, &Error{Kind: Invalid, Op: "middleware", Err: err}
		}
	}
	t, err := c.follow(req)
	if err != nil {
		return nil, err
	}
	slid := t.slides == slidesToTell && len(t.ids) > 0 && t.asked == 0
	cl := &call{
		chain: c, history: req.Messages, lead: len(t.lead),
		body: t.body, ids: t.ids, toks: t.toks, tokens: t.tokens, track: t,
	}
	for _, n := range t.leadToks {
		cl.tokens += n
	}
	cl.guard = t.guard
	if err := c.recall(ctx, req, cl); err != nil {
		return nil, err
	}
	if slid { // only now, or a call that is cancelled above would be told of it twice
		c.tell(ctx, req, Event{
			Kind: Sliding, By: "middleware",
			Why: "the caller drops its oldest messages from call to call, so no edit can be kept; " +
				"pass the whole history and let the chain shorten it",
		})
	}
	v := &View{call: cl, req: req, list: t.found.list, tools: t.toolTokens, edited: t.found.unkept != nil}
	v.shape = t.view(cl)
	cl.model = c.model(req.Model)
	c.calibrate(ctx, req, cl)
	c.memo.publish(t)
	return v, nil
}

// follow returns the track of a request's history: the one of an earlier call
// grown by what is new, which alone is looked at and counted.
func (c *chain) follow(req *Request) (*track, error) {
	lead := message.Leading(req.Messages)
	body := req.Messages[lead:]
	t, common := c.memo.match(body)
	if common == 0 {
		t.slides = c.memo.slides(body)
	}
	for i := range req.Messages {
		if i >= lead && i < lead+common {
			continue
		}
		for k, p := range req.Messages[i].Parts {
			if !message.KnownPart(p) {
				return nil, &Error{
					Kind: Invalid, Op: "middleware",
					Err: fmt.Errorf("message %d: part %d is %T, want one of the part types of package message, by value", i, k, p),
				}
			}
		}
	}
	for i := common; i < len(body); i++ {
		n := c.meter.Message(body[i])
		t.toks = append(t.toks, n)
		t.wide = append(t.wide, isWide(&body[i]))
		t.tokens += n
	}
	t.leads(req.Messages[:lead], c.meter.Message)
	if !slices.Equal(t.tools, req.Tools) {
		t.tools = slices.Clone(req.Tools)
		t.toolTokens = c.meter.Tools(req.Tools)
	}
	return t, nil
}
