// Package store keeps what was removed from a conversation's view, so that a
// model can read it again.
//
//	archive, err := store.OpenDir("archive")
//	…
//	h, err := archive.Put(ctx, store.Content{Data: result}) // h.String() is written into the placeholder
//	c, err := archive.Get(ctx, h)
//
// A [Store] is addressed by content: equal contents have equal handles, in every
// process and at any time. [Memory] keeps contents in memory, [Dir] in files.
// Contents are not encrypted.
//
// # Tenants
//
// Everyone who has a Store can read all contents in it. A handle is not a secret:
// placeholders, transcripts and logs contain it. Use one store, or one scope of a
// store, for each tenant:
//
//	tenant := archive.Scope("acme") // for the chain and for the recall tool of this tenant
//
// Scopes share the size limit of their store. A content of one scope cannot be read
// through another scope by any handle. The same content has a different handle in
// each scope, so equal contents of two tenants cannot be recognised by their handles.
package store

import (
	"context"
	"errors"
	"fmt"
)

// RecallTool is the name of the tool by which a model reads archived content
// again; see package agent. Placeholders contain it.
const RecallTool = "recall"

// Store keeps contents and finds them by their handles.
//
// A Store is safe for concurrent use. A store with a size limit may remove its
// oldest contents. If a call fails because its context is done, the error wraps
// that of the context.
type Store interface {
	// Put keeps a content and returns its handle, which equals Handle(c). After
	// Put has returned without an error, Get finds the content, in this process
	// and in others that share the store.
	//
	// The error is [ErrConflict] if the store has a different content under this
	// handle. After any error the store has either the whole content or nothing of it.
	Put(ctx context.Context, c Content) (Handle, error)

	// Get returns the content of a handle, byte for byte as it was put. The
	// error is [ErrNotFound] if the store has no such content, and [ErrDamaged]
	// if the stored bytes are not those that were put.
	Get(ctx context.Context, h Handle) (Content, error)

	// Handle returns the handle of a content without keeping the content or
	// looking it up. Most stores return [HandleOf] for their scope.
	Handle(c Content) Handle
}

// Content is a text or the bytes of a medium. It is comparable, and at most
// 256 MiB long.
type Content struct {
	Type string // MIME type, such as "image/png", at most 1,024 bytes; "": text, normally UTF-8
	Data string // the bytes themselves, not base64
}

// Errors of stores, for [errors.Is].
var (
	// ErrNotFound: the store has no content with this handle.
	ErrNotFound = errors.New("not found: never put here, or removed since")
	// ErrConflict: another content has the same handle, a hash of 52 bits, and was
	// put first. The second is not kept.
	ErrConflict = errors.New("another content has this handle")
	// ErrDamaged: the stored bytes do not have the hash that is in the handle.
	ErrDamaged = errors.New("content is damaged")
)

const (
	maxContent = 256 << 20 // bytes of a content
	maxType    = 1024      // bytes of its type
)

// check returns an error for a content that no store keeps.
func (c Content) check() error {
	switch {
	case len(c.Type) > maxType:
		return fmt.Errorf("the content's type has %d bytes, want at most %d", len(c.Type), maxType)
	case len(c.Data) > maxContent:
		return fmt.Errorf("content too large: %d bytes, want at most %d", len(c.Data), maxContent)
	}
	return nil
}

// backend keeps contents by scope and handle. The caller of put computes the sum
// of the content, since hashing is slow.
type backend interface {
	put(ctx context.Context, scope string, c Content, s sum) (Handle, error)
	get(ctx context.Context, scope string, h Handle) (Content, error)
	drop(ctx context.Context, scope string) error
}

// scope is one scope of a backend, as a [Store].
type scope struct {
	in   backend
	name string
}

// Handle implements [Store].
func (s scope) Handle(c Content) Handle { return HandleOf(s.name, c) }

// Put implements [Store].
func (s scope) Put(ctx context.Context, c Content) (Handle, error) {
	return s.putSum(ctx, c, sumOf(s.name, c))
}

func (s scope) putSum(ctx context.Context, c Content, of sum) (Handle, error) {
	h, err := s.in.put(ctx, s.name, c, of)
	if err != nil {
		return Handle{}, fmt.Errorf("store: put: %w", err)
	}
	return h, nil
}

// Get implements [Store].
func (s scope) Get(ctx context.Context, h Handle) (Content, error) {
	c, err := s.in.get(ctx, s.name, h)
	if err != nil {
		return Content{}, fmt.Errorf("store: get %s: %w", h, err)
	}
	return c, nil
}

// root is the scope "" of a backend. [Memory] and [Dir] embed it.
type root struct{ scope }

// Scope returns one scope as a store. Scope("") has the same contents as the
// store itself.
func (r root) Scope(name string) Store { return scope{r.in, name} }

// Delete removes all contents of a scope. If it fails or is interrupted, some may
// remain. A content that is put during the call may be removed or kept.
func (r root) Delete(ctx context.Context, name string) error {
	if err := r.in.drop(ctx, name); err != nil {
		return fmt.Errorf("store: delete: %w", err)
	}
	return nil
}
