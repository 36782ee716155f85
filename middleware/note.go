package middleware

import (
	"maps"
	"sync"
)

// Note keeps a value for the conversation of the view, under a key as those of a
// context, in place of the one before. It is found by [View.Noted] on later calls
// of the conversation, as long as the chain knows it: a note saves work, it is
// nothing to rely on. Calls at the same time may overwrite one another's notes. A
// dry run finds the notes of the conversation, and those that it keeps are its own.
func (v *View) Note(key, value any) { v.call.track.notes.set(key, value) }

// Noted returns what was noted for the conversation of the view, or nil.
func (v *View) Noted(key any) any { return v.call.track.notes.get(key) }

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

// fork returns notes that begin as these are.
func (n *notes) fork() *notes {
	n.mu.Lock()
	defer n.mu.Unlock()
	return &notes{kept: maps.Clone(n.kept)}
}
