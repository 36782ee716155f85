package middleware

import (
	"maps"
	"sync"
)

// Store keeps a value for the conversation of the view, under a key as those of a
// context; it replaces the value before. [View.Load] returns it on later calls of
// the conversation, as long as the chain remembers the conversation: a value may
// save work, but nothing may depend on it. Of concurrent calls, the last one wins. A
// dry run reads the values and keeps its own to itself.
func (v *View) Store(key, value any) { v.call.track.conversation.notes.set(key, value) }

// Load returns what was stored for the conversation of the view, or nil.
func (v *View) Load(key any) any { return v.call.track.conversation.notes.get(key) }

// notes are what middlewares have noted for a conversation.
type notes struct {
	mu   sync.Mutex
	kept map[any]any
}

func (n *notes) set(key, value any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		n.kept = map[any]any{}
	}
	n.kept[key] = value
}

func (n *notes) get(key any) any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept[key]
}

func (n *notes) copy() map[any]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.kept)
}
