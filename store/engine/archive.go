package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// inStore is what package store gives to packages of this module only.
var inStore = store.Internals(inside.Key{})

// archive is the archive of a scope.
type archive struct {
	*Engine

	name  string
	scope scoped
}

// scoped has the names of contents in a scope of store.
type scoped interface {
	Handle(h message.ContentHash) store.Handle
	Key(h message.ContentHash) [sha256.Size]byte
}

// Handle implements [store.Store].
func (a archive) Handle(h message.ContentHash) store.Handle { return a.scope.Handle(h) }

// Put implements [store.Store].
func (a archive) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	all, err := inStore.Once(contents)
	rows := make([]Content, len(all))
	for i := 0; i < len(all) && err == nil; i++ {
		rows[i], err = a.codec.content(a.name, a.scope, all[i])
	}
	if err != nil {
		return fmt.Errorf("engine: put: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	w := contentsOf{a.name, conversation, rows, a.bounds()}
	if held, err := a.hold(w); held || err != nil {
		return err
	}
	_, err = call(ctx, a.Engine, a.get, "put", a.name, func(ctx context.Context, b Backend) (struct{}, error) {
		return struct{}{}, w.put(ctx, b)
	})
	return err
}

// Get implements [store.Store].
func (a archive) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	if row, ok := a.held(a.name, h.String()); ok {
		return a.codec.toContent(a.name, a.scope, row)
	}
	return call(ctx, a.Engine, a.get, "get "+h.String(), a.name, func(ctx context.Context, b Backend) (store.Content, error) {
		row, err := b.Get(ctx, a.name, h.String(), a.bounds())
		if err != nil {
			return store.Content{}, err
		}
		return a.codec.toContent(a.name, a.scope, row)
	})
}

// content returns the row of a content; one of a handle alone has no data. The data begins with the hash of the content, so
// that a wrong Secret is distinguished from damage.
func (c *codec) content(scope string, s scoped, n *store.Named) (Content, error) {
	if n.Hash == (message.ContentHash{}) {
		return Content{Handle: n.Handle.String()}, nil
	}
	head := len(n.Hash) + 2
	data := make([]byte, 0, head+len(n.Content.Type)+len(n.Content.Data))
	data = append(data, n.Hash[:]...)
	data = append(data, byte(len(n.Content.Type)>>8), byte(len(n.Content.Type)))
	data = append(append(data, n.Content.Type...), n.Content.Data...)
	packed, err := c.pack(scope, data)
	return Content{Handle: n.Handle.String(), Key: s.Key(n.Hash), Data: packed}, err
}

// toContent returns the content of a row.
func (c *codec) toContent(scope string, s scoped, r Content) (store.Content, error) {
	_, _, data, err := c.unpack(c.contents, scope, r.Data)
	if err != nil {
		return store.Content{}, err
	}
	var hash message.ContentHash
	if len(data) < len(hash)+2 {
		return store.Content{}, fmt.Errorf("%w: %w", store.ErrDamaged, io.ErrUnexpectedEOF)
	}
	data = data[copy(hash[:], data):]
	size := int(data[0])<<8 | int(data[1])
	data = data[2:]
	if len(data) < size {
		return store.Content{}, fmt.Errorf("%w: %w", store.ErrDamaged, io.ErrUnexpectedEOF)
	}
	content := store.Content{Type: string(data[:size]), Data: string(data[size:])}
	switch {
	case content.Hash() != hash:
		return store.Content{}, fmt.Errorf("%w: it has another hash", store.ErrDamaged)
	case s.Key(hash) == r.Key && s.Handle(hash).String() == r.Handle:
		return content, nil
	case s.Handle(hash).String() == r.Handle:
		return store.Content{}, fmt.Errorf("%w: its key is that of another content", store.ErrDamaged)
	}
	return store.Content{}, fmt.Errorf("%w: it was put with another Secret, or the row was altered", ErrKey)
}
