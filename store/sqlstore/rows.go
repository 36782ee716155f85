package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

const maxChain = 33 // entries that build on one another are read up to here: journal.MaxDepth and one

const overhead = 200 // bytes of a row in addition to its data, as in the statements; see [engine.Usage]

// tables is what both databases have in common. Its statements have parameters as SQLite has them, SCOPE for the ID of the
// scope whose name is ?1, NOW for the time in milliseconds and LOCKED for a lock of rows; dialect makes those of the database
// of them.
type tables struct {
	db      *sql.DB                                                    // reads
	write   func(ctx context.Context, do func(tx *sql.Tx) error) error // makes a transaction
	dialect *strings.Replacer
}

// run runs statements with the same arguments.
func (t *tables) run(ctx context.Context, tx *sql.Tx, args []any, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, t.dialect.Replace(statement), args...); err != nil {
			return err
		}
	}
	return nil
}

// runEach runs a statement with different arguments.
func (t *tables) runEach(ctx context.Context, tx *sql.Tx, statement string, args [][]any) error {
	for _, a := range args {
		if err := t.run(ctx, tx, a, statement); err != nil {
			return err
		}
	}
	return nil
}

// each returns a function that scans all rows of a result.
func each(do func(scan func(...any) error) error) func(*sql.Rows, error) error {
	return func(rows *sql.Rows, err error) error {
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err has it
		for rows.Next() {
			if err := do(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// row is an entry as it is scanned.
type row struct{ rev, base, conversation, data []byte }

func (r row) row() engine.Row {
	return engine.Row{Rev: id(r.rev), Base: id(r.base), Conversation: id(r.conversation), Data: r.data}
}

// renewEntries marks an entry and those that it builds on as used: ?1 is the name of the scope, ?2 the revision.
const renewEntries = `update laconic_entries set used = NOW where scope = SCOPE and rev in (
  with recursive chain(scope, rev, base) as (
    select scope, rev, base from laconic_entries where scope = SCOPE and rev = ?2
    union select e.scope, e.rev, e.base from chain c join laconic_entries e on e.scope = c.scope and e.rev = c.base
  ) select rev from chain)`

// renewContents marks the contents of a conversation as used: ?2 is the conversation, ?3 the TTL. Those that were used shortly
// before are left alone, so that few rows are written.
const renewContents = `update laconic_contents set used = NOW
where scope = SCOPE and handle in (select handle from laconic_links where scope = SCOPE and conversation = ?2)
and used < NOW - cast(?3 as bigint) / 32 and used >= NOW - ?3`

// found returns the rows of a find: an entry and those that it builds on. If one is to be renewed, all are, with the
// contents of their conversation; in a database that is read-only they are not.
func (t *tables) found(ctx context.Context, scope string, b engine.Bounds, rows *sql.Rows, err error) (int, []engine.Row, error) {
	at, renew := -1, false
	var chain []engine.Row
	err = each(func(scan func(...any) error) error {
		var r row
		var stale bool
		err := scan(&at, &r.rev, &r.base, &r.conversation, &r.data, &stale)
		chain, renew = append(chain, r.row()), renew || stale
		return err
	})(rows, err)
	if err != nil {
		return -1, nil, err
	}
	if renew {
		_ = t.write(ctx, func(tx *sql.Tx) error {
			return errors.Join(t.run(ctx, tx, []any{[]byte(scope), chain[0].Rev[:]}, renewEntries),
				t.run(ctx, tx, []any{[]byte(scope), chain[0].Conversation[:], millis(b.TTL)}, renewContents))
		})
	}
	return at, chain, nil
}

// Entries implements [engine.Backend].
func (t *tables) Entries(ctx context.Context, scope string, conversation message.ID) (all []engine.Row, err error) {
	err = each(func(scan func(...any) error) error {
		var r row
		err := scan(&r.rev, &r.base, &r.conversation, &r.data)
		all = append(all, r.row())
		return err
	})(t.db.QueryContext(ctx, //nolint:rowserrcheck // each does
		`select rev, base, conversation, data from laconic_entries
where scope = (select id from laconic_scopes where name = $1) and conversation = $2 order by used, rev`,
		[]byte(scope), conversation[:]))
	return all, err
}

// Get implements [engine.Backend].
func (t *tables) Get(ctx context.Context, scope, handle string, b engine.Bounds) (engine.Content, error) {
	c := engine.Content{Handle: strings.Clone(handle)}
	var key []byte
	var stale bool
	err := t.db.QueryRowContext(ctx, t.dialect.Replace(`select key, data, coalesce(used < NOW - cast(?3 as bigint) / 2, false)
from laconic_contents where scope = SCOPE and handle = ?2 and (?3 is null or used >= NOW - ?3)`),
		[]byte(scope), handle, millis(b.TTL)).Scan(&key, &c.Data, &stale)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return engine.Content{}, store.ErrNotFound
	case err != nil:
		return engine.Content{}, err
	case stale:
		_ = t.write(ctx, func(tx *sql.Tx) error {
			return t.run(ctx, tx, []any{[]byte(scope), handle}, `update laconic_contents set used = NOW
where scope = SCOPE and handle = ?2`)
		})
	}
	copy(c.Key[:], key)
	return c, nil
}

// deletes remove a conversation, ?2. What is decided by links is locked before,
// in another statement, so that what was added meanwhile is seen.
var deletes = []string{
	`delete from laconic_heads where scope = SCOPE and conversation = ?2`,
	`delete from laconic_entries where scope = SCOPE and conversation = ?2`,
	`select 1 from laconic_contents where scope = SCOPE
and handle in (select handle from laconic_links where scope = SCOPE and conversation = ?2) order by handle LOCKED`,
	`delete from laconic_contents where scope = SCOPE
and handle in (select handle from laconic_links where scope = SCOPE and conversation = ?2)
and not exists (select 1 from laconic_links l where l.scope = laconic_contents.scope and l.handle = laconic_contents.handle
  and l.conversation <> ?2)`,
	`delete from laconic_links where scope = SCOPE and conversation = ?2`,
}

// Delete implements [engine.Backend].
func (t *tables) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	return t.write(ctx, func(tx *sql.Tx) error {
		if len(conversations) == 0 {
			return t.run(ctx, tx, []any{[]byte(scope)}, `delete from laconic_scopes where name = ?1`)
		}
		for _, c := range conversations {
			if err := t.run(ctx, tx, []any{[]byte(scope), c[:]}, deletes...); err != nil {
				return err
			}
		}
		return nil
	})
}

// List implements [engine.Backend].
func (t *tables) List(ctx context.Context, scopes ...string) (all []engine.Usage, err error) {
	scan := each(func(scan func(...any) error) error {
		var u engine.Usage
		var scope, conversation []byte
		var used int64
		err := scan(&scope, &conversation, &u.Entries, &u.Contents, &u.Bytes, &used)
		u.Scope = string(scope)
		u.Conversation = id(conversation)
		u.Used = time.UnixMilli(used)
		all = append(all, u)
		return err
	})
	list := func(where string, args ...any) error {
		return scan(t.db.QueryContext(ctx, //nolint:rowserrcheck // each does
			`select s.name, conversation, sum(entries), sum(contents), sum(r.bytes), max(used) from (
  select scope, conversation, 1 as entries, 0 as contents, length(data) + 200 as bytes, used from laconic_entries
  union all
  select l.scope, conversation, 0, 1, length(data) + 200, used from laconic_links l join laconic_contents using (scope, handle)
) r join laconic_scopes s on s.id = r.scope `+where+`
group by s.name, conversation order by s.name, max(used) desc, conversation`, args...))
	}
	if len(scopes) == 0 {
		err = list("")
	}
	for _, scope := range scopes {
		err = errors.Join(err, list(`where s.name = $1`, []byte(scope)))
	}
	return all, err
}

// Drop implements [engine.Backend].
func (t *tables) Drop(ctx context.Context, scope string, rows []engine.Row) error {
	return t.write(ctx, func(tx *sql.Tx) error {
		var args [][]any
		for i := range rows {
			args = append(args, []any{[]byte(scope), rows[i].Rev[:], rows[i].Data})
		}
		return t.runEach(ctx, tx, `delete from laconic_entries where scope = SCOPE and rev = ?2 and data = ?3`, args)
	})
}

// rewriting has the statements that read the keys of 100 rows of a table, after a scope and a key, and that read and write one.
type rewriting struct {
	page, read, write string
	first             any // key before all others
}

var rewrites = [...]rewriting{
	{
		`select scope, name, rev from laconic_entries join laconic_scopes on scope = id
where (scope, rev) > ($1, $2) order by scope, rev limit 100`,
		`select data from laconic_entries where scope = $1 and rev = $2`,
		`update laconic_entries set data = $1 where scope = $2 and rev = $3 and data = $4`,
		[]byte{},
	},
	{
		`select scope, name, handle from laconic_contents join laconic_scopes on scope = id
where (scope, handle) > ($1, $2) order by scope, handle limit 100`,
		`select data from laconic_contents where scope = $1 and handle = $2`,
		`update laconic_contents set data = $1 where scope = $2 and handle = $3 and data = $4`, "",
	},
}

// rewritten names a row to rewrite.
type rewritten struct {
	scope int64
	name  []byte // of the scope
	key   any
}

// Rewrite implements [engine.Backend].
func (t *tables) Rewrite(ctx context.Context, change func(scope string, data []byte) ([]byte, error)) error {
	for _, r := range rewrites {
		at := rewritten{key: r.first}
		for more := true; more; {
			var page []rewritten
			err := t.write(ctx, func(tx *sql.Tx) error {
				return each(func(scan func(...any) error) error {
					err := scan(&at.scope, &at.name, &at.key)
					page = append(page, at)
					return err
				})(tx.QueryContext(ctx, r.page, at.scope, at.key)) //nolint:rowserrcheck // each does
			})
			more = len(page) > 0
			for len(page) > 0 && err == nil {
				page, err = t.rewrite(ctx, r, page, change)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite rewrites rows in one transaction until they are large, and returns those that are left. Others may write meanwhile.
func (t *tables) rewrite(
	ctx context.Context, r rewriting, page []rewritten, change func(scope string, data []byte) ([]byte, error),
) ([]rewritten, error) {
	const large = 1 << 20
	var writes [][]any
	for size := 0; len(page) > 0 && size < large; page = page[1:] {
		row := page[0]
		var was, data []byte
		err := t.db.QueryRowContext(ctx, r.read, row.scope, row.key).Scan(&was)
		if errors.Is(err, sql.ErrNoRows) { // removed meanwhile
			continue
		}
		if err == nil {
			data, err = change(string(row.name), was)
		}
		if err != nil {
			return nil, err
		}
		if data != nil {
			writes = append(writes, []any{data, row.scope, row.key, was})
			size += len(data)
		}
	}
	return page, t.write(ctx, func(tx *sql.Tx) error { return t.runEach(ctx, tx, r.write, writes) })
}

// vacuums remove what was last used more than ?1 milliseconds ago. An entry is kept as long as one that is used builds on it.
var vacuums = [...]string{
	`with recursive kept as (
  select b.scope, b.rev, b.base from laconic_entries e join laconic_entries b on b.scope = e.scope and b.rev = e.base
  where e.used >= NOW - ?1 and b.used < NOW - ?1
  union select b.scope, b.rev, b.base from kept k join laconic_entries b on b.scope = k.scope and b.rev = k.base where b.used < NOW - ?1
) delete from laconic_entries where used < NOW - ?1
and not exists (select 1 from kept k where k.scope = laconic_entries.scope and k.rev = laconic_entries.rev)`,
	`delete from laconic_contents where used < NOW - ?1`,
}

// expire removes what is too old.
func (t *tables) expire(ctx context.Context, tx *sql.Tx, ttl time.Duration) (removed int, err error) {
	if ttl == 0 {
		return 0, nil
	}
	for _, statement := range vacuums {
		r, err := tx.ExecContext(ctx, t.dialect.Replace(statement), millis(ttl))
		if err != nil {
			return removed, err
		}
		n, _ := r.RowsAffected() // the drivers always know
		removed += int(n)
	}
	return removed, nil
}

// millis returns a time to live in milliseconds; nil: without end.
func millis(ttl time.Duration) any {
	if ttl == 0 {
		return nil
	}
	return ttl.Milliseconds()
}

// id returns an ID as it is kept; what has another length is not one of ours.
func id(b []byte) message.ID {
	if len(b) != len(message.ID{}) {
		return message.ID{}
	}
	return message.ID(b)
}

// orNull returns the bytes of an ID; null if it is zero.
func orNull(id message.ID) []byte {
	if id.IsZero() {
		return nil
	}
	return id[:]
}

// idBytes returns the bytes of IDs.
func idBytes(ids []message.ID) [][]byte {
	all := make([][]byte, len(ids))
	for i := range ids {
		all[i] = ids[i][:]
	}
	return all
}
