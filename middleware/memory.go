package middleware

import (
	"context"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

// DefaultMemory is how many bytes of entries [NewMemory] keeps by default.
const DefaultMemory = 64 << 20

// Memory is a [Journal] in memory. When it is full it forgets what was not
// asked for longest. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	limit   int
	bytes   int
	entries map[place]*kept
	recent  kept // head of a ring: next is the newest, prev the oldest
}

// place is where an entry is kept.
type place struct {
	scope string
	id    message.ID
}

// kept is an entry, as an element of a ring.
type kept struct {
	place      place
	entry      Entry
	bytes      int
	prev, next *kept
}

// NewMemory returns an empty journal that keeps about limit bytes; 0:
// [DefaultMemory]. What entries share is counted for each, so that less is
// used than is counted. It panics if limit is negative.
func NewMemory(limit int) *Memory {
	if limit < 0 {
		panic("middleware: NewMemory: limit is negative, want bytes, or 0 for DefaultMemory")
	}
	if limit == 0 {
		limit = DefaultMemory
	}
	m := &Memory{limit: limit, entries: map[place]*kept{}}
	m.recent.prev, m.recent.next = &m.recent, &m.recent
	return m
}

// Bytes returns how many bytes are kept, about.
func (m *Memory) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

// Latest implements [Journal].
func (m *Memory) Latest(_ context.Context, scope string, ids []message.ID) (at int, e Entry, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.entries) == 0 {
		return 0, Entry{}, false, nil
	}
	for i, id := range slices.Backward(ids) {
		if k := m.entries[place{scope, id}]; k != nil {
			m.touch(k)
			return i, k.entry, true, nil
		}
	}
	return 0, Entry{}, false, nil
}

// touch makes an entry the newest, and those that it builds on with it: one is
// worth nothing without the other.
func (m *Memory) touch(k *kept) {
	after := &m.recent
	for range maxDepth {
		k.remove()
		k.insert(after)
		base := m.entries[place{k.place.scope, k.entry.Base}]
		if base == nil || base.entry.Rev != k.entry.BaseRev {
			base = m.entries[place{k.place.scope, k.entry.BaseRev}]
		}
		if base == nil {
			return
		}
		k, after = base, k
	}
}

// Put implements [Journal].
func (m *Memory) Put(_ context.Context, scope string, id message.ID, over Rev, e Entry) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := place{scope, id}
	if there := m.entries[p]; there != nil {
		if there.entry.Rev != over {
			return there.entry, nil
		}
		m.forget(there)
	}
	k := &kept{place: p, entry: e, bytes: e.size()}
	k.insert(&m.recent)
	m.entries[p] = k
	m.bytes += k.bytes
	for m.bytes > m.limit && len(m.entries) > 1 {
		m.forget(m.recent.prev)
	}
	return e, nil
}

// Delete implements [Journal].
func (m *Memory) Delete(_ context.Context, scope string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, k := range m.entries {
		if p.scope == scope {
			m.forget(k)
		}
	}
	return nil
}

func (m *Memory) forget(k *kept) {
	k.remove()
	delete(m.entries, k.place)
	m.bytes -= k.bytes
}

func (k *kept) remove() { k.prev.next, k.next.prev = k.next, k.prev }

func (k *kept) insert(after *kept) {
	k.prev, k.next = after, after.next
	k.prev.next, k.next.prev = k, k
}

// size is about how many bytes an entry takes.
func (e *Entry) size() int {
	const perEntry = 200
	n := perEntry
	for _, r := range e.Edits {
		n += r.size()
	}
	return n
}

func (r *Record) size() int {
	const perRecord = 200
	if r == nil {
		return 0
	}
	n := perRecord + len(r.By) + message.Message{Parts: r.Parts}.Size()
	for i := range r.Messages {
		n += r.Messages[i].Size()
	}
	for _, u := range r.Under {
		n += u.size()
	}
	return n
}
