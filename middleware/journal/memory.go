package journal

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

// Memory is a [Journal] in memory. When it is full, it drops the entries that were
// not used for the longest time.
type Memory struct {
	mu      sync.Mutex
	limit   int
	bytes   int
	entries map[key]*list.Element // of *kept
	recent  *list.List            // the entry used last comes first
}

type key struct {
	scope string
	id    message.ID
}

type kept struct {
	key   key
	entry Entry
	bytes int
}

// NewMemory returns an empty journal that keeps about limit bytes; 0: 64 MiB. What
// several entries share is counted for each of them. It panics if limit is negative.
func NewMemory(limit int) *Memory {
	if limit < 0 {
		panic("journal: NewMemory: limit is negative, want bytes, or 0 for 64 MiB")
	}
	return &Memory{limit: cmp.Or(limit, 64<<20), entries: map[key]*list.Element{}, recent: list.New()}
}

// Bytes returns about how many bytes are kept.
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
		if el := m.entries[key{scope, id}]; el != nil {
			m.use(el)
			return i, keptIn(el).entry, true, nil
		}
	}
	return 0, Entry{}, false, nil
}

// use makes an entry the most recently used one, followed by those that it builds on.
func (m *Memory) use(el *list.Element) {
	m.recent.MoveToFront(el)
	for range MaxDepth {
		k := keptIn(el)
		base := m.entries[key{k.key.scope, k.entry.Base}]
		if base == nil || keptIn(base).entry.Rev != k.entry.BaseRev {
			base = m.entries[key{k.key.scope, k.entry.BaseRev}]
		}
		if base == nil {
			return
		}
		m.recent.MoveAfter(base, el)
		el = base
	}
}

// Put implements [Journal].
func (m *Memory) Put(_ context.Context, scope string, writes []Write) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, w := range writes {
		if there := m.put(key{scope, w.ID}, w); i == 0 && there.Rev != w.Entry.Rev {
			return there, nil
		}
	}
	return writes[0].Entry, nil
}

// put stores one entry and returns the entry that is there afterwards.
func (m *Memory) put(at key, w Write) Entry {
	if el := m.entries[at]; el != nil {
		if there := keptIn(el).entry; there.Rev != w.Over {
			return there
		}
		m.drop(el)
	}
	const perEntry = 200
	k := &kept{key: at, entry: w.Entry, bytes: perEntry + size(w.Entry.Edits)}
	m.entries[at] = m.recent.PushFront(k)
	m.bytes += k.bytes
	for m.bytes > m.limit && m.recent.Len() > 1 {
		m.drop(m.recent.Back())
	}
	return w.Entry
}

// Delete implements [Journal].
func (m *Memory) Delete(_ context.Context, scope string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, el := range m.entries {
		if at.scope == scope {
			m.drop(el)
		}
	}
	return nil
}

func (m *Memory) drop(el *list.Element) {
	k := keptIn(el)
	m.recent.Remove(el)
	delete(m.entries, k.key)
	m.bytes -= k.bytes
}

func keptIn(el *list.Element) *kept {
	k, _ := el.Value.(*kept) // the list has only these
	return k
}
