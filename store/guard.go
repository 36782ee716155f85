package store

import (
	"context"
	"errors"
	"time"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/message"
)

// Limits are when [Guard], or that of a journal, gives up a call, and when it makes none at
// all.
type Limits struct {
	Timeout  time.Duration // of one call, and of all calls for one request of a chain together; 0: 1 s
	Failures int           // after so many in a row, calls fail at once; 0: 3
	Pause    time.Duration // until one call tries again; 0: 1 s
}

// Guard returns a store that keeps one that is slow or down from holding up model calls and
// tools. A Put or Get that takes longer than the Timeout fails, even if the store ignores its
// context; it may still keep something later. After some failures in a row, calls fail at
// once, with an error that has the last failure and names the time when the store is tried again. A
// panic of the store is a failure. [ErrNotFound], [ErrConflict] and [ErrDamaged] are not,
// nor is the end of a caller's context.
//
// A chain gives all calls of journal and archive for one request the Timeout together, whatever
// their guards. The first read of a conversation in a process may take five times as long and is
// repeated once, since the whole prompt is sent again if it fails.
//
// While the archive fails, a chain edits nothing that it would have to keep, or, as fit does,
// edits without handles, and reports it by an event; a model that recalls something gets an
// error as the answer.
//
// Guard panics with "store: Guard: …" if a limit is negative.
func Guard(s Store, l Limits) Store {
	return guarded{s, guard.New("store", guard.Limits(l), func(err error) bool {
		return errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) || errors.Is(err, ErrDamaged)
	})}
}

type guarded struct {
	Store

	guard *guard.Guard
}

// Put implements [Store].
func (g guarded) Put(ctx context.Context, conversation message.ID, contents []Named) error {
	_, err := guard.Do(ctx, g.guard, func(ctx context.Context) (none struct{}, err error) {
		return none, g.Store.Put(ctx, conversation, contents)
	})
	return err
}

// Get implements [Store].
func (g guarded) Get(ctx context.Context, h Handle) (Content, error) {
	return guard.Do(ctx, g.guard, func(ctx context.Context) (Content, error) { return g.Store.Get(ctx, h) })
}
