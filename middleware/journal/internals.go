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

// SumOf returns the hash of a record without those that it covers.
func (internals) SumOf(r *Record) message.ID { return r.sum() }

// SameThinking reports whether both are the same; each may be nil.
func (internals) SameThinking(t, o *Thinking) bool { return t.equal(o) }
