package middleware

import (
	"slices"

	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/journal"
)

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
