package journal

import (
	"context"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// Guard returns a journal that keeps one that is slow or down from holding up model calls. A
// Find or Put that takes longer than the Timeout fails, even if the journal ignores its
// context; it may still store something later. After some failures in a row, calls fail at
// once, with an error that has the last failure and names the time when the journal is tried again. The
// end of a caller's context does not count as a failure. The Timeout is that of all calls of
// journal and archive for one request of a chain together; see store.Guard.
//
// A chain continues with the edits that it has in memory when a call fails, reports it by an
// event, and writes its edits later.
//
// Delete has no limit. Guard panics with "journal: Guard: …" if a limit is negative.
func Guard(j Journal, l store.Limits) Journal {
	return guarded{j, guard.New("journal", guard.Limits(l), nil)}
}

type guarded struct {
	Journal

	guard *guard.Guard
}

// Find implements [Journal].
func (g guarded) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (Found, error) {
	return guard.Do(ctx, g.guard, func(ctx context.Context) (Found, error) { return g.Journal.Find(ctx, scope, first, ids) })
}

// Put implements [Journal].
func (g guarded) Put(ctx context.Context, scope string, writes []Write) (Entry, error) {
	return guard.Do(ctx, g.guard, func(ctx context.Context) (Entry, error) { return g.Journal.Put(ctx, scope, writes) })
}
