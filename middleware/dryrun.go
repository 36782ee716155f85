package middleware

import (
	"context"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// dryRun is carried by the request of a dry run and collects the views that would be
// remembered. It never changes. It is nil in a real call.
type dryRun struct {
	outer *dryRun // the dry run that this one is part of; nil if there is none
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

// fork returns a chain that stands in for another one: it knows what that one knows, and
// what would have been remembered in this dry run, and what it does has no effect outside
// of it.
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
		env: c.env, given: c.given, hasEnv: c.hasEnv, meter: c.meter, encoding: c.encoding, estimates: c.estimates, uncounted: c.uncounted,
		origin: origin,
	}
	f.env.Journal = &overlay{below: c.env.Journal, top: journal.NewMemory(0)}
	c.writes.mu.Lock()
	f.writes.recent, f.writes.count = slices.Clone(c.writes.recent), c.writes.count
	c.writes.mu.Unlock()
	c.histories.Fork(&f.histories, func(st state) state {
		st.conversation = st.conversation.fork()
		st.result, st.shown = edit.Result{}, false
		return st
	})
	return f
}

// overlay is a journal on top of another one, which it only reads.
type overlay struct {
	below journal.Journal
	top   *journal.Memory
}

// Latest implements [journal.Journal].
func (o *overlay) Latest(ctx context.Context, scope string, ids []message.ID) (at int, e journal.Entry, ok bool, err error) {
	at, e, ok, err = o.top.Latest(ctx, scope, ids)
	if err != nil {
		return 0, journal.Entry{}, false, err
	}
	from := 0
	if ok {
		from = at + 1
	}
	if from == len(ids) {
		return at, e, ok, nil
	}
	k, below, found, err := o.below.Latest(ctx, scope, ids[from:])
	if err != nil || !found {
		return at, e, ok && err == nil, err
	}
	return from + k, below, true, nil
}

// Put implements [journal.Journal].
func (o *overlay) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	_, there, ok, err := o.Latest(ctx, scope, []message.ID{writes[0].ID})
	if err != nil || ok && there.Rev != writes[0].Over {
		return there, err
	}
	own := slices.Clone(writes)
	for i := range own {
		_, mine, _, _ := o.top.Latest(ctx, scope, []message.ID{own[i].ID})
		own[i].Over = mine.Rev
	}
	return o.top.Put(ctx, scope, own)
}

// Delete implements [journal.Journal]. The journal below keeps its entries.
func (o *overlay) Delete(ctx context.Context, scope string) error { return o.top.Delete(ctx, scope) }
