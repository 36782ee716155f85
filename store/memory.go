package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

const defaultMemory = 64 << 20 // bytes

// Memory is a [Store] in memory. When it is full it removes the contents that were neither
// put nor read for the longest time. After an error of Put nothing of the contents is kept;
// contents of one Put that are larger than the limit are an error. It keeps and returns the
// strings it was given without copying them. It is safe for concurrent use. Only [NewMemory]
// makes one.
type Memory struct {
	Store // its scope ""

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
	in := &memory{limit: limit, kept: map[place]*item{}}
	in.recent.prev, in.recent.next = &in.recent, &in.recent
	return &Memory{Store: in.scope(""), in: in}
}

// Scope returns one scope as a store. Scope("") has the contents of [NewMemory].
func (m *Memory) Scope(name string) Store { return m.in.scope(name) }

// Delete removes all contents of a scope or, if conversations are named, those that belong
// to no other conversation; the zero ID is that of contents without a conversation.
func (m *Memory) Delete(_ context.Context, scope string, conversations ...message.ID) error {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	for p, it := range m.in.kept {
		if p.scope != scope {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(it.owners), func(id message.ID) bool { return slices.Contains(conversations, id) })
		if len(conversations) == 0 || len(left) == 0 {
			m.in.remove(it)
			continue
		}
		m.in.bytes -= it.size()
		it.owners = left
		m.in.bytes += it.size()
	}
	return nil
}

// memoryScope is one scope of a Memory.
type memoryScope struct {
	name string
	keys scope
	in   *memory
}

// Handle implements [Store].
func (s *memoryScope) Handle(h message.ContentHash) Handle { return s.keys.Handle(h) }

// Put implements [Store].
func (s *memoryScope) Put(ctx context.Context, conversation message.ID, contents []Named) error {
	for i := range contents {
		if err := contents[i].check(); err != nil {
			return fmt.Errorf("store: put: %w", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: put: %w", err)
	}
	if err := s.in.put(s.name, conversation, contents); err != nil {
		return fmt.Errorf("store: put: %w", err)
	}
	return nil
}

// Get implements [Store].
func (s *memoryScope) Get(ctx context.Context, h Handle) (Content, error) {
	if err := ctx.Err(); err != nil {
		return Content{}, fmt.Errorf("store: get %s: %w", h, err)
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	it := s.in.kept[place{s.name, h}]
	if it == nil {
		return Content{}, fmt.Errorf("store: get %s: %w", h, ErrNotFound)
	}
	s.in.touch(it)
	return it.content, nil
}

// memory is what all scopes of a Memory have in common.
type memory struct {
	limit int

	mu     sync.Mutex
	bytes  int
	kept   map[place]*item
	recent item // head of a ring: next is the newest, prev the oldest
	puts   int  // how often put was called
}

func (m *memory) scope(name string) *memoryScope {
	return &memoryScope{name: name, keys: newScope(nil, name), in: m}
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
	owners     []message.ID // the conversations that it belongs to, sorted; may be shared by items while it is one
	put        int          // the last put that it was in
	prev, next *item
}

// put keeps contents, all of them or none.
func (m *memory) put(scope string, conversation message.ID, contents []Named) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	size := 0 // of the contents, each once
	var added []*item
	var err error
	owners := []message.ID{conversation}
	for i := range contents {
		p := place{scope, contents[i].Handle}
		it := m.kept[p]
		switch {
		case contents[i].alone():
			if it != nil {
				m.own(it, conversation)
			}
			continue
		case it == nil:
			it = &item{place: p, content: contents[i].Content, owners: owners}
			m.kept[p] = it
			it.insert(&m.recent)
			m.bytes += it.size()
			added = append(added, it)
		case it.content != contents[i].Content:
			err = conflict(p.handle)
		default:
			m.touch(it)
			m.own(it, conversation)
		}
		if it.put != m.puts {
			it.put = m.puts
			size += it.size()
		}
	}
	if err == nil && size > m.limit {
		err = fmt.Errorf("content too large: %d bytes, and this memory keeps %d", size, m.limit)
	}
	if err != nil {
		for _, it := range added {
			m.remove(it)
		}
		return err
	}
	for m.bytes > m.limit {
		m.remove(m.recent.prev)
	}
	return nil
}

// own adds an owner to an item.
func (m *memory) own(it *item, conversation message.ID) {
	at, there := slices.BinarySearchFunc(it.owners, conversation, func(a, b message.ID) int { return bytes.Compare(a[:], b[:]) })
	if there {
		return
	}
	m.bytes -= it.size()
	it.owners = slices.Insert(it.owners, at, conversation)
	m.bytes += it.size()
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
	const perItem = 300 // with one owner
	return perItem + len(message.ID{})*(len(it.owners)-1) + len(it.place.scope) + len(it.content.Type) + len(it.content.Data)
}
