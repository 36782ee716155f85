package middleware

import (
	lru "container/list"
	"context"
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
	entries map[place]*lru.Element // of *kept
	recent  lru.List               // newest first
}

type place struct {
	scope string
	id    message.ID
}

type kept struct {
	place place
	entry Entry
	bytes int
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
	return &Memory{limit: limit, entries: map[place]*lru.Element{}}
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
	for i := len(ids) - 1; i >= 0; i-- {
		if el, ok := m.entries[place{scope, ids[i]}]; ok {
			m.touch(el)
			return i, el.Value.(*kept).entry, true, nil
		}
	}
	return 0, Entry{}, false, nil
}

// touch makes an entry the newest, and those that it builds on with it: one is
// worth nothing without the other.
func (m *Memory) touch(el *lru.Element) {
	m.recent.MoveToFront(el)
	after := el
	for range maxDepth {
		k := after.Value.(*kept)
		base, ok := m.entries[place{k.place.scope, k.entry.Base}]
		if !ok || base == after {
			return
		}
		m.recent.MoveAfter(base, after)
		after = base
	}
}

// Put implements [Journal].
func (m *Memory) Put(_ context.Context, scope string, id message.ID, over Rev, e Entry) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := place{scope, id}
	el, ok := m.entries[p]
	if ok {
		if there := el.Value.(*kept).entry; there.Rev != over {
			return there, nil
		}
		m.remove(el)
	}
	k := &kept{place: p, entry: e, bytes: e.size()}
	m.entries[p] = m.recent.PushFront(k)
	m.bytes += k.bytes
	for m.bytes > m.limit && m.recent.Len() > 1 {
		m.remove(m.recent.Back())
	}
	return e, nil
}

// Delete implements [Journal].
func (m *Memory) Delete(_ context.Context, scope string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, el := range m.entries {
		if p.scope == scope {
			m.remove(el)
		}
	}
	return nil
}

func (m *Memory) remove(el *lru.Element) {
	k := el.Value.(*kept)
	m.recent.Remove(el)
	delete(m.entries, k.place)
	m.bytes -= k.bytes
}

// size is about how many bytes an entry takes.
func (e *Entry) size() int {
	const perEntry = 200
	n := perEntry
	for _, r := range e.Edits {
		n += r.size()
	}
	if e.Under != nil {
		n += e.Under.size()
	}
	return n
}

func (r *Record) size() int {
	const perRecord, perPart = 200, 100
	n := perRecord + len(r.By)
	for _, p := range r.Parts {
		n += perPart + textBytes(p)
	}
	for i := range r.Messages {
		n += footprint(&r.Messages[i])
	}
	for _, u := range r.Under {
		n += u.size()
	}
	return n
}
