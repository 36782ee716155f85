package middleware

import (
	"sync"

	"github.com/laconic-go/laconic/middleware/internal/calibrate"
)

// conversation is what a chain remembers of a conversation in addition to its edits. The
// histories of a conversation share it. It is not in the journal.
type conversation struct {
	mu     sync.Mutex
	values map[any]any
	guess  calibrate.Windows // after refusals without a usable number; under the name ""
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

// store replaces a value, or removes it if the new one is nil, and returns the value
// before.
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

// fork returns a conversation that starts with the values of this one. It has all events
// again.
func (c *conversation) fork() *conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &conversation{values: map[any]any{}}
	if limit := c.guess.Of(""); limit > 0 {
		f.guess.Guess("", limit)
	}
	for k, v := range c.values {
		switch k.(type) {
		case reported, checked:
		default:
			f.values[k] = v
		}
	}
	return f
}
