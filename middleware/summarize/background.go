package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/store"
)

// advice is what is stored of a conversation when its soft threshold was reached: how it was then, and the summary that is prepared.
type advice struct {
	length int        // of the history
	fold   message.ID // the newest one

	ended  atomic.Bool // the preparation has ended: job and result are valid
	job    job         // without a task: nothing was prepared
	result *product    // nil: it failed
}

type adviceKey struct{ *editor }

func (e *editor) adviceOf(v *middleware.View) *advice {
	a, _ := v.Load(adviceKey{e}).(*advice)
	return a
}

// report reports the requests of a preparation that has ended, once. The fold that uses it reports its event of kind [Summarized].
func (a *advice) report(ctx context.Context, v *middleware.View) {
	if a != nil && a.ended.Load() && a.job.task != nil && !v.Request().Dry() {
		a.job.log.tell(ctx, v, false)
	}
}

// advise reports that a fold is near, and has its summary prepared. It plans nothing.
func (e *editor) advise(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Request().Forces(layerName) || e.cache.isRecursive(ctx) {
		return nil, nil
	}
	e.adviceOf(v).report(ctx, v)
	s, err := e.status(v)
	if err != nil || s.Urgency != "soft" {
		return nil, nil //nolint:nilerr // the fold itself reports invalid options
	}
	a := e.remind(ctx, v)
	if a == nil {
		return nil, nil
	}
	why := s.Why
	if s.Threshold > 0 {
		why = fmt.Sprintf("%d tokens, a fold is advised from %d on", s.Tokens, s.Threshold)
	}
	if e.prepare(ctx, v, a) {
		why += "; its summary is prepared in the background"
	}
	v.Report(ctx, middleware.Event{Kind: Advised, By: layerName, Why: why})
	return nil, nil
}

// remind stores new advice for the conversation. It returns nil if the next fold has been
// advised already, or if a preparation has not ended.
func (e *editor) remind(ctx context.Context, v *middleware.View) *advice {
	e.advising.Lock()
	defer e.advising.Unlock()
	now := &advice{length: len(v.History())}
	for i := range v.Len() {
		if r := ownFold(v, i); r != nil {
			now.fold = r.ID
		}
	}
	if before := e.adviceOf(v); before != nil {
		if before.fold == now.fold && before.length <= now.length || !before.ended.Load() {
			return nil
		}
		before.report(ctx, v)
	}
	v.Store(adviceKey{e}, now)
	return now
}

// prepare starts the summary of what would be folded now. If it returns false, nothing is prepared.
func (e *editor) prepare(ctx context.Context, v *middleware.View, a *advice) bool {
	var tasks []*task
	if e.Background != nil && !v.Request().Dry() && e.Strategy.Custom == nil && e.writer.asks() {
		tasks = e.tasks(ctx, newOrigins(v), e.Strategy.divide(e.pieces(v)))
	}
	if len(tasks) == 1 { // the next fold divides several at other messages
		j := job{task: tasks[0], log: &eventLog{later: true}, background: true}
		if e.Background(func(later context.Context) {
			defer a.ended.Store(true)
			a.job = j
			a.result, _ = modelwriter.Call(context.WithValue(later, inside.Origin{}, ctx), 0, j.make)
		}) {
			return true
		}
	}
	a.ended.Store(true)
	return false
}

// preparedOf returns the task of a prepared summary of some of the pieces, if it is still valid and the trigger is not met once it
// is used, or nil. Messages that were kept then may be folded with them now.
func (e *editor) preparedOf(ctx context.Context, o *origins, all []piece) *task {
	a := e.adviceOf(o.view)
	if a == nil || !a.ended.Load() || a.result == nil {
		return nil
	}
	outside := func(k int) bool {
		_, found := slices.BinarySearchFunc(a.job.covers, k, func(c covered, k int) int { return cmp.Compare(c.at, k) })
		return !found
	}
	var pieces []piece
	for _, p := range all {
		if !slices.ContainsFunc(o.of(p.Run), outside) {
			pieces = append(pieces, p)
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	t := e.gather(o, block{pieces: pieces})
	if t.key != a.job.key || t.size(a.result) >= t.before { // its last line has the handle of what was folded then
		return nil
	}
	t.limit(ctx) // if the result is not used
	t.estimate, t.ready = t.size(a.result), a.result
	edit := middleware.Edit{Kind: journal.Fold, Runs: neighbours(pieces), Messages: a.result.messages}
	after, err := o.view.Preview(layerName, &middleware.Plan{Edits: []middleware.Edit{edit}})
	if err != nil {
		return nil // the summary is made anew, which reports it
	}
	if met, _, err := e.Trigger.Met(after, func() *middleware.Plan { return nil }); met || err != nil {
		return nil
	}
	return t
}

// key identifies a summary by the messages that it covers, and so by all before them.
type key struct {
	scope  string
	last   message.ID   // of the newest message
	covers string       // positions, without the leading system messages, whose number may change
	handle store.Handle // in the archive
	asked  Decision     // of Options.Before
}

// cache holds up to 64 summaries, and makes equal concurrent ones once. It serves
// concurrent calls, dry runs and preparations; what is used is in the journal.
type cache struct {
	mu      sync.Mutex
	flights map[key]*flight
}

// flight is a summary that is being made, or has been.
type flight struct {
	done    chan struct{} // closed once the others are set
	product *product      // nil while it is being made, guarded by the mutex
	err     error
	retry   bool // the maker was cancelled, failed in the background, or panicked: others make it themselves
}

// recursive is the context key of calls that a summariser makes.
type recursive struct{ *cache }

// isRecursive reports whether a call is made by a summariser of this middleware. To fold it would wait for that summariser itself.
func (c *cache) isRecursive(ctx context.Context) bool { return ctx.Value(recursive{c}) != nil }

// do returns the product of the key, or makes it; own reports whether this call made it. Concurrent calls wait for the first one.
func (c *cache) do(
	ctx context.Context, k key, background bool, write func(context.Context) (*product, error),
) (p *product, own bool, err error) {
	const most = 64
	for {
		c.mu.Lock()
		f := c.flights[k]
		own := f == nil
		if own && len(c.flights) >= most {
			maps.DeleteFunc(c.flights, func(_ key, f *flight) bool { return f.product != nil })
		}
		if own {
			f = &flight{done: make(chan struct{}), retry: true}
			c.flights[k] = f
		}
		c.mu.Unlock()
		if own {
			p, err := c.fly(ctx, k, f, background, write)
			return p, true, err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		if !f.retry {
			return f.product, false, f.err
		}
	}
}

// fly makes a product, and ends the flight, also after a panic. One that failed is forgotten.
func (c *cache) fly(
	ctx context.Context, k key, f *flight, background bool, write func(context.Context) (*product, error),
) (p *product, err error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		f.product = p
		if p == nil {
			delete(c.flights, k)
		}
		close(f.done)
	}()
	p, err = write(context.WithValue(ctx, recursive{c}, true))
	_, bug := errors.AsType[*modelwriter.PanicError](err)
	f.err, f.retry = err, err != nil && (background || bug || ctx.Err() != nil)
	return p, err
}
