package store

import (
	"context"
	"fmt"
	"sync"
)

const defaultMemory = 64 << 20 // bytes

// Memory is a [Store] in memory. It embeds its scope "". When it is full it removes
// the contents that were neither put nor read for the longest time; a content that
// is larger than the limit is an error. It keeps and returns the strings it
// was given without copying them. It is safe for concurrent use.
type Memory struct {
	root

	in *memory
}

// NewMemory returns an empty store that keeps at most limit bytes, for all scopes
// together; 0: 64 MiB. It panics if limit is negative.
func NewMemory(limit int) *Memory {
	if limit < 0 {
		panic("store: NewMemory: limit is negative, want bytes, or 0 for 64 MiB")
	}
	if limit == 0 {
		limit = defaultMemory
	}
	m := &memory{limit: limit, kept: map[place]*item{}}
	m.recent.prev, m.recent.next = &m.recent, &m.recent
	return &Memory{root{scope{in: m}}, m}
}

// memory is the [backend] of a Memory.
type memory struct {
	limit int

	mu     sync.Mutex
	bytes  int
	kept   map[place]*item
	recent item // head of a ring: next is the newest, prev the oldest
}

// place is the key of a content.
type place struct {
	scope  string
	handle Handle
}

// item is a content, as an element of a ring.
type item struct {
	place      place
	content    Content
	prev, next *item
}

func (m *memory) put(ctx context.Context, scope string, c Content, s sum) (Handle, error) {
	if err := c.check(); err != nil {
		return Handle{}, err
	}
	if err := ctx.Err(); err != nil {
		return Handle{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := place{scope, s.handle()}
	if there := m.kept[p]; there != nil {
		if there.content != c {
			return Handle{}, fmt.Errorf("%s: %w", p.handle, ErrConflict)
		}
		m.touch(there)
		return p.handle, nil
	}
	it := &item{place: p, content: c}
	if it.size() > m.limit {
		return Handle{}, fmt.Errorf("content too large: %d bytes, and this memory keeps %d", it.size(), m.limit)
	}
	for m.bytes += it.size(); m.bytes > m.limit; {
		m.remove(m.recent.prev)
	}
	m.kept[p] = it
	it.insert(&m.recent)
	return p.handle, nil
}

func (m *memory) get(ctx context.Context, scope string, h Handle) (Content, error) {
	if err := ctx.Err(); err != nil {
		return Content{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	it := m.kept[place{scope, h}]
	if it == nil {
		return Content{}, ErrNotFound
	}
	m.touch(it)
	return it.content, nil
}

func (m *memory) drop(_ context.Context, scope string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, it := range m.kept {
		if p.scope == scope {
			m.remove(it)
		}
	}
	return nil
}

// touch makes an item the newest.
func (m *memory) touch(it *item) {
	it.unlink()
	it.insert(&m.recent)
}

func (m *memory) remove(it *item) {
	it.unlink()
	delete(m.kept, it.place)
	m.bytes -= it.size()
}

func (it *item) unlink() { it.prev.next, it.next.prev = it.next, it.prev }

func (it *item) insert(after *item) {
	it.prev, it.next = after, after.next
	it.prev.next, it.next.prev = it, it
}

// size returns about how many bytes an item takes.
func (it *item) size() int {
	const perItem = 300
	return perItem + len(it.place.scope) + len(it.content.Type) + len(it.content.Data)
}
