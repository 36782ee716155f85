// Package engine makes a journal and an archive of a database that several processes
// share. A driver, the [Backend], moves rows; this package has what all drivers need:
// coding, compression, encryption, checks of what is read, and time limits.
//
//	import _ "github.com/laconic-go/laconic/store/sqlstore" // registers sqlite: and postgres:
//
//	e, err := engine.Open(ctx, "sqlite:laconic.db", engine.Options{})
//	…
//	defer e.Close()
//	env := middleware.Env{Journal: e.Journal(), Archive: e.Archive("acme"), Scope: "acme"}
//
// Only a program that imports a driver links its client library.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Engine is a journal and an archive in one database. It is safe for concurrent use.
//
// The journal and the archives return within the time limit of [Options], also if the
// database hangs, with an error that wraps store.ErrNoAnswer, and do not ask it for a while after it has failed several times in a row;
// see journal.Guard. All archives of an engine have one guard, the journal has another one.
// The other methods wait as long as their context.
type Engine struct {
	backend atomic.Pointer[Backend]                    // nil: not connected yet
	open    func(ctx context.Context) (Backend, error) // opens it again; nil: it cannot be
	renewal sync.Mutex                                 // guards the replacement of backend
	lazy    lazy
	options Options
	codec   *codec
	find    *guard.Guard // of the journal
	get     *guard.Guard // of the archives

	running  sync.RWMutex // is read while a call runs, and locked for good by Close
	closing  sync.Once
	end      context.Context //nolint:containedctx // ends the calls that run when the engine is closed
	endCalls context.CancelFunc
}

// errClosed is the error of calls after [Engine.Close].
var errClosed = errors.New("engine: closed")

// errLost is the error of a call that finds that the database has lost everything.
var errLost = errors.New("the database has lost everything")

// ErrShared is the error of [Engine.Delete] for an ID that several conversations without a name
// share. Give conversations names, or use [Engine.DeleteShared], which deletes all of them.
var ErrShared = errors.New("several conversations share this ID, since they have no name")

// New returns the engine of a backend. The engine owns the backend and closes it. New returns an
// error if the options are not valid.
func New(b Backend, o Options) (*Engine, error) {
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	e.backend.Store(&b)
	return e, nil
}

// newEngine returns an engine without a backend.
func newEngine(o Options) (*Engine, error) {
	if l := o.Limits; o.TTL < 0 || o.Limit < 0 || l.Timeout < 0 || l.Failures < 0 || l.Pause < 0 {
		return nil, errors.New("engine: TTL, Limit or a value of Limits is negative, want 0 for the default, or more")
	}
	c, err := newCodec(o.Ciphers)
	if err != nil {
		return nil, err
	}
	o.Secret = slices.Clone(o.Secret)
	e := &Engine{
		options: o, codec: c,
		find: guard.New("engine", guard.Limits(o.Limits), isAnswer), get: guard.New("engine", guard.Limits(o.Limits), isAnswer),
	}
	e.end, e.endCalls = context.WithCancel(context.Background())
	return e, nil
}

// isAnswer reports errors of a database that works.
func isAnswer(err error) bool {
	for _, a := range []error{store.ErrNotFound, store.ErrConflict, store.ErrDamaged, ErrKey, errOlder, errNewer, errClosed, errLost} {
		if errors.Is(err, a) {
			return true
		}
	}
	_, full := errors.AsType[*FullError](err)
	return full
}

// Ping asks the database for an answer. Its error has the reason why there was no answer. It wraps [store.ErrNoAnswer] before
// an engine with [Options.Lazy] has its connection.
func (e *Engine) Ping(ctx context.Context) error {
	_, err := call(ctx, e, nil, "ping", "", func(ctx context.Context, b Backend) (int, error) {
		at, _, err := b.Find(ctx, "", message.ID{}, []message.ID{{1}}, Bounds{})
		return at, err
	})
	return err
}

// Journal returns the journal of all scopes. Its Delete is [Engine.Delete], which removes
// contents too.
func (e *Engine) Journal() journal.Journal { return entries{e} }

// Archive returns the archive of one scope, with a name of at most 1,024 bytes.
func (e *Engine) Archive(scope string) store.Store {
	return archive{e, scope, inStore.Scope(e.options.Secret, scope)}
}

// Delete removes the edits and contents of some conversations of a scope, or everything of
// the scope if none is named. A content that other conversations have too is kept, and one
// that was put for no conversation. The ID of a conversation is that of journal.NameOf or
// journal.ConversationOf, as [Engine.List] returns it. The error is [ErrShared] if an ID without
// a name is that of several conversations, as far as their entries show it.
//
// When it returns nil, no table has a row, key or name of it. Bytes may remain in unused
// parts of files until [Engine.Vacuum], and in backups and logs of a server. Chains keep
// what they have in memory, and write it again if they go on with the conversation: delete
// when it has ended.
func (e *Engine) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	for _, c := range conversations {
		n, err := call(ctx, e, nil, "entries", scope, func(ctx context.Context, b Backend) (int, error) {
			rows, err := b.Entries(ctx, scope, c)
			return e.codec.histories(scope, rows), err
		})
		switch {
		case err != nil:
			return err
		case n > 1:
			return fmt.Errorf("engine: delete conversation %s: %w: %d histories begin with the same message", c, ErrShared, n)
		}
	}
	return e.DeleteShared(ctx, scope, conversations...)
}

// DeleteShared is [Engine.Delete] of all conversations that share an ID.
func (e *Engine) DeleteShared(ctx context.Context, scope string, conversations ...message.ID) error {
	_, err := call(ctx, e, nil, "delete", scope, func(ctx context.Context, b Backend) (struct{}, error) {
		e.lazy.forget(scope, conversations)
		return struct{}{}, b.Delete(ctx, scope, conversations...)
	})
	return err
}

// List returns what is kept, by conversation, for some scopes, or for all.
func (e *Engine) List(ctx context.Context, scopes ...string) ([]Usage, error) {
	return call(ctx, e, nil, "list", "", func(ctx context.Context, b Backend) ([]Usage, error) { return b.List(ctx, scopes...) })
}

// Resealed is the progress of [Engine.Reseal].
type Resealed struct {
	Rows    int // rows that were read
	Written int // rows that another cipher than the first had sealed
	Unread  int // rows that no cipher opens, or that are damaged; they are not changed
}

// Reseal writes all rows again that the first cipher of [Options] has not sealed. After an
// interruption, call it again: it continues with the rows that are left. It calls progress before
// each row that it writes, unless progress is nil. Bytes of old rows may remain in files until [Engine.Vacuum].
func (e *Engine) Reseal(ctx context.Context, progress func(Resealed)) (r Resealed, err error) {
	return call(ctx, e, nil, "reseal", "", func(ctx context.Context, b Backend) (Resealed, error) {
		err := b.Rewrite(ctx, func(scope string, row []byte) ([]byte, error) {
			r.Rows++
			by, packed, _, err := e.codec.unpack(e.codec.contents, scope, row)
			switch {
			case err != nil:
				r.Unread++
				return nil, nil //nolint:nilerr // it is counted
			case by == 0:
				return nil, nil
			}
			r.Written++
			if progress != nil {
				progress(r)
			}
			return e.codec.seal(scope, packed)
		})
		return r, err
	})
}

// Vacuum removes what is older than the TTL, and returns unused space to the file system as
// far as the database can. Call it once a day or so if there is a TTL. It returns how many
// entries and contents it has removed.
func (e *Engine) Vacuum(ctx context.Context) (removed int, err error) {
	return call(ctx, e, nil, "vacuum", "", func(ctx context.Context, b Backend) (int, error) { return b.Vacuum(ctx, e.options.TTL) })
}

// Close ends all running calls, waits for them and closes the connections. No goroutine of
// the engine remains. Calls after it return an error.
func (e *Engine) Close() (err error) {
	e.closing.Do(func() {
		e.endCalls()
		e.running.Lock() // waits for the calls that run; others fail
		if b := e.backend.Load(); b != nil {
			err = (*b).Close()
		}
		err = errors.Join(err, e.codec.close())
	})
	return err
}

// call makes a call of the backend within the limits of a guard; nil: without limits. An error gets the name of the call.
func call[T any](
	ctx context.Context, e *Engine, g *guard.Guard, name, scope string, do func(ctx context.Context, b Backend) (T, error),
) (result T, err error) {
	run := func(ctx context.Context) (T, error) { return whileOpen(ctx, e, scope, do) }
	if g == nil {
		result, err = run(ctx)
	} else {
		result, err = guard.Do(ctx, g, run)
	}
	if err != nil {
		err = fmt.Errorf("engine: %s: %w", name, err)
	}
	return result, err
}

// whileOpen calls the backend with a context that ends when the engine is closed.
func whileOpen[T any](
	ctx context.Context, e *Engine, scope string, do func(ctx context.Context, b Backend) (T, error),
) (result T, err error) {
	const maxScope = 1024
	if len(scope) > maxScope {
		return result, fmt.Errorf("the scope's name has %d bytes, want at most %d", len(scope), maxScope)
	}
	if !e.running.TryRLock() {
		return result, errClosed
	}
	defer e.running.RUnlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.end, cancel)() //nolint:contextcheck // it is the context of the engine
	there := e.backend.Load()
	if there == nil {
		return result, e.notConnected()
	}
	b := *there
	if err := e.renew(ctx, there, nil); err != nil {
		return result, err
	}
	result, err = do(ctx, b)
	if i, ok := b.(interrupted); ok && err != nil && ctx.Err() == nil && i.Interrupted(err) {
		result, err = do(ctx, b)
	}
	if err != nil {
		err = cmp.Or(e.renew(ctx, there, err), err)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // clients may have another one
	}
	if err != nil && e.end.Err() != nil {
		err = errClosed
	}
	return result, err
}

// renew opens a database again that has lost everything, and returns an error about that; nil:
// it has not. err is that of a call; nil: before a call. See [Backend].
func (e *Engine) renew(ctx context.Context, there *Backend, err error) error { //nolint:gocritic // a backend may be no comparable value
	l, ok := (*there).(lossy)
	if !ok || e.open == nil {
		return nil
	}
	e.renewal.Lock()
	defer e.renewal.Unlock()
	if e.backend.Load() != there { // another call was first
		return nil
	}
	lost := l.Lost(err)
	if lost == nil {
		return nil
	}
	fresh, err := e.open(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w; it cannot be opened anew: %w", errLost, lost, err)
	}
	e.backend.Store(&fresh)
	_ = (*there).Close() // it has lost its files
	return fmt.Errorf("%w: %w; a new one is used", errLost, lost)
}

// drop removes entries of which the last one is damaged and the others build on it, and says
// so in the error. What another key or a newer program may read is kept.
func drop(ctx context.Context, b Backend, scope string, rows []Row, err error) error {
	if !errors.Is(err, errSum) && !errors.Is(err, errBase) {
		return err
	}
	if failed := b.Drop(ctx, scope, rows); failed != nil {
		return fmt.Errorf("%w; it cannot be removed: %w", err, failed)
	}
	return fmt.Errorf("%w; removed, with %d that build on it", err, len(rows)-1)
}

func (e *Engine) bounds() Bounds { return Bounds{TTL: e.options.TTL, Limit: e.options.Limit} }
