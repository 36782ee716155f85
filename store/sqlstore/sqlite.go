package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

const (
	busyTimeout = 5 * time.Second // how long a connection waits for other processes
	readers     = 8               // connections of one process that read; one more writes
)

// sqlitePragmas are those of each connection: 8 MB of pages in memory, and a -wal file that is
// cut to 64 MB. Not mmap_size: if another program cuts the file, the system would end this
// process.
var sqlitePragmas = []string{"secure_delete(1)", "temp_store(memory)", "cache_size(-8000)", "journal_size_limit(67108864)"}

// sqliteIncremental lets a file return pages after a deletion. It has an effect before there
// are tables, or when the file is written anew.
const sqliteIncremental = `pragma auto_vacuum(incremental)`

// sqlite is the [engine.Backend] of one file. Statements of one call run in one
// transaction, which locks the file before it reads.
type sqlite struct {
	db   *sql.DB // reads
	find *sql.Stmt
	get  *sql.Stmt

	writer   *sql.DB  // has one connection, since the file's lock is not fair
	prepared sync.Map // statements of writer by their texts
	shared   bool     // db is the caller's, and writer the same
}

// openSQLite opens a file as a database. The path may end in parameters.
func openSQLite(ctx context.Context, path string) (engine.Backend, error) {
	name, readOnly, err := sqliteName(path)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	connector, err := driver.NewConnector(name)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open %s: %w", path, err)
	}
	s := &sqlite{db: sql.OpenDB(connector), writer: sql.OpenDB(connector)}
	s.db.SetMaxOpenConns(readers)
	s.db.SetMaxIdleConns(readers)
	s.writer.SetMaxOpenConns(1)
	if err := s.prepare(ctx, readOnly); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: open %s: %w", path, err), s.db.Close(), s.writer.Close())
	}
	return s, nil
}

// NewSQLite returns the backend of a database of SQLite, for [engine.New], through a driver of the caller's choice. Its
// connections must have the settings that the error names, since they are those of a connection. Close leaves db open.
func NewSQLite(ctx context.Context, db *sql.DB) (engine.Backend, error) {
	for pragma, why := range map[string]string{
		"foreign_keys":  "rows that belong to what is deleted would stay",
		"secure_delete": "deleted bytes would stay in the file",
		"busy_timeout":  "a call would fail while another process writes",
	} {
		var value int
		if err := db.QueryRowContext(ctx, "pragma "+pragma).Scan(&value); err != nil {
			return nil, fmt.Errorf("sqlstore: open: pragma %s: %w", pragma, err)
		}
		if value == 0 {
			return nil, fmt.Errorf("sqlstore: open: the connections of db have %s off, so %s: set it for each connection, as with "+
				"_pragma=%s(1) in the name of the file", pragma, why, pragma)
		}
	}
	s := &sqlite{db: db, writer: db, shared: true}
	if err := s.prepare(ctx, false); err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	return s, nil
}

// sqliteName returns the name of a file for the driver, and makes the file.
func sqliteName(path string) (name string, readOnly bool, err error) {
	path, query, _ := strings.Cut(path, "?")
	if path == "" || path == ":memory:" {
		return "", false, errors.New("open: the path is empty, want a file: sqlite:PATH")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false, fmt.Errorf("open %s: %w", path, err)
	}
	allowed := map[string][]string{"synchronous": {"full", "normal", "off", "extra"}, "mode": {"rwc", "rw", "ro"}}
	chosen := map[string]string{"synchronous": "full", "mode": "rwc"}
	for k, v := range values {
		if len(v) != 1 || !slices.Contains(allowed[k], v[0]) {
			return "", false, fmt.Errorf("open %s: parameter %s=%s, want synchronous=full|normal|off|extra or mode=rwc|rw|ro",
				path, k, strings.Join(v, ","))
		}
		chosen[k] = v[0]
	}
	flags := map[string]int{"rwc": os.O_RDWR | os.O_CREATE, "rw": os.O_RDWR, "ro": os.O_RDONLY}[chosen["mode"]]
	f, err := os.OpenFile(path, flags, 0o600) //nolint:gosec // the path is the caller's
	if err != nil {
		return "", false, err
	}
	if err := f.Close(); err != nil {
		return "", false, err
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return "file:" + escaped + "?" + url.Values{
		"mode":          {chosen["mode"]},
		"_synchronous":  {chosen["synchronous"]},
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {"1"},
		"_pragma":       sqlitePragmas,
		"_txlock":       {"immediate"},
		"_error_rc":     {"1"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
	}.Encode(), chosen["mode"] == "ro", nil
}

// prepare brings the tables to the version of this package under a lock.
func (s *sqlite) prepare(ctx context.Context, readOnly bool) error {
	if !readOnly {
		if err := s.migrate(ctx); err != nil {
			return err
		}
	}
	there, err := s.version(ctx, s.db)
	switch {
	case err != nil:
		return err
	case there == 0:
		return errors.New("the file has no tables of laconic")
	}
	if err := sqliteSchema.check(there); err != nil {
		return err
	}
	if s.find, err = s.db.PrepareContext(ctx, sqliteFind); err == nil {
		s.get, err = s.db.PrepareContext(ctx, sqliteGet)
	}
	return err
}

// migrate tries again while other processes change the mode of the file, since SQLite does
// not wait for them then.
func (s *sqlite) migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*busyTimeout)
	defer cancel()
	for {
		err := s.tryMigrate(ctx)
		if !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// isBusy reports that another connection has the lock. Other drivers have the text of SQLite only.
func isBusy(err error) bool {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()&0xff == codes.SQLITE_BUSY
	}
	return err != nil && strings.Contains(err.Error(), "database is locked")
}

func (s *sqlite) tryMigrate(ctx context.Context) error {
	if there, err := s.version(ctx, s.writer); err != nil || there >= len(sqliteSchema.steps) {
		return err
	}
	var mode string
	if _, err := s.writer.ExecContext(ctx, sqliteIncremental); err != nil {
		return err
	}
	if err := s.writer.QueryRowContext(ctx, `pragma journal_mode(wal)`).Scan(&mode); err != nil {
		return err
	}
	return s.transaction(ctx, func(tx *sql.Tx) error {
		there, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		return sqliteSchema.upgrade(ctx, tx, there)
	})
}

// version returns the version of the tables; 0: there are none.
func (s *sqlite) version(ctx context.Context, q queryer) (int, error) {
	var there bool
	err := q.QueryRowContext(ctx, `select count(*) > 0 from sqlite_schema where name = 'laconic_schema'`).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	return version(ctx, q)
}

// transaction does something while no other process and no other call writes.
func (s *sqlite) transaction(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()            //nolint:errcheck // after Commit it does nothing
	if s.shared && s.find != nil { // it may begin without a lock, and a statement that reads first could not get one later
		if _, err := tx.ExecContext(ctx, `update laconic_scopes set bytes = bytes where 0`); err != nil {
			return err
		}
	}
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// write is transaction with statements that are prepared for the next time. Their texts must
// be constant.
func (s *sqlite) write(ctx context.Context, do func(tx queryer) error) error {
	q := preparing{s: s}
	err := s.transaction(ctx, func(tx *sql.Tx) error {
		q.Tx = tx
		return do(&q)
	})
	for _, text := range q.fresh {
		if stmt, err := s.writer.PrepareContext(ctx, text); err == nil { // else the next call tries again
			if _, there := s.prepared.LoadOrStore(text, stmt); there {
				_ = stmt.Close() //nolint:sqlclosecheck // not at the end of the function
			}
		}
	}
	return err
}

// preparing is a transaction that notes which statements are not prepared yet.
type preparing struct {
	*sql.Tx

	s     *sqlite
	fresh []string
}

func (q *preparing) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if stmt, ok := q.s.prepared.Load(text); ok {
		return q.StmtContext(ctx, stmt.(*sql.Stmt)).ExecContext(ctx, args...) //nolint:sqlclosecheck,errcheck,forcetypeassert // the transaction closes it
	}
	q.fresh = append(q.fresh, text)
	return q.Tx.ExecContext(ctx, text, args...)
}

func (q *preparing) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if stmt, ok := q.s.prepared.Load(text); ok {
		return q.StmtContext(ctx, stmt.(*sql.Stmt)).QueryRowContext(ctx, args...) //nolint:sqlclosecheck,errcheck,forcetypeassert // the transaction closes it
	}
	q.fresh = append(q.fresh, text)
	return q.Tx.QueryRowContext(ctx, text, args...)
}

// sqliteFind has the IDs in one blob, and looks at the last one first.
const sqliteFind = `with recursive n(i) as (
  select ?3 - 1 union all select i - 1 from n where i > 0
), hit as (
  select n.i as i, e.scope as scope, e.rev as rev, e.base as base, e.conversation as conversation, e.used as used, e.data as data
  from n
  cross join laconic_heads h on h.scope = (select id from laconic_scopes where name = ?1) and h.id = substr(?2, n.i * 16 + 1, 16)
  cross join laconic_entries e on e.scope = h.scope and e.rev = h.rev
  where e.used >= ?4 order by n.i desc limit 1
), chain as (
  select 0 as depth, hit.* from hit
  union all
  select depth + 1, c.i, e.scope, e.rev, e.base, e.conversation, e.used, e.data
  from chain c cross join laconic_entries e on e.scope = c.scope and e.rev = c.base where depth < ?6
)
select i, rev, base, conversation, data, used < ?5 from chain order by depth`

// Find implements [engine.Backend]. It asks for the newest IDs first: entries are near the
// end of a history, and nothing is between this process and the file.
func (s *sqlite) Find(ctx context.Context, scope string, ids []message.ID, b engine.Bounds) (int, []engine.Row, error) {
	now := time.Now()
	for end, some := len(ids), 32; end > 0; some *= 4 {
		from := max(0, end-some)
		at, rows, old, err := scanChain(s.find.QueryContext(ctx, []byte(scope), slices.Concat(idBytes(ids[from:end])...), end-from,
			cutoff(now, b.TTL), cutoff(now, b.TTL/2), maxChain))
		if err != nil {
			return -1, nil, fmt.Errorf("sqlstore: find: %w", err)
		}
		if len(old) > 0 { // a file that is read-only is not renewed, and is as good to read
			_ = s.write(ctx, func(tx queryer) error { return s.renew(ctx, tx, scope, old, rows, now, b) })
		}
		if at >= 0 {
			return from + at, rows, nil
		}
		end = from
	}
	return -1, nil, nil
}

const sqliteRenew = `update laconic_contents set used = ?3 where scope = ?1 and used < ?4 and used >= ?5
and handle in (select handle from laconic_links where scope = ?1 and conversation = ?2)`

func (s *sqlite) renew(
	ctx context.Context, tx queryer, scope string, old []message.ID, rows []engine.Row, now time.Time, b engine.Bounds,
) error {
	id, _, err := sqliteScope(ctx, tx, scope)
	for i := 0; i < len(old) && err == nil; i++ {
		_, err = tx.ExecContext(ctx, `update laconic_entries set used = ? where scope = ? and rev = ?`, now.UnixMilli(), id, old[i][:])
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, sqliteRenew, id, rows[0].Conversation[:], now.UnixMilli(), cutoff(now, b.TTL/2), cutoff(now, b.TTL))
	}
	return err
}

// sqliteScope returns the ID of a scope, which is made if it is new, and the bytes it keeps.
func sqliteScope(ctx context.Context, tx queryer, name string) (id, bytes int64, err error) {
	_, err = tx.ExecContext(ctx, `insert into laconic_scopes (name) values (?) on conflict do nothing`, []byte(name))
	if err == nil {
		err = tx.QueryRowContext(ctx, `select id, bytes from laconic_scopes where name = ?`, []byte(name)).Scan(&id, &bytes)
	}
	return id, bytes, err
}

// Put implements [engine.Backend].
func (s *sqlite) Put(ctx context.Context, scope string, writes []engine.Write, b engine.Bounds) (winner engine.Row, err error) {
	err = s.write(ctx, func(tx queryer) error {
		p := sqlitePut{tx: tx, now: time.Now(), ttl: b.TTL}
		var use, size int64
		if p.scope, use, err = sqliteScope(ctx, tx, scope); err != nil {
			return err
		}
		for i := range writes {
			size += int64(len(writes[i].Row.Data)) + engine.Overhead
		}
		if b.Limit > 0 && use+size > b.Limit {
			return &engine.FullError{Scope: scope, Use: use, Limit: b.Limit}
		}
		for i := range writes {
			kept, err := p.put(ctx, &writes[i])
			switch {
			case err != nil:
				return err
			case i > 0 || kept == writes[i].Row.Rev:
				continue
			case kept.IsZero(): // the base is gone
				return nil
			}
			winner, err = p.entry(ctx, kept)
			return err
		}
		winner = writes[0].Row
		return p.count(ctx)
	})
	if err != nil {
		return engine.Row{}, fmt.Errorf("sqlstore: put: %w", err)
	}
	return winner, nil
}

// sqlitePut writes entries in a transaction.
type sqlitePut struct {
	tx    queryer
	scope int64
	now   time.Time
	ttl   time.Duration
	bytes int64 // added
}

// put writes an entry if it may, and returns the revision that is kept under its ID then.
func (p *sqlitePut) put(ctx context.Context, w *engine.Write) (kept message.ID, err error) {
	var rev []byte
	err = p.tx.QueryRowContext(ctx, `select h.rev from laconic_heads h join laconic_entries e using (scope, rev)
where h.scope = ? and h.id = ? and e.used >= ?`, p.scope, w.ID[:], cutoff(p.now, p.ttl)).Scan(&rev)
	switch kept = id(rev); {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil || kept != w.Row.Rev && kept != w.Over:
		return kept, err
	}
	was, err := p.size(ctx, "laconic_entries", "rev", w.Row.Rev[:])
	if err != nil {
		return message.ID{}, err
	}
	written, err := p.exec(ctx, `insert into laconic_entries (scope, rev, base, conversation, used, data) select ?1, ?2, ?3, ?4, ?5, ?6
where ?3 is null or exists (select 1 from laconic_entries where scope = ?1 and rev in (?2, ?3))
on conflict (scope, rev) do update set used = excluded.used, data = excluded.data`,
		p.scope, w.Row.Rev[:], orNull(w.Row.Base), w.Row.Conversation[:], p.now.UnixMilli(), w.Row.Data)
	if err != nil || !written { // the base is gone
		return kept, err
	}
	p.bytes += int64(len(w.Row.Data)) + engine.Overhead - was
	_, err = p.exec(ctx, `insert into laconic_heads (scope, id, rev, conversation) values (?, ?, ?, ?)
on conflict (scope, id) do update set rev = excluded.rev, conversation = excluded.conversation`,
		p.scope, w.ID[:], w.Row.Rev[:], w.Row.Conversation[:])
	if err == nil && p.ttl > 0 {
		_, err = p.exec(ctx, sqliteRenew, p.scope, w.Row.Conversation[:], p.now.UnixMilli(),
			cutoff(p.now, p.ttl/2), cutoff(p.now, p.ttl))
	}
	return w.Row.Rev, err
}

// size returns the bytes of a row; 0: it is not there.
func (p *sqlitePut) size(ctx context.Context, table, key string, is any) (n int64, err error) {
	err = p.tx.QueryRowContext(ctx, "select coalesce(sum(length(data) + 200), 0) from "+table+" where scope = ? and "+key+" = ?",
		p.scope, is).Scan(&n)
	return n, err
}

// exec reports whether a statement has changed a row.
func (p *sqlitePut) exec(ctx context.Context, statement string, args ...any) (bool, error) {
	r, err := p.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

func (p *sqlitePut) entry(ctx context.Context, rev message.ID) (engine.Row, error) {
	var r row
	err := p.tx.QueryRowContext(ctx, `select rev, base, conversation, data from laconic_entries where scope = ? and rev = ?`,
		p.scope, rev[:]).Scan(&r.rev, &r.base, &r.conversation, &r.data)
	return r.row(), err
}

// count adds what was written to the bytes of the scope.
func (p *sqlitePut) count(ctx context.Context) error {
	_, err := p.tx.ExecContext(ctx, `update laconic_scopes set bytes = bytes + ? where id = ?`, p.bytes, p.scope)
	return err
}

// Entries implements [engine.Backend].
func (s *sqlite) Entries(ctx context.Context, scope string, conversation message.ID) ([]engine.Row, error) {
	return scanRows(s.db.QueryContext(ctx, `select rev, base, conversation, data from laconic_entries
where scope = (select id from laconic_scopes where name = ?) and conversation = ? order by used, rowid`, []byte(scope), conversation[:]))
}

const sqliteGet = `select key, data, used < ?4 from laconic_contents
where scope = (select id from laconic_scopes where name = ?1) and handle = ?2 and used >= ?3`

// Get implements [engine.Backend].
func (s *sqlite) Get(ctx context.Context, scope, handle string, b engine.Bounds) (engine.Content, error) {
	now := time.Now()
	c, old, err := scanContent(handle, s.get.QueryRowContext(ctx, []byte(scope), handle, cutoff(now, b.TTL), cutoff(now, b.TTL/2)))
	if old {
		_ = s.write(ctx, func(tx queryer) error {
			_, err := tx.ExecContext(ctx, `update laconic_contents set used = ?
where scope = (select id from laconic_scopes where name = ?) and handle = ?`, now.UnixMilli(), []byte(scope), handle)
			return err
		})
	}
	return c, err
}

// PutContents implements [engine.Backend].
func (s *sqlite) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, b engine.Bounds,
) error {
	err := s.write(ctx, func(tx queryer) error {
		p := sqlitePut{tx: tx, now: time.Now(), ttl: b.TTL}
		var use int64
		var err error
		if p.scope, use, err = sqliteScope(ctx, tx, scope); err != nil {
			return err
		}
		for i := range contents {
			if err := p.keep(ctx, conversation, &contents[i]); err != nil {
				return err
			}
			if b.Limit > 0 && p.bytes > 0 && use+p.bytes > b.Limit {
				return &engine.FullError{Scope: scope, Use: use, Limit: b.Limit}
			}
		}
		return p.count(ctx)
	})
	if err != nil {
		return fmt.Errorf("sqlstore: put: %w", err)
	}
	return nil
}

// keep writes one content.
func (p *sqlitePut) keep(ctx context.Context, conversation message.ID, c *engine.Content) error {
	was, err := p.size(ctx, "laconic_contents", "handle", c.Handle)
	if err != nil {
		return err
	}
	written, err := p.exec(ctx, `insert into laconic_contents (scope, handle, key, used, data) values (?, ?, ?, ?, ?)
on conflict (scope, handle) do update set used = excluded.used, data = excluded.data where key = excluded.key`,
		p.scope, c.Handle, c.Key[:], p.now.UnixMilli(), c.Data)
	if err == nil && !written {
		err = fmt.Errorf("%s: %w", c.Handle, store.ErrConflict)
	}
	if err != nil {
		return err
	}
	p.bytes += int64(len(c.Data)) + engine.Overhead - was
	_, err = p.exec(ctx, `insert into laconic_links (scope, conversation, handle) values (?, ?, ?) on conflict do nothing`,
		p.scope, conversation[:], c.Handle)
	return err
}

// cutoff returns the smallest time, in milliseconds, that is not too old.
func cutoff(now time.Time, ttl time.Duration) int64 {
	if ttl == 0 {
		return 0
	}
	return now.Add(-ttl).UnixMilli()
}
