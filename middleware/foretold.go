package middleware

import (
	"sync"

	"github.com/laconic-go/laconic/store"
)

// foretold is a [store.Namer] that remembers which handles have been told in a
// call. To tell one takes a hash of the content, and another call may have learned
// in the meantime that it was wrong.
type foretold struct {
	names *store.Names

	mu   sync.Mutex
	told map[store.Content]store.Handle
}

// foretell returns what a call foretells of the archive. nil: there is none.
func (a *archive) foretell() *foretold {
	if a == nil {
		return nil
	}
	return &foretold{names: a.names, told: map[store.Content]store.Handle{}}
}

// Handle implements [store.Namer].
func (f *foretold) Handle(c store.Content) store.Handle {
	h, ok := f.of(c)
	if !ok {
		h = f.names.Handle(c)
		f.tell(c, h)
	}
	return h
}

func (f *foretold) of(c store.Content) (h store.Handle, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, ok = f.told[c]
	return h, ok
}

func (f *foretold) tell(c store.Content, h store.Handle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told[c] = h
}

// learn takes in which handle a content has got, and reports whether another one
// was foretold.
func (f *foretold) learn(c store.Content, put store.Handle) (renamed bool, err error) {
	h, told := f.of(c)
	if told && h == put {
		return false, nil
	}
	news, err := f.names.Learn(c, put)
	if err == nil {
		f.tell(c, put)
	}
	return news || told, err
}
