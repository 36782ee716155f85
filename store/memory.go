package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// DefaultMemory is how many bytes of contents [NewMemory] keeps by default.
const DefaultMemory = 64 << 20

// Memory is a [Store] in memory, and its scope "". When it is full it gives up
// what was neither put nor read for longest. It keeps the strings that it is
// given and returns the same ones; it copies none. It is safe for concurrent
// use.
type Memory struct {
	limit int

	mu     sync.Mutex
	bytes  int
	kept   map[place]*item
	recent item // head of a ring: next is the newest, prev the oldest
}

// place is where a content is kept.
type place struct {
	scope string
	h     Handle
}

// item is a content, as an element of a ring.
type item struct {
	place      place
	content    Content
	prev, next *item
}

// NewMemory returns an empty store that keeps at most limit bytes, of all
// scopes together; 0: [DefaultMemory]. It panics if limit is negative.
func NewMemory(limit int) *Memory {
	if limit < 0 {
		panic("store: NewMemory: limit is negative, want bytes, or 0 for DefaultMemory")
	}
	if limit == 0 {
		limit = DefaultMemory
	}
	m := &Memory{limit: limit, kept: map[place]*item{}}
	m.recent.prev, m.recent.next = &m.recent, &m.recent
	return m
}

// Scope returns the contents of one scope as a store. "" is the Memory itself.
func (m *Memory) Scope(name string) Store { return scoped{m, name} }

// Put implements [Store]. A content that is larger than the limit is
// [ErrTooLarge]; others make room for themselves.
func (m *Memory) Put(ctx context.Context, c Content) (Handle, error) { return m.Scope("").Put(ctx, c) }

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, h Handle) (Content, error) { return m.Scope("").Get(ctx, h) }

// Handle implements [Store].
func (m *Memory) Handle(c Content) Handle { return shortest("", c) }

// Delete forgets all contents of a scope.
func (m *Memory) Delete(_ context.Context, scope string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, it := range m.kept {
		if p.scope == scope {
			m.forget(it)
		}
	}
	return nil
}

// Bytes returns how many bytes are kept, about.
func (m *Memory) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

func (m *Memory) put(ctx context.Context, scope string, c Content, s sum) (Handle, error) {
	if err := c.check(); err != nil {
		return Handle{}, err
	}
	if err := ctx.Err(); err != nil {
		return Handle{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for h := range s.handles() { // under the first that is free or its own
		p := place{scope, h}
		if there := m.kept[p]; there != nil {
			if there.content != c {
				continue
			}
			m.touch(there)
			return h, nil
		}
		it := &item{place: p, content: c}
		if it.size() > m.limit {
			return Handle{}, fmt.Errorf("%w: %d bytes, and this memory keeps %d", ErrTooLarge, it.size(), m.limit)
		}
		for m.bytes += it.size(); m.bytes > m.limit; {
			m.forget(m.recent.prev)
		}
		m.kept[p] = it
		it.insert(&m.recent)
		return h, nil
	}
	return Handle{}, errors.New("all handles of the content are those of others")
}

func (m *Memory) get(ctx context.Context, scope string, h Handle) (Content, error) {
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

// touch makes an item the newest.
func (m *Memory) touch(it *item) {
	it.remove()
	it.insert(&m.recent)
}

func (m *Memory) forget(it *item) {
	it.remove()
	delete(m.kept, it.place)
	m.bytes -= it.size()
}

func (it *item) remove() { it.prev.next, it.next.prev = it.next, it.prev }

func (it *item) insert(after *item) {
	it.prev, it.next = after, after.next
	it.prev.next, it.next.prev = it, it
}

// size is about how many bytes an item takes.
func (it *item) size() int {
	const perItem = 300
	return perItem + len(it.place.scope) + len(it.content.Type) + len(it.content.Data)
}
