package middleware

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// chain is what the layers of one [With] share. It is safe for concurrent use.
type chain struct {
	env            Env  // with all defaults
	given          Env  // as the caller has set it
	hasEnv         bool // given sets something
	meter          tokens.Meter
	encoding       string                 // by which the counter counts; "" if unknown
	defaultCounter bool                   // the counter is the default one
	estimates      bool                   // the counter is an estimate
	origin         *chain                 // of a dry run: the chain that this one replaces
	uncounted      *atomic.Pointer[error] // a failure of the counter that no event has reported; nil inside: none

	histories history.Cache[state]
	windows   calibrate.Windows
	prompts   calibrate.Prompts
	model     atomic.Pointer[namedModel] // looked up last
	binding   sync.Map                   // names of models that have refused thinking after a change: true
	warned    conversation               // has the events of kind Misconfigured that were reported
	filling   sync.Mutex                 // guards inner
	inner     map[*chain]*chain          // by chains inside of it: itself with what they fill
	watcher   func() *chain              // sizes requests for observers that no editor has seen; it edits and remembers nothing
}

// newChain returns a chain with an Env, of which zero fields get their defaults.
func newChain(env Env) *chain {
	c := &chain{given: env, hasEnv: len(env.besides(Env{})) > 0, defaultCounter: env.Counter == nil, uncounted: new(atomic.Pointer[error])}
	if n, ok := env.Counter.(interface{ Name() string }); ok {
		c.encoding = n.Name()
	}
	_, estimate := env.Counter.(tokens.Estimate)
	c.estimates = c.defaultCounter || estimate
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
	c.watcher = sync.OnceValue(func() *chain {
		return newChain(Env{Scope: env.Scope, Counter: c.given.Counter, Framing: c.given.Framing, Models: env.Models, Clock: env.Clock})
	})
	c.env = env
	c.meter = tokens.Meter{Counter: env.Counter, Framing: env.Framing}
	return c
}

// filled returns the chain with what the Env of a chain inside of it sets and its own leaves out. Edits are remembered in the same
// journal, so they are found whichever of several inner chains a call takes. If there is nothing to fill, it is the chain itself.
func (c *chain) filled(inner *chain) *chain {
	c.filling.Lock()
	defer c.filling.Unlock()
	if known := c.inner[inner]; known != nil {
		return known
	}
	made, fills := c, false
	env := c.given
	to, from := reflect.ValueOf(&env).Elem(), reflect.ValueOf(inner.given)
	for i := range to.NumField() {
		if to.Field(i).IsZero() && !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
			fills = true
		}
	}
	if fills {
		if env.Journal == nil {
			env.Journal = c.env.Journal
		}
		made = newChain(env)
	}
	if c.inner == nil {
		c.inner = map[*chain]*chain{}
	}
	c.inner[inner] = made
	return made
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
	_, estimate := c.(tokens.Estimate)
	if estimate || c == tokens.Chars4 || c == tokens.CJK15 || c == tokens.Cautious {
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
	n = c.Counter.Count(text)
	if n < 0 {
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
		Kind: Failed, By: "middleware", Reason: "counter", Err: *failed,
		Why: "the call continues with an estimate for each text that was not counted",
	})
}
