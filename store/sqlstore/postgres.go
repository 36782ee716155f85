package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

const (
	connections = 10 // at most, of one process, to a server, unless the URL has pool_max_conns
	poolSize    = "pool_max_conns"
	dialTimeout = 5 * time.Second // unless the URL has connect_timeout
)

// postgres is the [engine.Backend] of a PostgreSQL server. Functions in the schema do what
// takes several statements, so that each call is one round trip.
type postgres struct {
	tables

	interrupted atomic.Pointer[time.Time] // when a call has lost its connection; nil: never
}

var postgresDialect = strings.NewReplacer("?", "$", "NOW", "laconic_now()", "LOCKED", "for update",
	"SCOPE", "(select id from laconic_scopes where name = $1)")

// openPostgresURL opens a database of a server, and creates its tables if they are missing.
func openPostgresURL(ctx context.Context, url string) (engine.Backend, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	most := connections
	if given, ok := config.RuntimeParams[poolSize]; ok {
		most, err = strconv.Atoi(given)
		if err != nil || most < 1 {
			return nil, fmt.Errorf("sqlstore: open: %s is %q, want a number from 1", poolSize, given)
		}
		delete(config.RuntimeParams, poolSize)
	}
	return openPostgres(ctx, config, most)
}

// openPostgres makes at most a number of connections.
func openPostgres(ctx context.Context, config *pgx.ConnConfig, most int) (*postgres, error) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // prepared statements gain nothing, and PgBouncer may lose them
	p := &postgres{}
	p.db = stdlib.OpenDB(*config, stdlib.OptionShouldPing(p.doubtful))
	p.db.SetMaxOpenConns(most)
	p.db.SetMaxIdleConns(most)
	p.db.SetConnMaxIdleTime(5 * time.Minute)
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// NewPostgres returns the backend of a pool, for [engine.New]: connections, TLS, changing passwords of clouds and tracing
// are those of the pool. It creates the tables if they are missing, in the first schema of the connections' search_path.
// Close leaves the pool open.
func NewPostgres(ctx context.Context, pool *pgxpool.Pool) (engine.Backend, error) {
	p := &postgres{tables: tables{db: stdlib.OpenDBFromPool(pool)}}
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// begin makes the tables under a lock. If they are there, no right to create any is needed. It reads the catalog as a
// table, since the server looks up names in a cache that may be older than the lock.
func (p *postgres) begin(ctx context.Context) error {
	const there = `select count(*) > 0 from pg_catalog.pg_class
where relname = 'laconic_schema' and relnamespace = current_schema()::regnamespace`
	p.dialect, p.write = postgresDialect, p.transaction
	n, err := version(ctx, p.db, there)
	if err == nil && n == 0 {
		err = p.transaction(ctx, func(tx *sql.Tx) error {
			const lock int64 = 0x6c61636f6e6963 // "laconic"
			if _, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock($1)`, lock); err != nil {
				return err
			}
			return create(ctx, tx, there, postgresTables)
		})
	}
	if err != nil {
		return errors.Join(fmt.Errorf("sqlstore: %w", err), p.db.Close())
	}
	return nil
}

// doubtful reports whether a connection may have ended, since it was idle for long or since before another one was lost.
// It is asked for an answer before it is used then.
func (p *postgres) doubtful(_ context.Context, c stdlib.ShouldPingParams) bool {
	last := p.interrupted.Load()
	return c.IdleDuration > time.Second || last != nil && c.IdleDuration >= time.Since(*last)
}

// Interrupted reports whether a connection has ended that worked before; see [engine.Backend].
func (p *postgres) Interrupted(err error) bool {
	if !isInterruption(err) {
		return false
	}
	now := time.Now()
	p.interrupted.Store(&now)
	return true
}

func isInterruption(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{"57P01", "57P02", "57P05"}, e.Code) // ended by an administrator, a crash, being idle
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return false
	}
	_, ok := errors.AsType[*net.OpError](err)
	return ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn)
}

// Lost reports whether the tables are missing; see [engine.Backend].
func (p *postgres) Lost(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42P01" {
		return fmt.Errorf("its tables are gone: %w", err)
	}
	return nil
}

// transaction lets the server use indexes only: it knows nothing of what is in the columns.
func (p *postgres) transaction(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	_, err = tx.ExecContext(ctx, `set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off`)
	if err == nil {
		err = do(tx)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Find implements [engine.Backend].
func (p *postgres) Find(ctx context.Context, scope string, _ message.ID, ids []message.ID, b engine.Bounds) (int, []engine.Row, error) {
	rows, err := p.db.QueryContext(ctx, `select at, rev, base, conversation, data, stale from laconic_find($1, $2, $3, $4)`,
		[]byte(scope), idBytes(ids), millis(b.TTL), maxChain)
	return p.found(ctx, scope, b, rows, err)
}

const pgPut = `select o_use, o_rev, o_base, o_conversation, o_data from laconic_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

// Put implements [engine.Backend].
func (p *postgres) Put(ctx context.Context, scope string, writes []engine.Write, b engine.Bounds) (engine.Row, error) {
	var ids, overs, revs, bases, conversations, data, heads, headRevs [][]byte
	for i := range writes {
		w := &writes[i]
		ids = append(ids, w.ID[:])
		overs = append(overs, orNull(w.Over))
		revs = append(revs, w.Row.Rev[:])
		bases, conversations = append(bases, orNull(w.Row.Base)), append(conversations, w.Row.Conversation[:])
		data = append(data, w.Row.Data)
		heads = append(heads, orNull(w.Head.ID))
		headRevs = append(headRevs, orNull(w.Head.Rev))
	}
	var use sql.NullInt64
	var r row
	err := p.db.QueryRowContext(ctx, pgPut, []byte(scope), ids, overs, revs, bases, conversations, data,
		millis(b.TTL), b.Limit, heads, headRevs).Scan(&use, &r.rev, &r.base, &r.conversation, &r.data)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the base is missing
		return engine.Row{}, nil
	case err != nil:
		return engine.Row{}, err
	case use.Valid:
		return engine.Row{}, &engine.FullError{Scope: scope, Use: use.Int64, Limit: b.Limit}
	}
	if winner := r.row(); winner.Rev != writes[0].Row.Rev {
		return winner, nil
	}
	return writes[0].Row, nil
}

const pgKeep = `select o_use, o_conflict from laconic_keep($1, $2, $3, $4, $5, $6)`

const pgLink = `insert into laconic_links select c.scope, $2, c.handle from laconic_contents c
where c.scope = (select id from laconic_scopes where name = $1) and c.handle = any ($3) order by c.handle for key share
on conflict do nothing`

// PutContents implements [engine.Backend].
func (p *postgres) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, b engine.Bounds,
) error {
	var handles, there []string
	var keys, data [][]byte
	for i := range contents {
		c := &contents[i]
		if len(c.Data) == 0 {
			there = append(there, c.Handle)
			continue
		}
		handles = append(handles, c.Handle)
		keys = append(keys, c.Key[:])
		data = append(data, c.Data)
	}
	if len(there) > 0 {
		if _, err := p.db.ExecContext(ctx, pgLink, []byte(scope), conversation[:], there); err != nil {
			return err
		}
	}
	if len(handles) == 0 {
		return nil
	}
	var use sql.NullInt64
	var conflict sql.NullString
	err := p.db.QueryRowContext(ctx, pgKeep, []byte(scope), conversation[:], handles, keys, data, b.Limit).Scan(&use, &conflict)
	switch {
	case err != nil:
		return err
	case use.Valid:
		return &engine.FullError{Scope: scope, Use: use.Int64, Limit: b.Limit}
	case conflict.Valid:
		return fmt.Errorf("%s: %w", conflict.String, store.ErrConflict)
	}
	return nil
}

// Vacuum implements [engine.Backend]. The bytes of removed rows remain in files of the
// server until it needs the space, or until VACUUM FULL.
func (p *postgres) Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error) {
	err = p.transaction(ctx, func(tx *sql.Tx) error {
		// Otherwise it would read a table for each row of another one.
		_, err := tx.ExecContext(ctx, `set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_nestloop = off`)
		if err == nil {
			removed, err = p.expire(ctx, tx, ttl)
		}
		return err
	})
	for _, statement := range [...]string{
		`select laconic_drop_empty()`,
		`vacuum (analyze) laconic_scopes, laconic_entries, laconic_heads, laconic_contents, laconic_links, laconic_counts`,
	} {
		if err == nil {
			_, err = p.db.ExecContext(ctx, statement)
		}
	}
	return removed, err
}

// Close implements [engine.Backend].
func (p *postgres) Close() error { return p.db.Close() }
