package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// sqlite is the [engine.Backend] of one file. Statements of one call run in one
// transaction, which locks the file before it reads.
type sqlite struct {
	db   *sql.DB // reads
	find *sql.Stmt
	get  *sql.Stmt

	writer   *sql.DB  // has one connection, since the file's lock is not fair
	prepared sync.Map // statements of writer by their texts
	shared   bool     // db is the caller's, and writer the same

	path   string                 // "": it is the caller's
	files  [len(ends)]os.FileInfo // that are open; nil: there was none
	losing sync.Mutex
	lost   error // that all was lost
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
func (s *sqlite) Find(ctx context.Context, scope string, _ message.ID, ids []message.ID, b engine.Bounds) (int, []engine.Row, error) {
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

// cutoff returns the smallest time, in milliseconds, that is not too old.
func cutoff(now time.Time, ttl time.Duration) int64 {
	if ttl == 0 {
		return 0
	}
	return now.Add(-ttl).UnixMilli()
}
