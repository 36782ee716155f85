package store

import (
	"container/list"
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
	in := &memory{limit: limit, kept: map[place]*list.Element{}, recent: list.New()}
	return &Memory{Store: in.scope(""), in: in}
}

// Scope returns one scope as a store. Scope("") has the contents of [NewMemory].
func (m *Memory) Scope(name string) Store { return m.in.scope(name) }

// Delete removes all contents of a scope or, if conversations are named, those that belong
// to no other conversation; the zero ID is that of contents without a conversation.
func (m *Memory) Delete(_ context.Context, scope string, conversations ...message.ID) error {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	for p, el := range m.in.kept {
		if p.scope != scope {
			continue
		}
		it := itemIn(el)
		left := slices.DeleteFunc(slices.Clone(it.owners), func(id message.ID) bool { return slices.Contains(conversations, id) })
		if len(conversations) == 0 || len(left) == 0 {
			m.in.remove(el)
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
	el := s.in.kept[place{s.name, h}]
	if el == nil {
		return Content{}, fmt.Errorf("store: get %s: %w", h, ErrNotFound)
	}
	s.in.recent.MoveToFront(el)
	return itemIn(el).content, nil
}

// memory is what all scopes of a Memory have in common.
type memory struct {
	limit int

	mu     sync.Mutex
	bytes  int
	kept   map[place]*list.Element // of *item
	recent *list.List              // the newest comes first
	puts   int                     // how often put was called
}

func (m *memory) scope(name string) *memoryScope {
	return &memoryScope{name: name, keys: newScope(nil, name), in: m}
}

// place is the key of a content.
type place struct {
	scope  string
	handle Handle
}

// item is a content.
type item struct {
	place   place
	content Content
	owners  []message.ID // the conversations that it belongs to
	put     int          // the last put that it was in
}

func itemIn(el *list.Element) *item {
	it, _ := el.Value.(*item) // the list has only these
	return it
}

// put keeps contents, all of them or none.
func (m *memory) put(scope string, conversation message.ID, contents []Named) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	size := 0 // of the contents, each once
	var added []*list.Element
	var err error
	for i := range contents {
		p := place{scope, contents[i].Handle}
		el := m.kept[p]
		switch {
		case el == nil && contents[i].alone():
			continue
		case el == nil:
			el = m.recent.PushFront(&item{place: p, content: contents[i].Content, owners: []message.ID{conversation}})
			m.kept[p] = el
			m.bytes += itemIn(el).size()
			added = append(added, el)
		case contents[i].alone():
			m.own(itemIn(el), conversation)
			continue
		case itemIn(el).content != contents[i].Content:
			err = conflict(p.handle)
		default:
			m.recent.MoveToFront(el)
			m.own(itemIn(el), conversation)
		}
		it := itemIn(el)
		if it.put != m.puts {
			it.put = m.puts
			size += it.size()
		}
	}
	if err == nil && size > m.limit {
		err = fmt.Errorf("content too large: %d bytes, and this memory keeps %d", size, m.limit)
	}
	if err != nil {
		for _, el := range added {
			m.remove(el)
		}
		return err
	}
	for m.bytes > m.limit {
		m.remove(m.recent.Back())
	}
	return nil
}

// own adds an owner to an item.
func (m *memory) own(it *item, conversation message.ID) {
	if !slices.Contains(it.owners, conversation) {
		m.bytes -= it.size()
		it.owners = append(it.owners, conversation)
		m.bytes += it.size()
	}
}

func (m *memory) remove(el *list.Element) {
	m.recent.Remove(el)
	delete(m.kept, itemIn(el).place)
	m.bytes -= itemIn(el).size()
}

// size returns about how many bytes an item takes.
func (it *item) size() int {
	const perItem = 300 // with one owner
	return perItem + len(message.ID{})*(len(it.owners)-1) + len(it.place.scope) + len(it.content.Type) + len(it.content.Data)
}
