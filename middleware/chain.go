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
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// With is [Chain] with an Env. If chains are nested, the Env of the outer one holds, and that of an inner one fills the fields
// that the outer one leaves at zero; but none is filled once an editing middleware has run. An event of kind [Misconfigured]
// names the fields that an inner one sets differently. With panics with "middleware: With: …" if Protect has an empty name.
func With(env Env, mws ...Middleware) Middleware {
	if err := validateTools(env.Protect); err != nil {
		panic("middleware: With: " + err.Error())
	}
	if len(mws) == 0 {
		return func(next Model) Model { return next }
	}
	if i := slices.IndexFunc(mws, func(mw Middleware) bool { return mw == nil }); i >= 0 {
		panic(fmt.Sprintf("middleware: Chain: argument %d of %d is a nil Middleware", i+1, len(mws)))
	}
	mws = slices.Clone(mws)
	mws[0] = named("middleware.With", map[string][]string{"Protect": env.Protect}, mws[0])
	c := newChain(env)
	return func(next Model) Model { return c.wrap(next, mws...) }
}

// validateTools returns an error for an empty name in a list of protected tools, which
// would protect each result that does not name its tool.
func validateTools(protect []string) error {
	if i := slices.Index(protect, ""); i >= 0 {
		return fmt.Errorf("the entry Protect[%d] is empty, want the name of a tool", i)
	}
	return nil
}

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

// binds reports whether the provider of a model has refused thinking after a change.
func (c *chain) binds(model string) bool {
	if c.origin != nil {
		c = c.origin
	}
	_, refused := c.binding.Load(model)
	return refused
}

// besides returns the names of the fields that this Env sets to other values than another one has.
func (e Env) besides(other Env) (names []string) {
	a, b := reflect.ValueOf(e), reflect.ValueOf(other)
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		same := x.Comparable() && y.Comparable() && x.Equal(y)
		if k := x.Kind(); k == reflect.Func || k == reflect.Slice {
			same = x.Pointer() == y.Pointer()
		}
		if !x.IsZero() && !same {
			names = append(names, "Env."+a.Type().Field(i).Name)
		}
	}
	return names
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
	req.Report(ctx, Event{
		Kind: Failed, By: "middleware", Reason: "counter", Err: *failed,
		Why: "the call continues with an estimate for each text that was not counted",
	})
}

// dryRun is carried by the request of a dry run and collects the views that would be
// remembered. It never changes. It is nil in a real call.
type dryRun struct {
	outer *dryRun // the dry run that contains this one; nil: none
	views []*View // one for each history that editors have worked on
}

// add returns the dry run with a view that would be remembered now.
func (d *dryRun) add(v *View) *dryRun {
	if d == nil {
		return nil
	}
	views := slices.Clone(d.views)
	if n := len(views); n > 0 && sameSlice(views[n-1].session.IDs, v.session.IDs) {
		views = views[:n-1]
	}
	return &dryRun{outer: d.outer, views: append(views, v)}
}

// fork returns a chain that replaces another one: it knows what that one knows, and what would have been
// remembered in this dry run, and what it does has no effect outside of it.
func (d *dryRun) fork(c *chain) *chain {
	for _, v := range slices.Backward(d.views) {
		if f := v.session.chain; f.origin == c {
			return forkChain(f, c)
		}
	}
	if d.outer != nil {
		c = d.outer.fork(c)
	}
	return forkChain(c, c)
}

func forkChain(c, origin *chain) *chain {
	f := &chain{
		env: c.env, given: c.given, hasEnv: c.hasEnv, meter: c.meter, encoding: c.encoding,
		defaultCounter: c.defaultCounter, estimates: c.estimates, uncounted: c.uncounted,
		origin: origin,
	}
	f.env.Journal = &entries.Overlay{Below: c.env.Journal, Top: journal.NewMemory(0)}
	c.windows.Fork(&f.windows)
	c.prompts.Fork(&f.prompts)
	c.histories.Fork(&f.histories, func(st state) state {
		st.conversation = st.conversation.fork()
		st.result = edit.Result{}
		return st
	})
	return f
}

// conversation is what a chain remembers of a conversation in addition to its edits. The
// histories of a conversation share it. It is not in the journal.
type conversation struct {
	mu     sync.Mutex
	values map[any]any
	guess  atomic.Pointer[calibrate.Windows] // after refusals without a usable number, under the name ""; nil: none

	refuses atomic.Bool  // the provider has refused a prompt as too long
	kept    atomic.Int64 // tokens, as counted, of the newest prompt whose usage was written to the journal
}

// Keys of this package in conversation.values.
type (
	reported struct{ what string } // true: this event has been reported
	failures struct{ name string } // [progress] of an editor
	checked  struct{ name string } // true: observers know whether the trigger of an editor can be satisfied
)

func (c *conversation) load(key any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key]
}

// store replaces a value, or removes it if the new one is nil, and returns the value before.
func (c *conversation) store(key, value any) (before any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.values[key]
	switch {
	case value == nil:
		delete(c.values, key)
		return before
	case c.values == nil:
		c.values = map[any]any{}
	}
	c.values[key] = value
	return before
}

// once reports whether this is the first time in the conversation that observers of a
// request are about to receive an event. It returns false if there is no observer.
func (c *conversation) once(req *Request, event string) bool {
	return req.observers != nil && c.store(reported{event}, true) == nil
}

// fork returns a conversation that starts with the values of this one. It has all events again.
func (c *conversation) fork() *conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &conversation{values: map[any]any{}}
	if known := c.guess.Load(); known != nil {
		guess := new(calibrate.Windows)
		known.Fork(guess)
		f.guess.Store(guess)
	}
	f.refuses.Store(c.refuses.Load())
	for k, v := range c.values {
		switch k.(type) {
		case reported, checked:
		default:
			f.values[k] = v
		}
	}
	return f
}
