// Package store keeps what was removed from a conversation's view, so that a
// model can read it again.
//
//	archive, err := store.OpenDir("archive")
//	…
//	h, err := store.Keep(ctx, archive, store.Content{Data: result}) // h.String() is written into the placeholder
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

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// RecallTool is the name of the tool by which a model reads archived content
// again; see package agent. Placeholders contain it.
const RecallTool = "recall"

// Store keeps contents and finds them by their handles. It has one scope: contents of
// other scopes cannot be read through it.
//
// A Store is safe for concurrent use. A store with a size limit may remove its
// oldest contents. If a call fails because its context is done, the error wraps
// that of the context. middlewaretest.Archive tests these rules.
type Store interface {
	// Handle returns the handle of a content by its hash, which is always the same. It
	// does no I/O. Most stores return [HandleIn].
	Handle(h message.ContentHash) Handle

	// Put keeps contents, and remembers that they belong to a conversation; the zero ID
	// means no conversation. It may modify neither the contents nor the slice. One content may
	// be there twice. A Named with a handle alone, whose Hash is zero, is kept for the
	// conversation too if it is there.
	//
	// After Put has returned nil, Get finds all of them, in this process and in others
	// that share the store. After an error it may find some; it finds each of them whole
	// or not at all. The error is [ErrConflict] if another content has one of the handles.
	Put(ctx context.Context, conversation message.ID, contents []Named) error

	// Get returns the content of a handle, byte for byte as it was put. The
	// error is [ErrNotFound] if the store has no such content, and [ErrDamaged]
	// if the stored bytes are not those that were put.
	Get(ctx context.Context, h Handle) (Content, error)
}

// Content is a text or the bytes of a medium. It is comparable, and at most
// 256 MiB long.
type Content struct {
	Type string // MIME type, such as "image/png", at most 1,024 bytes; "": text, normally UTF-8
	Data string // the bytes themselves, not base64
}

// Hash returns the hash of the content, which is the same in each store.
func (c Content) Hash() message.ContentHash { return within.HashContent(c.Type, c.Data) }

// Errors of stores, for [errors.Is].
var (
	// ErrNotFound: the store has no content with this handle.
	ErrNotFound = errors.New("not found: never put here, or removed since")
	// ErrConflict: another content has the same handle, a hash of 52 bits, and was
	// put first. The second is not kept.
	ErrConflict = errors.New("another content has this handle")
	// ErrDamaged: the stored bytes do not have the hash that is in the handle.
	ErrDamaged = errors.New("content is damaged")
	// ErrNoAnswer: the store cannot be reached, or takes too long. The errors of [Guard] and of
	// package engine wrap it. An editor whose attempt fails for it is not paused.
	ErrNoAnswer = guard.ErrNoAnswer
)

// Keep puts one content, for no conversation, and returns its handle.
func Keep(ctx context.Context, s Store, c Content) (Handle, error) {
	n, err := name(s, c)
	if err == nil {
		err = s.Put(ctx, message.ID{}, []Named{n})
	}
	if err != nil {
		return Handle{}, err
	}
	return n.Handle, nil
}

func conflict(h Handle) error { return fmt.Errorf("%s: %w", h, ErrConflict) }
