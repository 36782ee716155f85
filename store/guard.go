package store

import (
	"context"
	"errors"
	"time"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/message"
)

// Limits are the limits of [Guard] and of the guard of a journal: how long a call may take, and
// when calls fail without being made.
type Limits struct {
	Timeout  time.Duration // for one call, and for all calls of one request of a chain together; 0: 1 s
	Failures int           // number of failures in a row after which calls fail at once; 0: 3
	Pause    time.Duration // until one call tries again; 0: 1 s
}

// Guard returns a store with time limits, so that a store that is slow or down does not hold up
// model calls and tools. A Put or Get that takes longer than the Timeout fails, even if the store ignores its
// context; it may still keep something later. After some failures in a row, calls fail at
// once. The error has the last failure and the time of the next attempt. A panic of the store
// counts as a failure. [ErrNotFound], [ErrConflict], [ErrDamaged] and the end of a caller's
// context do not.
//
// A chain gives all calls of journal and archive for one request the Timeout together, whatever
// their guards. The first read of a conversation in a process may take five times as long and is
// repeated once, since the whole prompt is sent again if it fails.
//
// While the archive fails, a chain makes no edit whose original it would have to keep. fit edits
// without handles. An event reports either. A model that recalls something gets an error as the
// answer.
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
