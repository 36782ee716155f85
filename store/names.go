package store

import (
	"errors"
	"fmt"
	"sync"
)

// Namer tells the handle that a content has or will have.
type Namer interface {
	Handle(c Content) Handle
}

// Names is a [Namer] for a store that has learned where [Store.Handle] is
// wrong, since another content had the handle first. Such contents are few, and
// it keeps them. It is safe for concurrent use.
type Names struct {
	store Store

	mu     sync.Mutex
	others map[Content]Handle
}

// NamesOf returns Names for a store that have learned nothing yet.
func NamesOf(s Store) *Names { return &Names{store: s} }

// Handle implements [Namer]. It panics if the store gives a content no handle.
func (n *Names) Handle(c Content) Handle {
	n.mu.Lock()
	h, ok := n.others[c]
	n.mu.Unlock()
	if ok {
		return h
	}
	if h = n.store.Handle(c); h.IsZero() {
		panic(fmt.Sprintf("store: %T.Handle returned the zero Handle, want what Put will return", n.store))
	}
	return h
}

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
