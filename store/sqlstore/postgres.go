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
	db   *sql.DB
	lost atomic.Pointer[time.Time] // when a call has lost its connection; nil: never
}

// openPostgresURL opens a database of a server, and creates its tables if they are missing.
func openPostgresURL(ctx context.Context, url string) (engine.Backend, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	most := connections
	if given, ok := config.RuntimeParams[poolSize]; ok {
		if most, err = strconv.Atoi(given); err != nil || most < 1 {
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
	p := &postgres{}
	p.db = stdlib.OpenDB(*config, stdlib.OptionShouldPing(p.doubtful))
	p.db.SetMaxOpenConns(most)
	p.db.SetMaxIdleConns(most)
	p.db.SetConnMaxIdleTime(5 * time.Minute)
	return p.open(ctx)
}

// NewPostgres returns the backend of a pool, for [engine.New]: connections, TLS, changing passwords of clouds and tracing
// are those of the pool. It creates the tables if they are missing, in the first schema of the connections' search_path.
// Close leaves the pool open.
func NewPostgres(ctx context.Context, pool *pgxpool.Pool) (engine.Backend, error) {
	p, err := (&postgres{db: stdlib.OpenDBFromPool(pool)}).open(ctx)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// open brings the tables to the version of this package.
func (p *postgres) open(ctx context.Context) (*postgres, error) {
	if err := p.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: %w", hinted(err)), p.db.Close())
	}
	return p, nil
}

// hinted returns an error with what helps: with PgBouncer in transaction mode, a statement is not where it was prepared.
func hinted(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || e.Code != "26000" && e.Code != "42P05" { // unknown, or known already
		return err
	}
	return fmt.Errorf("%w; if PgBouncer is between, add default_query_exec_mode=exec to the URL or to the pool's configuration", err)
}

// doubtful reports whether a connection may have ended, since it was idle for long or since
// before another one was lost. It is asked for an answer before it is used then.
func (p *postgres) doubtful(_ context.Context, c stdlib.ShouldPingParams) bool {
	lost := p.lost.Load()
	return c.IdleDuration > time.Second || lost != nil && c.IdleDuration >= time.Since(*lost)
}

// again makes a call, and once more if its connection is lost meanwhile: the server has
// restarted, or ended this connection. All calls may be repeated.
func again[T any](ctx context.Context, p *postgres, call func() (T, error)) (T, error) {
	result, err := call()
	if err == nil || ctx.Err() != nil || !isLost(err) {
		return result, hinted(err)
	}
	now := time.Now()
	p.lost.Store(&now)
	result, err = call()
	return result, hinted(err)
}

// Lost reports whether the tables are missing; see [engine.Backend].
func (p *postgres) Lost(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == "42P01" || e.Code == "42883") {
		return fmt.Errorf("its tables are gone: %w", err)
	}
	return nil
}

// isLost reports whether a connection has ended that worked before.
func isLost(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{"57P01", "57P02", "57P05"}, e.Code) // ended by an administrator, a crash, being idle
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return false
	}
	_, ok := errors.AsType[*net.OpError](err)
	return ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn)
}

// migrate brings the tables to the version of this package under a lock. If they have it, no
// right to create tables is needed.
func (p *postgres) migrate(ctx context.Context) error {
	there, stale, err := p.version(ctx, p.db)
	if err == nil && stale {
		err = p.transaction(ctx, func(tx *sql.Tx) error {
			const lock = 0x6c61636f6e6963 // "laconic"
			if _, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock($1)`, lock); err != nil {
				return err
			}
			if there, stale, err = p.version(ctx, tx); err != nil || !stale {
				return err
			}
			return postgresSchema.upgrade(ctx, tx, there)
		})
		there = max(there, len(postgresSchema.steps))
	}
	if err != nil {
		return err
	}
	return postgresSchema.check(there)
}

// version returns the version of the tables; 0: there are none. They are stale if they are older than this package, or
// without its functions, as a copy by pg_dump -t is. It reads the catalog as a table, since the server looks up names in
// a cache that may be older than the lock.
func (p *postgres) version(ctx context.Context, q queryer) (n int, stale bool, err error) {
	var there, whole bool
	err = q.QueryRowContext(ctx, `select
(select count(*) > 0 from pg_catalog.pg_class where relname = 'laconic_schema' and relnamespace = s),
(select count(distinct proname) >= $1 from pg_catalog.pg_proc where proname like 'laconic\_%' and pronamespace = s)
from (select current_schema()::regnamespace as s) as own`,
		strings.Count(postgresSchema.functions, "create or replace function ")).Scan(&there, &whole)
	if err != nil || !there {
		return 0, true, err
	}
	n, err = version(ctx, q)
	return n, n < len(postgresSchema.steps) || n == len(postgresSchema.steps) && !whole, err
}

func (p *postgres) transaction(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

const pgFind = `select at, rev, base, conversation, data, stale from laconic_find($1, $2, $3, $4)`

const pgRenew = `with chain as (
  update laconic_entries set used = now() where rev = any ($2)
  and scope = (select id from laconic_scopes where name = $1) returning scope, conversation
)
update laconic_contents c set used = now() where scope = (select scope from chain limit 1)
and handle = any (array(select handle from laconic_links where (scope, conversation) = (select scope, conversation from chain limit 1)))
and used < now() - $3::interval / 2 and used >= now() - $3`

// Find implements [engine.Backend].
func (p *postgres) Find(ctx context.Context, scope string, _ message.ID, ids []message.ID, b engine.Bounds) (int, []engine.Row, error) {
	var rows []engine.Row
	var old []message.ID
	at, err := again(ctx, p, func() (at int, err error) {
		at, rows, old, err = scanChain(p.db.QueryContext(ctx, pgFind, []byte(scope), idBytes(ids), interval(b.TTL), maxChain))
		return at, err
	})
	if err != nil {
		return -1, nil, fmt.Errorf("sqlstore: find: %w", err)
	}
	if len(old) > 0 { // a server that is read-only does not renew, and is as good to read
		_, _ = p.db.ExecContext(ctx, pgRenew, []byte(scope), idBytes(old), interval(b.TTL))
	}
	return at, rows, nil
}

const pgPut = `select o_use, o_rev, o_base, o_conversation, o_data from laconic_put_on($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

// Put implements [engine.Backend].
func (p *postgres) Put(ctx context.Context, scope string, writes []engine.Write, b engine.Bounds) (engine.Row, error) {
	var ids, overs, revs, bases, conversations, data, heads, headRevs [][]byte
	for i := range writes {
		w := &writes[i]
		ids, overs, revs = append(ids, w.ID[:]), append(overs, orNull(w.Over)), append(revs, w.Row.Rev[:])
		bases, conversations = append(bases, orNull(w.Row.Base)), append(conversations, w.Row.Conversation[:])
		data, heads, headRevs = append(data, w.Row.Data), append(heads, orNull(w.Head.ID)), append(headRevs, orNull(w.Head.Rev))
	}
	var use sql.NullInt64
	var r row
	_, err := again(ctx, p, func() (any, error) {
		return nil, p.db.QueryRowContext(ctx, pgPut, []byte(scope), ids, overs, revs, bases, conversations, data,
			interval(b.TTL), b.Limit, heads, headRevs).Scan(&use, &r.rev, &r.base, &r.conversation, &r.data)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows): // the base is missing
		return engine.Row{}, nil
	case err != nil:
		return engine.Row{}, fmt.Errorf("sqlstore: put: %w", err)
	case use.Valid:
		return engine.Row{}, &engine.FullError{Scope: scope, Use: use.Int64, Limit: b.Limit}
	}
	if winner := r.row(); winner.Rev != writes[0].Row.Rev {
		return winner, nil
	}
	return writes[0].Row, nil
}

// Entries implements [engine.Backend].
func (p *postgres) Entries(ctx context.Context, scope string, conversation message.ID) ([]engine.Row, error) {
	return again(ctx, p, func() ([]engine.Row, error) {
		return scanRows(p.db.QueryContext(ctx, `select rev, base, conversation, data from laconic_entries
where scope = (select id from laconic_scopes where name = $1) and conversation = $2 order by used, rev`, []byte(scope), conversation[:]))
	})
}

const (
	pgGet = `select key, data, coalesce(used < now() - $3::interval / 2, false) from laconic_contents
where scope = (select id from laconic_scopes where name = $1) and handle = $2 and ($3 is null or used >= now() - $3)`
	pgUse = `update laconic_contents set used = now()
where scope = (select id from laconic_scopes where name = $1) and handle = $2`
)

// Get implements [engine.Backend].
func (p *postgres) Get(ctx context.Context, scope, handle string, b engine.Bounds) (c engine.Content, err error) {
	old, err := again(ctx, p, func() (old bool, err error) {
		c, old, err = scanContent(handle, p.db.QueryRowContext(ctx, pgGet, []byte(scope), handle, interval(b.TTL)))
		return old, err
	})
	if old {
		_, _ = p.db.ExecContext(ctx, pgUse, []byte(scope), handle)
	}
	return c, err
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
		handles, keys, data = append(handles, c.Handle), append(keys, c.Key[:]), append(data, c.Data)
	}
	var use sql.NullInt64
	var conflict sql.NullString
	_, err := again(ctx, p, func() (_ any, err error) {
		if len(there) > 0 {
			_, err = p.db.ExecContext(ctx, pgLink, []byte(scope), conversation[:], there)
		}
		if err != nil || len(handles) == 0 {
			return nil, err
		}
		return nil, p.db.QueryRowContext(ctx, pgKeep, []byte(scope), conversation[:], handles, keys, data, b.Limit).Scan(&use, &conflict)
	})
	switch {
	case err != nil:
		return fmt.Errorf("sqlstore: put: %w", err)
	case use.Valid:
		return &engine.FullError{Scope: scope, Use: use.Int64, Limit: b.Limit}
	case conflict.Valid:
		return fmt.Errorf("sqlstore: put %s: %w", conflict.String, store.ErrConflict)
	}
	return nil
}

// pgDelete removes conversations. What it decides by links is locked before, in another
// statement, so that it sees what was added meanwhile.
var pgDelete = [...]string{
	`delete from laconic_heads where scope = $1 and conversation = any ($2)`,
	`with gone as (delete from laconic_entries where scope = $1 and conversation = any ($2) returning octet_length(data) + 200 as bytes)
update laconic_scopes set bytes = bytes - (select coalesce(sum(bytes), 0) from gone) where id = $1`,
	`select from laconic_contents where scope = $1
and handle in (select handle from laconic_links where scope = $1 and conversation = any ($2)) order by handle for update`,
	`with gone as (delete from laconic_contents c where scope = $1
  and handle in (select handle from laconic_links where scope = $1 and conversation = any ($2))
  and not exists (select from laconic_links l where l.scope = $1 and l.handle = c.handle and conversation <> all ($2))
  returning octet_length(data) + 200 as bytes)
update laconic_scopes set bytes = bytes - (select coalesce(sum(bytes), 0) from gone) where id = $1`,
	`delete from laconic_links where scope = $1 and conversation = any ($2)`,
}

// Delete implements [engine.Backend].
func (p *postgres) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	_, err := again(ctx, p, func() (any, error) {
		return nil, p.transaction(ctx, func(tx *sql.Tx) error { return pgDeleteIn(ctx, tx, scope, conversations) })
	})
	if err != nil {
		return fmt.Errorf("sqlstore: delete: %w", err)
	}
	return nil
}

func pgDeleteIn(ctx context.Context, tx *sql.Tx, scope string, conversations []message.ID) error {
	if len(conversations) == 0 {
		_, err := tx.ExecContext(ctx, `delete from laconic_scopes where name = $1`, []byte(scope))
		return err
	}
	_, err := tx.ExecContext(ctx, `set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off`)
	if err != nil {
		return err
	}
	var id int64
	err = tx.QueryRowContext(ctx, `select id from laconic_scopes where name = $1`, []byte(scope)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	for _, statement := range pgDelete {
		if err == nil {
			_, err = tx.ExecContext(ctx, statement, id, idBytes(conversations))
		}
	}
	return err
}

const pgList = `select s.name, conversation, sum(entries), sum(contents), sum(r.bytes),
  (extract(epoch from max(used)) * 1000)::bigint
from (
  select scope, conversation, 1 as entries, 0 as contents, octet_length(data) + 200 as bytes, used from laconic_entries
  union all
  select l.scope, conversation, 0, 1, octet_length(data) + 200, used from laconic_links l join laconic_contents using (scope, handle)
) r join laconic_scopes s on s.id = r.scope where $1::bytea[] is null or s.name = any ($1)
group by s.name, conversation order by s.name, max(used) desc, conversation`

// List implements [engine.Backend].
func (p *postgres) List(ctx context.Context, scopes ...string) ([]engine.Usage, error) {
	var names [][]byte // null: all
	for _, s := range scopes {
		names = append(names, []byte(s))
	}
	return again(ctx, p, func() ([]engine.Usage, error) { return scanUsage(p.db.QueryContext(ctx, pgList, names)) })
}

// Drop implements [engine.Backend].
func (p *postgres) Drop(ctx context.Context, scope string, rows []engine.Row) error {
	return p.transaction(ctx, func(tx *sql.Tx) error { return dropRows(ctx, tx, scope, rows) })
}

// Rewrite implements [engine.Backend].
func (p *postgres) Rewrite(ctx context.Context, change func(scope string, data []byte) ([]byte, error)) error {
	return rewriteRows(ctx, p.transaction, change)
}

// pgVacuum removes what is too old, and scopes without rows. An entry is kept as long as one
// that is used builds on it.
var pgVacuum = [...]string{
	`with recursive kept as (
  select b.scope, b.rev, b.base from laconic_entries e join laconic_entries b on b.scope = e.scope and b.rev = e.base
  where e.used >= now() - $1::interval and b.used < now() - $1
  union select b.scope, b.rev, b.base from kept k join laconic_entries b on b.scope = k.scope and b.rev = k.base where b.used < now() - $1
), gone as (
  delete from laconic_entries e where used < now() - $1
  and not exists (select from kept k where k.scope = e.scope and k.rev = e.rev) returning scope, octet_length(data) + 200 as bytes
), sums as (select scope, sum(bytes) as bytes, count(*) as n from gone group by scope
), counted as (update laconic_scopes s set bytes = s.bytes - sums.bytes from sums where s.id = sums.scope)
select coalesce(sum(n), 0) from sums`,
	`with gone as (
  delete from laconic_contents where used < now() - $1::interval returning scope, octet_length(data) + 200 as bytes
), sums as (select scope, sum(bytes) as bytes, count(*) as n from gone group by scope
), counted as (update laconic_scopes s set bytes = s.bytes - sums.bytes from sums where s.id = sums.scope)
select coalesce(sum(n), 0) from sums`,
}

// Vacuum implements [engine.Backend]. The bytes of removed rows remain in files of the
// server until it needs the space, or until VACUUM FULL.
func (p *postgres) Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error) {
	for _, statement := range pgVacuum {
		var n int
		if ttl == 0 {
			break
		}
		err := p.transaction(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `set local enable_nestloop = off`) // it would read a table for each row of another one
			return errors.Join(err, tx.QueryRowContext(ctx, statement, interval(ttl)).Scan(&n))
		})
		if err != nil {
			return removed, fmt.Errorf("sqlstore: vacuum: %w", err)
		}
		removed += n
	}
	for _, statement := range [...]string{
		`select laconic_drop_empty()`,
		`vacuum (analyze) laconic_scopes, laconic_entries, laconic_heads, laconic_contents, laconic_links, laconic_counts`,
	} {
		if _, err := p.db.ExecContext(ctx, statement); err != nil {
			return removed, fmt.Errorf("sqlstore: vacuum: %w", err)
		}
	}
	return removed, nil
}

// Close implements [engine.Backend].
func (p *postgres) Close() error { return p.db.Close() }

// interval returns a duration for PostgreSQL; null: without end.
func interval(ttl time.Duration) any {
	if ttl == 0 {
		return nil
	}
	return ttl
}
