package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// sqliteDelete removes a conversation; ?1 is the scope, ?2 the conversation.
var sqliteDelete = [...]string{
	`delete from laconic_heads where scope = ?1 and conversation = ?2`,
	`update laconic_scopes set bytes = bytes - (select coalesce(sum(length(data) + 200), 0)
  from laconic_entries where scope = ?1 and conversation = ?2) where id = ?1`,
	`delete from laconic_entries where scope = ?1 and conversation = ?2`,
	`update laconic_scopes set bytes = bytes - (select coalesce(sum(length(data) + 200), 0)
  from laconic_contents where scope = ?1 and handle in ` + sqliteOnly + `) where id = ?1`,
	`delete from laconic_contents where scope = ?1 and handle in ` + sqliteOnly,
	`delete from laconic_links where scope = ?1 and conversation = ?2`,
}

// sqliteOnly is the handles of contents that belong to one conversation only.
const sqliteOnly = `(select handle from laconic_links l where scope = ?1 and conversation = ?2 and not exists
  (select 1 from laconic_links o where o.scope = ?1 and o.handle = l.handle and o.conversation <> ?2))`

// Delete implements [engine.Backend]. Copies of keys and bytes may remain in unused parts of
// the file, and in the -wal file, until Vacuum.
func (s *sqlite) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	err := s.transaction(ctx, func(tx *sql.Tx) error {
		if len(conversations) == 0 {
			_, err := tx.ExecContext(ctx, `delete from laconic_scopes where name = ?`, []byte(scope))
			return errors.Join(err, returnPages(ctx, tx))
		}
		id, _, err := sqliteScope(ctx, tx, scope)
		for _, c := range conversations {
			for _, statement := range sqliteDelete {
				if err == nil {
					_, err = tx.ExecContext(ctx, statement, id, c[:])
				}
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, sqliteDropEmpty)
		}
		return errors.Join(err, returnPages(ctx, tx))
	})
	if err != nil {
		return fmt.Errorf("sqlstore: delete: %w", err)
	}
	return nil
}

// returnPages makes the file smaller by the pages that are not used any more.
func returnPages(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `pragma incremental_vacuum`)
	return err
}

// checkpoint moves the -wal file into the database and empties it.
func (s *sqlite) checkpoint(ctx context.Context) error {
	var busy bool
	var pages, moved int
	err := s.writer.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&busy, &pages, &moved)
	if err == nil && busy {
		err = errors.New("other processes use the file, so that its -wal file still has removed bytes: vacuum again")
	}
	return err
}

// List implements [engine.Backend].
func (s *sqlite) List(ctx context.Context, scopes ...string) ([]engine.Usage, error) {
	const list = `select s.name, conversation, sum(entries), sum(contents), sum(r.bytes), max(used) from (
  select scope, conversation, 1 as entries, 0 as contents, length(data) + 200 as bytes, used from laconic_entries
  union all
  select l.scope, conversation, 0, 1, length(data) + 200, used from laconic_links l join laconic_contents using (scope, handle)
) r join laconic_scopes s on s.id = r.scope where ?1 or s.name = ?2
group by s.name, conversation order by s.name, max(used) desc, conversation`
	if len(scopes) == 0 {
		return scanUsage(s.db.QueryContext(ctx, list, true, nil))
	}
	var all []engine.Usage
	for _, scope := range scopes {
		some, err := scanUsage(s.db.QueryContext(ctx, list, false, []byte(scope)))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Drop implements [engine.Backend].
func (s *sqlite) Drop(ctx context.Context, scope string, rows []engine.Row) error {
	return s.transaction(ctx, func(tx *sql.Tx) error { return dropRows(ctx, tx, scope, rows) })
}

// Rewrite implements [engine.Backend].
func (s *sqlite) Rewrite(ctx context.Context, change func(scope string, data []byte) ([]byte, error)) error {
	return rewriteRows(ctx, s.transaction, change)
}

// sqliteVacuum removes what was last used before ?1. An entry is kept as long as one that is
// used builds on it.
var sqliteVacuum = [...]string{
	`with recursive kept(scope, rev, base) as (
  select scope, rev, base from laconic_entries where used >= ?1
  union select e.scope, e.rev, e.base from kept k cross join laconic_entries e on e.scope = k.scope and e.rev = k.base
) delete from laconic_entries where used < ?1 and (scope, rev) not in (select scope, rev from kept)`,
	`delete from laconic_contents where used < ?1`,
}

const sqliteCount = `update laconic_scopes set bytes =
  (select coalesce(sum(length(data) + 200), 0) from laconic_entries where scope = id) +
  (select coalesce(sum(length(data) + 200), 0) from laconic_contents where scope = id)`

const sqliteDropEmpty = `delete from laconic_scopes where not exists (select 1 from laconic_entries where scope = id)
and not exists (select 1 from laconic_contents where scope = id)`

// Vacuum implements [engine.Backend]. It writes the whole file again, so that no removed byte
// remains in it, which takes as much free space as the file, and stops writers for as long.
func (s *sqlite) Vacuum(ctx context.Context, ttl time.Duration) (removed int, err error) {
	err = s.transaction(ctx, func(tx *sql.Tx) error {
		before := cutoff(time.Now(), ttl) // 0: nothing is older
		for _, statement := range sqliteVacuum {
			r, err := tx.ExecContext(ctx, statement, before)
			if err != nil {
				return err
			}
			n, _ := r.RowsAffected() // the driver always knows
			removed += int(n)
		}
		for _, statement := range [...]string{sqliteCount, sqliteDropEmpty} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.rewrite(ctx)
	}
	if err != nil {
		return removed, fmt.Errorf("sqlstore: vacuum: %w", err)
	}
	return removed, nil
}

func (s *sqlite) rewrite(ctx context.Context) error {
	for _, statement := range [...]string{sqliteIncremental, `vacuum`} {
		if _, err := s.writer.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return s.checkpoint(ctx)
}

// Close implements [engine.Backend].
func (s *sqlite) Close() error {
	if !s.shared {
		return errors.Join(s.db.Close(), s.writer.Close())
	}
	err := errors.Join(s.find.Close(), s.get.Close())
	s.prepared.Range(func(_, stmt any) bool {
		if stmt, ok := stmt.(*sql.Stmt); ok {
			err = errors.Join(err, stmt.Close())
		}
		return true
	})
	return err
}
