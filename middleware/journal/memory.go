package journal

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

// memory is a [Journal] in memory.
type memory struct {
	mu      sync.Mutex
	limit   int
	bytes   int
	entries map[key]*list.Element // of *kept, by revision
	heads   map[key]*list.Element // of *kept, by the IDs that point at them
	recent  *list.List            // the entry used last comes first, but each one after its base
}

type key struct {
	scope string
	id    message.ID
}

type kept struct {
	scope        string
	conversation message.ID
	entry        Entry
	heads        []message.ID
	bytes        int
}

// NewMemory returns an empty journal in memory that keeps about limit bytes; 0: 64 MiB. When it is full, it drops the
// entries that were not used for the longest time. It keeps the newest entry and those that it builds on even if they are
// larger. What several entries share is counted for each of them. It panics if limit is negative.
func NewMemory(limit int) Journal {
	if limit < 0 {
		panic("journal: NewMemory: limit is negative, want bytes, or 0 for 64 MiB")
	}
	return &memory{
		limit: cmp.Or(limit, 64<<20), entries: map[key]*list.Element{}, heads: map[key]*list.Element{}, recent: list.New(),
	}
}

// InMemory reports whether a journal is one of [NewMemory], and returns about how many bytes it keeps.
func InMemory(j Journal) (bytes int, ok bool) {
	m, ok := j.(*memory)
	if !ok {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes, true
}

// Find implements [Journal].
func (m *memory) Find(_ context.Context, scope string, _ message.ID, ids []message.ID) (Found, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.heads) == 0 {
		return Found{At: -1}, nil
	}
	for i, id := range slices.Backward(ids) {
		if el := m.heads[key{scope, id}]; el != nil {
			return Found{At: i, Entries: m.use(el)}, nil
		}
	}
	return Found{At: -1}, nil
}

// use makes an entry and those that it builds on the most recently used ones, and returns them.
func (m *memory) use(el *list.Element) (chain []Entry) {
	for el != nil && len(chain) <= MaxDepth {
		k := keptIn(el)
		m.recent.MoveToFront(el)
		chain = append(chain, k.entry)
		if k.entry.Base.IsZero() {
			break
		}
		el = m.entries[key{k.scope, k.entry.Base}]
	}
	return chain
}

// Put implements [Journal].
func (m *memory) Put(_ context.Context, scope string, writes []Write) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first *list.Element
	for i, w := range writes {
		el := m.put(scope, w)
		m.use(el)
		if i > 0 {
			continue
		}
		first = el
		switch {
		case el == nil:
			return Entry{}, nil
		case keptIn(el).entry.Rev != w.Entry.Rev:
			return keptIn(el).entry, nil
		}
	}
	m.use(first)
	for m.bytes > m.limit && m.recent.Back() != first {
		m.drop(m.recent.Back())
	}
	return writes[0].Entry, nil
}

// put stores one entry and returns the one that its ID points at afterwards; nil: none.
func (m *memory) put(scope string, w Write) *list.Element {
	at := key{scope, w.ID}
	there := m.heads[at]
	if h := w.Head; h != (Head{}) && (there == nil || keptIn(there).entry.Rev != w.Entry.Rev) {
		if el := m.heads[key{scope, h.ID}]; el == nil || keptIn(el).entry.Rev != h.Rev {
			return there
		}
	}
	if base := w.Entry.Base; !base.IsZero() && m.entries[key{scope, base}] == nil {
		return there
	}
	if there != nil {
		k := keptIn(there)
		if k.entry.Rev != w.Over {
			return there
		}
		k.heads = slices.DeleteFunc(k.heads, func(id message.ID) bool { return id == w.ID })
	}
	el := m.entries[key{scope, w.Entry.Rev}]
	var k *kept
	if el != nil {
		k = keptIn(el)
	} else {
		const perEntry = 300
		k = &kept{scope: scope, conversation: w.Conversation, entry: w.Entry, bytes: perEntry + w.Entry.size()}
		el = m.recent.PushFront(k)
		m.entries[key{scope, w.Entry.Rev}] = el
		m.bytes += k.bytes
	}
	m.heads[at] = el
	k.heads = append(k.heads, w.ID)
	return el
}

// Delete implements [Journal].
func (m *memory) Delete(_ context.Context, scope string, conversations ...message.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, el := range m.entries {
		if at.scope == scope && (len(conversations) == 0 || slices.Contains(conversations, keptIn(el).conversation)) {
			m.drop(el)
		}
	}
	return nil
}

func (m *memory) drop(el *list.Element) {
	k := keptIn(el)
	m.recent.Remove(el)
	delete(m.entries, key{k.scope, k.entry.Rev})
	for _, id := range k.heads {
		delete(m.heads, key{k.scope, id})
	}
	m.bytes -= k.bytes
}

func keptIn(el *list.Element) *kept {
	k, _ := el.Value.(*kept) // the list has only these
	return k
}
