package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// sqlite is the [engine.Backend] of one file. Statements of one call run in one
// transaction, which locks the file before it reads.
type sqlite struct {
	tables

	find   *sql.Stmt
	writer *sql.DB // has one connection, since the file's lock is not fair
	shared bool    // db is the caller's, and writer the same

	path   string                 // "": it is the caller's
	files  [len(ends)]os.FileInfo // that are open; nil: there was none
	losing sync.Mutex
	lost   error // that all was lost
}

var sqliteDialect = strings.NewReplacer("NOW", "cast((julianday('now') - 2440587.5) * 86400000 as integer)", "LOCKED", "",
	"SCOPE", "(select id from laconic_scopes where name = ?1)")

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

// sqliteFind has the IDs in one blob, and looks at the last one first: the rows of n are made one by one, until there is a hit.
const sqliteFind = `with recursive n(i) as (
  select ?3 - 1 where ?3 > 0 union all select i - 1 from n where i > 0
), hit as (
  select n.i as i, e.scope as scope, e.rev as rev, e.base as base, e.conversation as conversation, e.used as used, e.data as data
  from n
  cross join laconic_heads h on h.scope = (select id from laconic_scopes where name = ?1) and h.id = substr(?2, n.i * 16 + 1, 16)
  cross join laconic_entries e on e.scope = h.scope and e.rev = h.rev
  where ?4 is null or e.used >= NOW - ?4 limit 1
), chain as (
  select 0 as depth, hit.* from hit
  union all
  select depth + 1, c.i, e.scope, e.rev, e.base, e.conversation, e.used, e.data
  from chain c cross join laconic_entries e on e.scope = c.scope and e.rev = c.base where depth < ?5
)
select i, rev, base, conversation, data, coalesce(used < NOW - ?4 / 2, 0) from chain order by depth`

// Find implements [engine.Backend].
func (s *sqlite) Find(ctx context.Context, scope string, _ message.ID, ids []message.ID, b engine.Bounds) (int, []engine.Row, error) {
	rows, err := s.find.QueryContext(ctx, []byte(scope), slices.Concat(idBytes(ids)...), len(ids), millis(b.TTL), maxChain)
	return s.found(ctx, scope, b, rows, err)
}

// Delete implements [engine.Backend]. It makes the file smaller by the pages that are not used any more. Copies of keys and
// bytes may remain in unused parts of the file, and in the -wal file, until Vacuum.
func (s *sqlite) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	err := s.tables.Delete(ctx, scope, conversations...)
	if err == nil {
		_, err = s.writer.ExecContext(ctx, `pragma incremental_vacuum`)
	}
	return err
}

// sqliteDropEmpty removes the scopes that have no row.
const sqliteDropEmpty = `delete from laconic_scopes where not exists (select 1 from laconic_entries where scope = id)
and not exists (select 1 from laconic_contents where scope = id)`

// Vacuum implements [engine.Backend]. It writes the whole file again, so that no removed byte remains in it, which takes as
// much free space as the file, and stops writers for as long. Then it empties the -wal file.
func (s *sqlite) Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error) {
	err = s.transaction(ctx, func(tx *sql.Tx) error {
		removed, err = s.expire(ctx, tx, ttl)
		if err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, sqliteDropEmpty)
		return err
	})
	for _, statement := range [...]string{sqliteIncremental, `vacuum`} {
		if err == nil {
			_, err = s.writer.ExecContext(ctx, statement)
		}
	}
	if err != nil {
		return removed, err
	}
	var busy bool
	var pages, moved int
	err = s.writer.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&busy, &pages, &moved)
	if err == nil && busy {
		err = errors.New("other processes use the file, so that its -wal file still has removed bytes: vacuum again")
	}
	return removed, err
}

// Close implements [engine.Backend].
func (s *sqlite) Close() error {
	if s.shared {
		return s.find.Close()
	}
	return errors.Join(s.db.Close(), s.writer.Close())
}
