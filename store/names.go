package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Names tells the handles of contents before they are put, as [Store.Handle] does,
// and learns where that is wrong, since another content had the handle first. Such
// contents are few, and it keeps them. It is safe for concurrent use.
type Names struct {
	store Store

	mu     sync.Mutex
	others map[Content]Handle
}

// NamesOf returns Names for a store that have learned nothing yet.
func NamesOf(s Store) *Names { return &Names{store: s} }

// Name tells the handle that a content has or will have. It panics if the store
// gives a content no handle.
func (n *Names) Name(c Content) *Named {
	named := &Named{names: n, content: c}
	n.mu.Lock()
	h, ok := n.others[c]
	n.mu.Unlock()
	if ok {
		named.handle = h
		return named
	}
	if s, ok := scopeOf(n.store); ok {
		named.sum = sumOf(s.scope, c)
		named.handle = named.sum.shortest()
		return named
	}
	if named.handle = n.store.Handle(c); named.handle.IsZero() {
		panic(fmt.Sprintf("store: %T.Handle returned the zero Handle, want what Put will return", n.store))
	}
	return named
}

// Handle is [Names.Name] for the handle alone.
func (n *Names) Handle(c Content) Handle { return n.Name(c).handle }

// Learn takes in what Put has returned for a content, and reports whether that
// is news. It is an error if Put has returned something else before: then there
// is no telling.
func (n *Names) Learn(c Content, put Handle) (news bool, err error) {
	if n.Handle(c) == put {
		return false, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if before, known := n.others[c]; known && before != put || put.IsZero() {
		return false, errors.New("store: put: the store returns now this handle for a content and now that, want always the same")
	}
	if n.others == nil {
		n.others = map[Content]Handle{}
	}
	n.others[c] = put
	return true, nil
}

// Named is a content with its handle as some [Names] have told it. It is put by
// what was found out then: to hash a content takes longer than to keep it. It never
// changes, and is safe for concurrent use.
type Named struct {
	names   *Names
	content Content
	handle  Handle
	sum     sum // zero: only the store knows it
}

// Content returns the content.
func (n *Named) Content() Content { return n.content }

// Handle returns the handle that was told.
func (n *Named) Handle() Handle { return n.handle }

// Put keeps the content, as [Store.Put] does, and returns the handle that it has
// got. If that is another than was told, the Names know by now.
func (n *Named) Put(ctx context.Context) (Handle, error) {
	h, err := n.put(ctx)
	if err != nil {
		return Handle{}, err
	}
	if h != n.handle {
		_, err = n.names.Learn(n.content, h)
	}
	return h, err
}

func (n *Named) put(ctx context.Context) (Handle, error) {
	if n.names == nil {
		return Handle{}, errors.New("store: put: nobody has told the handle of the content, want what Names.Name returns")
	}
	if s, ok := scopeOf(n.names.store); ok && n.sum != (sum{}) {
		return s.putSummed(ctx, n.content, n.sum)
	}
	return n.names.store.Put(ctx, n.content)
}

// scopeOf returns a store of this package as what all of them are. What only has
// one inside is another one, that may put in its own way.
func scopeOf(s Store) (scoped, bool) {
	switch s := s.(type) {
	case *Memory:
		return scoped{in: s}, true
	case *Dir:
		return scoped{in: s}, true
	case scoped:
		return s, true
	}
	return scoped{}, false
}
