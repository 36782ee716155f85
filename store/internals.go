package store

import (
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// Internals is what packages of this module ask in addition to what any other may ask. Packages outside of it have no
// [inside.Key].
func Internals(inside.Key) internals { return internals{} } //nolint:revive // a type without a name outside of this package

type internals struct{}

// Name returns the contents that keep the given messages, with their handles. The handle of the last content is the one for the
// placeholder. Nothing is put.
//
// A message without a role that has one part is kept as it is: a text, the text of a result, the arguments of a call, the
// bytes of a medium. Otherwise the last content is a text: before each message with a role a line with that role, then the
// parts. Each medium in them is a content of its own, and its handle is in the text. Thinking is kept without its signature.
//
// It returns an error if a part is nil or of an unknown type, or if the store returns the zero Handle for a content.
func (internals) Name(s Store, msgs ...message.Message) ([]Named, error) { return nameAll(s, msgs...) }

// Once returns contents without repetitions, and an error if no store keeps one of them, or if two have one handle.
func (internals) Once(contents []Named) ([]*Named, error) { return once(contents) }

// Scope returns a scope by its name: [HandleIn] for many contents, and the names under which a store may keep them.
func (internals) Scope(secret []byte, name string) scope { return newScope(secret, name) }

// InMemory reports whether a store is a [Memory] or a scope of one.
func (internals) InMemory(s Store) bool {
	switch s.(type) {
	case *Memory, *memoryScope:
		return true
	}
	return false
}
