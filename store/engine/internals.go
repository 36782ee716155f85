package engine

import (
	"context"
	"errors"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Internals is what packages of this module ask in addition to what any other may ask. Packages outside of it have no
// [inside.Key].
func Internals(inside.Key) internals { return internals{} } //nolint:revive // a type without a name outside of this package

type internals struct{}

// Schemes returns the schemes whose drivers are imported, sorted.
func (internals) Schemes() []string { return imported() }

// NotConnected reports whether an error is that of a call before an engine with [Options.Lazy] has its connection.
func (internals) NotConnected(err error) bool { return errors.Is(err, errNotConnected) }

// Entries returns the entries of a conversation, the oldest first. It reads all of them.
func (internals) Entries(ctx context.Context, e *Engine, scope string, conversation message.ID) ([]journal.Entry, error) {
	return call(ctx, e, nil, "entries", scope, func(ctx context.Context, b Backend) ([]journal.Entry, error) {
		rows, err := b.Entries(ctx, scope, conversation)
		if err != nil {
			return nil, err
		}
		return e.codec.toEntries(scope, rows)
	})
}
