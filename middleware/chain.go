package middleware

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// chain is what the layers of one [With] share. It is safe for concurrent use.
type chain struct {
	env       Env // with all defaults
	given     bool
	meter     tokens.Meter
	encoding  string // by which the counter counts; "" if unknown
	estimates bool   // the counter is the default one
	origin    *chain // of a dry run: the chain that this one stands in for

	histories history.Cache[state]
	windows   calibrate.Windows
	prompts   calibrate.Prompts
	writes    writes
	model     atomic.Pointer[namedModel] // looked up last
	ignored   atomic.Bool                // an event has reported that the Env came too late
}

// newChain returns a chain with an Env, of which zero fields get their defaults.
func newChain(env Env) *chain {
	c := &chain{estimates: env.Counter == nil}
	c.given = env.Scope != "" || env.Journal != nil || env.Counter != nil || env.Framing != (tokens.Framing{}) ||
		env.Models != nil || env.Archive != nil || env.Clock != nil || env.HistoryIsView
	if n, ok := env.Counter.(interface{ Name() string }); ok {
		c.encoding = n.Name()
	}
	if env.Journal == nil {
		env.Journal = journal.NewMemory(0)
	}
	if env.Counter == nil {
		env.Counter = tokens.Estimate{}
	}
	env.Counter = tokens.Memo(env.Counter)
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

// measure returns the tokens of a message and whether it is mostly ideographs.
func (c *chain) measure(m *message.Message) (tokens int, wide bool) {
	return c.meter.Message(*m), calibrate.IsWide(m)
}

// namedModel is what the table has for a name.
type namedModel struct {
	models.Model

	name string
}

// modelOf returns what the table has for a model, or the zero Model.
func (c *chain) modelOf(name string) models.Model {
	if name == "" {
		return models.Model{}
	}
	if m := c.model.Load(); m != nil && m.name == name {
		return m.Model
	}
	m, _ := c.env.Models.Lookup(name)
	c.model.Store(&namedModel{Model: m, name: name})
	return m
}

// priors are the rates for a model as long as no usage is reported. The ratios of the
// table are relative to o200k_base, which the default counter approximates, and hold for
// English. Other tokenizers make more tokens of ideographs.
func (c *chain) priors(m models.Model) calibrate.Priors {
	encoding := c.encoding
	if c.estimates {
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
