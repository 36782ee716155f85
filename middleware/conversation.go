package middleware

import (
	"maps"
	"sync"
	"sync/atomic"
)

// conversation is what a chain keeps of a conversation beside its edits: which
// events it has had that it shall have once, how its editors get on, and what
// middlewares have noted. Its
// tracks share it. It is gone when they are, and is not in the journal: another
// process begins anew.
type conversation struct {
	mu   sync.Mutex
	told map[string]bool

	// By the name of the editor, for those alone that have tried in vain. The
	// map is never changed, only replaced, so that a call which has nothing to
	// note does not lock anything. nil: all get on.
	tallies atomic.Pointer[map[string]tally]

	notes notes // of middlewares
}

// once reports whether this is the first time that those who listen to a request
// are told. What nobody hears has not been told.
func (c *conversation) once(req *Request, text string) bool {
	if req.observers == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told[text] || len(c.told) == maxSaid {
		return false
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[text] = true
	return true
}

// fork returns a conversation that goes on from this one, and of which this one
// does not hear. It has all events once more.
func (c *conversation) fork() *conversation {
	f := new(conversation)
	f.tallies.Store(c.tallies.Load())
	f.notes.kept = c.notes.copy()
	return f
}

// tally returns what was noted last of an editor.
func (c *conversation) tally(name string) tally {
	all := c.tallies.Load()
	if all == nil {
		return tally{}
	}
	return (*all)[name]
}

// note takes down how an editor gets on, and returns what was there before.
func (c *conversation) note(name string, now tally) (before tally) {
	for {
		old := c.tallies.Load()
		all := map[string]tally{}
		if old != nil {
			maps.Copy(all, *old)
		}
		was, known := all[name]
		switch {
		case now.tries == 0:
			delete(all, name)
		case known || len(all) < maxTallies:
			all[name] = now
		}
		if c.tallies.CompareAndSwap(old, &all) {
			return was
		}
	}
}
