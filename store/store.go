// Package store keeps what was taken out of a conversation's view, so that a
// model can read it again.
//
//	archive, err := store.OpenDir("archive", store.DirOptions{})
//	…
//	h, err := archive.Put(ctx, store.Content{Data: result}) // h.String() goes into the placeholder
//	c, err := archive.Get(ctx, h)
//
// A [Store] is addressed by content: equal content has an equal [Handle], in
// every process and at any time. [Memory] keeps contents in memory, [Dir] in
// files. What is kept is kept in the clear.
//
// # Whose content
//
// Whoever holds a Store can read all that is in it. A handle is no secret: it
// stands in placeholders, transcripts and logs. So a store, or a scope of one,
// belongs to one tenant:
//
//	tenant := archive.Scope("acme") // for the chain and for the recall tool of this tenant
//
// Scopes share the room and the bound, and nothing else. What is in one cannot
// be read through another, whatever the handle; the same content has another
// handle in each, so handles do not tell who has the same.
package store

import (
	"context"
	"errors"
	"fmt"
)

// RecallTool is the name of the tool by which a model reads archived content
// again; see package agent. Placeholders name it.
const RecallTool = "recall"

// MaxContent is how many bytes a content may have. A store may take less.
const MaxContent = 256 << 20

// Store keeps contents and finds them by their handles.
//
// A Store is safe for concurrent use. It may forget: one with a bound gives up
// what is oldest. If a call fails because its context is done, the error wraps
// that of the context.
type Store interface {
	// Put keeps a content and returns its handle, which is the same for equal
	// content. Once Put has returned without error, Get finds the content, in
	// this process and in others that share the store.
	//
	// The error is [ErrTooLarge] if the store never takes so much. After any
	// error nothing is kept, or the whole content.
	Put(ctx context.Context, c Content) (Handle, error)

	// Get returns the content of a handle, byte for byte as it was put. The
	// error is [ErrNotFound] if there is none, and [ErrDamaged] if what is
	// there is not what was put.
	Get(ctx context.Context, h Handle) (Content, error)

	// Handle returns the handle that Put will return for a content, so that it
	// can be spoken of before it is kept. It neither keeps nor looks up
	// anything. If another content has that handle already, Put returns
	// another one, and always the same; see [Names].
	Handle(c Content) Handle
}

// Content is what is kept: a text, or the bytes of a medium. It is comparable.
type Content struct {
	Type string // MIME type, as "image/png"; "": text, in UTF-8 as far as its author kept to it
	Data string // the bytes themselves, not base64
}

// Errors that a caller can act on, to be asked for by errors.Is.
var (
	ErrNotFound = errors.New("not found: never put here, or given up since") // no content has this handle
	ErrTooLarge = errors.New("content too large")                            // no store of this size takes it
	ErrDamaged  = errors.New("content is damaged")                           // what is kept does not fit its handle
)

// maxType is how many bytes a type may have.
const maxType = 1024

// check reports content that cannot be kept anywhere.
func (c Content) check() error {
	switch {
	case len(c.Type) > maxType:
		return fmt.Errorf("the content's type has %d bytes, want at most %d", len(c.Type), maxType)
	case len(c.Data) > MaxContent:
		return fmt.Errorf("%w: %d bytes, want at most %d", ErrTooLarge, len(c.Data), MaxContent)
	}
	return nil
}

// scoped is one scope of a store.
type scoped struct {
	in    scopes
	scope string
}

// scopes is a store that keeps the contents of each scope apart. Put is told the
// sum of the content, which is dear.
type scopes interface {
	put(ctx context.Context, scope string, c Content, s sum) (Handle, error)
	get(ctx context.Context, scope string, h Handle) (Content, error)
}

func (s scoped) Handle(c Content) Handle { return shortest(s.scope, c) }

func (s scoped) Put(ctx context.Context, c Content) (Handle, error) {
	return s.putSummed(ctx, c, sumOf(s.scope, c))
}

func (s scoped) putSummed(ctx context.Context, c Content, of sum) (Handle, error) {
	h, err := s.in.put(ctx, s.scope, c, of)
	if err != nil {
		return Handle{}, fmt.Errorf("store: put: %w", err)
	}
	return h, nil
}

func (s scoped) Get(ctx context.Context, h Handle) (Content, error) {
	c, err := s.in.get(ctx, s.scope, h)
	if err != nil {
		return Content{}, fmt.Errorf("store: get %s: %w", h, err)
	}
	return c, nil
}
