package journal

import (
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// Internals is what packages of this module ask in addition to what any other may ask. Packages outside of it have no
// [inside.Key].
func Internals(inside.Key) internals { return internals{} } //nolint:revive // a type without a name outside of this package

type internals struct{}

// StepID returns the ID that belongs to a step on top of an entry, with the records that it makes or takes back.
func (internals) StepID(s *Step, base message.ID, records []*Record) message.ID {
	return s.newID(base, records)
}

// SameThinking reports whether both are the same; each may be nil.
func (internals) SameThinking(t, o *Thinking) bool { return t.equal(o) }

// RevisionOf returns the revision that belongs to the content of an entry. What a record has in common with the one before it
// is hashed once.
func (internals) RevisionOf(e *Entry) message.ID { return e.revision() }

// MaxDepth returns how many entries an entry builds on at most, one on top of the other.
func (internals) MaxDepth() int { return maxDepth }

// InMemory reports whether a journal is one of [NewMemory], and returns about how many bytes it keeps.
func (internals) InMemory(j Journal) (bytes int, ok bool) {
	m, ok := j.(*memory)
	if !ok {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes, true
}

// Check returns what is wrong with an entry: a content that does not belong to its revision, or records that no chain writes.
func (internals) Check(e *Entry) error { return e.check() }
