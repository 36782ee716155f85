package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/store"
)

// Options is what an [Engine] does in addition to keeping rows. All replicas that share a database
// must have equal options.
type Options struct {
	// TTL removes what was neither written nor found for this time. Finding the edits of a
	// conversation counts for all contents of that conversation too. An entry that others
	// build on is kept as long as they do. 0: kept until it is deleted. The space is
	// reclaimed by [Engine.Vacuum], or by the database itself.
	TTL time.Duration

	// Limit is how many bytes a scope may keep, about: compressed data, and [Overhead] for
	// each row. Beyond it, a write fails with a [FullError]; reads go on. 0: no limit.
	Limit int64

	// Secret makes the keys and handles of the archive's contents, so that someone who reads
	// the database cannot see by them whether two tenants have equal contents, or whether
	// a known text is there. Want 32 random bytes. Contents that were put with another
	// secret cannot be read. nil: keys depend on the content and the scope's name only.
	Secret []byte

	// Ciphers encrypt the data of each row: the first one seals, and all of them are tried in
	// their order to open. To change the key, put the new one first, and drop the old one after
	// [Engine.Reseal]. IDs, revisions and names of scopes are not encrypted, nor are the sizes
	// of rows. nil: not encrypted.
	Ciphers []Cipher

	// Observe receives each operation when it has ended, also one that the guard has not let
	// through, so that any library can count them. It is called by the goroutines of the calls,
	// and must return soon. nil: not reported.
	Observe func(Operation)

	// Limits are when the calls of the journal and of archives for one model call are given up,
	// and when the database is not asked for a while: 1 s, and 1 s after 3 failures in a row.
	Limits store.Limits

	// Lazy lets [Open] return at once and connect in the background, again and again until that works. Until then, edits
	// and up to 64 MB of archived contents are kept in memory, an event of each call reports that the journal is missing, and
	// edits that other processes have made are not known. Then everything is written. Both are lost if the process ends before.
	Lazy bool
}

// Operation is a call of the database that has ended.
type Operation struct {
	Name     string        // find, put, get, put contents, delete, list, entries, vacuum, reseal or ping
	Scope    string        // "" for those of all scopes
	Time     time.Duration // that the caller has waited
	Bytes    int64         // of the data of the rows that were written or read, as they are in the database
	Err      error         // its result; [store.ErrNotFound] and the like are answers of a database that works
	Failures int           // failed calls in a row, by the guard of the journal or of the archives; 0 for the others
	Resting  bool          // the guard leaves the database alone now
}

// moved is the key of a counter in the context of an operation.
type moved struct{}

// count adds the bytes of rows to an operation.
func count(ctx context.Context, bytes int) {
	if n, ok := ctx.Value(moved{}).(*atomic.Int64); ok {
		n.Add(int64(bytes))
	}
}

// observed makes an operation, and reports it.
func observed[T any](
	ctx context.Context, e *Engine, g *guard.Guard, name, scope string, do func(ctx context.Context) (T, error),
) (T, error) {
	if e.options.Observe == nil {
		return do(ctx)
	}
	n, start := new(atomic.Int64), time.Now()
	result, err := do(context.WithValue(ctx, moved{}, n))
	failures, resting := g.State()
	e.options.Observe(Operation{name, scope, time.Since(start), n.Load(), err, failures, resting})
	return result, err
}
