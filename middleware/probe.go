package middleware

import (
	"slices"
	"sync/atomic"
)

// probe goes with a request through a dry run, and takes what would be kept. It
// never changes. A nil probe means that the call is real.
type probe struct {
	outer *probe  // of the dry run that this one is part of; nil: of none
	kept  []*View // what would be kept, of each history that editors have worked on
}

// keep returns the probe with what would be kept now.
func (p *probe) keep(v *View) *probe {
	if p == nil {
		return nil
	}
	kept := slices.Clone(p.kept)
	if n := len(kept); n > 0 && kept[n-1].call == v.call {
		kept = kept[:n-1]
	}
	return &probe{outer: p.outer, kept: append(kept, v)}
}

// fork returns a chain that does what another one has to do: it knows what that
// one knows, and what would have been kept on the way here, and nobody else
// learns what it does.
func (p *probe) fork(c *chain) *chain {
	for _, v := range slices.Backward(p.kept) {
		if f := v.call.chain; f.origin == c {
			return f.fork(c)
		}
	}
	if p.outer != nil {
		c = p.outer.fork(c)
	}
	return c.fork(c)
}

// fork returns a chain that starts from what this one knows, and what it does
// leaves no trace in this one.
func (c *chain) fork(origin *chain) *chain {
	f := &chain{
		env:   c.env,
		scope: c.scope, journal: &overlay{below: c.journal, top: NewMemory(0)},
		meter: c.meter, named: c.named, guesses: c.guesses, models: c.models,
		clock: c.clock, adopts: c.adopts, archive: c.archive, given: c.given, origin: origin,
	}
	c.memo.forkTo(&f.memo)
	return f
}

// forkTo makes another memo know what this one knows.
func (m *memo) forkTo(f *memo) {
	m.mu.Lock()
	f.puts, f.made = slices.Clone(m.puts), m.made
	m.mu.Unlock()
	tracks := m.tracks.Load()
	if tracks == nil {
		return
	}
	forked := make([]*track, len(*tracks))
	for i, t := range *tracks {
		g := *t
		g.conversation = t.conversation.fork()
		g.claim = new(atomic.Int64) // never met, so that what grows from it has memory of its own
		g.claim.Store(-1)
		forked[i] = &g
	}
	f.tracks.Store(&forked)
}
