package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

const maxChain = 64 // entries that build on one another are read up to here; a journal has at most 33

const overhead = 200 // bytes of a row in addition to its data, as in the statements; see [engine.Usage]

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

// scanChain returns the rows of a chain, and the revisions of all if one of them is to be
// renewed.
func scanChain(rows *sql.Rows, err error) (at int, chain []engine.Row, old []message.ID, _ error) {
	at, renew := -1, false
	err = each(func(scan func(...any) error) error {
		var r row
		var stale bool
		if err := scan(&at, &r.rev, &r.base, &r.conversation, &r.data, &stale); err != nil {
			return err
		}
		chain, renew = append(chain, r.row()), renew || stale
		return nil
	})(rows, err)
	if err != nil {
		return -1, nil, nil, err
	}
	for i := range chain {
		if renew {
			old = append(old, chain[i].Rev)
		}
	}
	return at, chain, old, nil
}

// scanRows returns entries.
func scanRows(rows *sql.Rows, err error) ([]engine.Row, error) {
	var all []engine.Row
	err = each(func(scan func(...any) error) error {
		var r row
		if err := scan(&r.rev, &r.base, &r.conversation, &r.data); err != nil {
			return err
		}
		all = append(all, r.row())
		return nil
	})(rows, err)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: entries: %w", err)
	}
	return all, nil
}

// scanContent returns a content, and whether it is to be renewed.
func scanContent(handle string, r *sql.Row) (c engine.Content, stale bool, err error) {
	c.Handle = strings.Clone(handle)
	var key []byte
	switch err := r.Scan(&key, &c.Data, &stale); {
	case errors.Is(err, sql.ErrNoRows):
		return engine.Content{}, false, store.ErrNotFound
	case err != nil:
		return engine.Content{}, false, fmt.Errorf("sqlstore: get: %w", err)
	}
	copy(c.Key[:], key)
	return c, stale, nil
}

// rewrites are the statements that read and write 100 rows of a table, after a scope and a key.
var rewrites = [...]struct {
	page, write string
	first       any // key before all others
}{
	{
		`select scope, name, rev, data from laconic_entries join laconic_scopes on scope = id
where (scope, rev) > ($1, $2) order by scope, rev limit 100`,
		`update laconic_entries set data = $1 where scope = $2 and rev = $3 and data = $4`,
		[]byte{},
	},
	{
		`select scope, name, handle, data from laconic_contents join laconic_scopes on scope = id
where (scope, handle) > ($1, $2) order by scope, handle limit 100`,
		`update laconic_contents set data = $1 where scope = $2 and handle = $3 and data = $4`, "",
	},
}

// rewriteRows implements what [engine.Backend] demands of Rewrite, a page in a transaction.
func rewriteRows(
	ctx context.Context, do func(context.Context, func(*sql.Tx) error) error, change func(string, []byte) ([]byte, error),
) error {
	for _, r := range rewrites {
		for scope, key, n := int64(0), r.first, 1; n > 0; {
			err := do(ctx, func(tx *sql.Tx) error {
				n = 0
				var writes [][]any
				err := each(func(scan func(...any) error) error {
					var name, was []byte
					if err := scan(&scope, &name, &key, &was); err != nil {
						return err
					}
					n++
					data, err := change(string(name), was)
					if data != nil {
						writes = append(writes, []any{data, scope, key, was, len(data) - len(was)})
					}
					return err
				})(tx.QueryContext(ctx, r.page, scope, key)) //nolint:rowserrcheck // each does
				return errors.Join(err, rewriteSome(ctx, tx, r.write, writes))
			})
			if err != nil {
				return fmt.Errorf("sqlstore: rewrite: %w", err)
			}
		}
	}
	return nil
}

// rewriteSome runs a statement for each row that still has its data: new data, scope, key, data, and the bytes it adds.
func rewriteSome(ctx context.Context, tx *sql.Tx, statement string, writes [][]any) error {
	for _, w := range writes {
		r, err := tx.ExecContext(ctx, statement, w[:4]...)
		if err != nil {
			return err
		}
		if n, _ := r.RowsAffected(); n == 0 || w[4] == 0 { // the drivers always know
			continue
		}
		if _, err := tx.ExecContext(ctx, `update laconic_scopes set bytes = bytes + $1 where id = $2`, w[4], w[1]); err != nil {
			return err
		}
	}
	return nil
}

// dropRows implements what [engine.Backend] demands of Drop, in a transaction.
func dropRows(ctx context.Context, tx *sql.Tx, scope string, rows []engine.Row) error {
	for i := range rows {
		r, err := tx.ExecContext(ctx, `delete from laconic_entries where scope = (select id from laconic_scopes where name = $1)
and rev = $2 and data = $3`, []byte(scope), rows[i].Rev[:], rows[i].Data)
		if err == nil {
			n, _ := r.RowsAffected() // the drivers always know
			_, err = tx.ExecContext(ctx, `update laconic_scopes set bytes = bytes - $2 where name = $1`,
				[]byte(scope), n*int64(len(rows[i].Data)+overhead))
		}
		if err != nil {
			return fmt.Errorf("sqlstore: drop: %w", err)
		}
	}
	return nil
}

// scanUsage returns what is kept; the time is in milliseconds.
func scanUsage(rows *sql.Rows, err error) ([]engine.Usage, error) {
	var all []engine.Usage
	err = each(func(scan func(...any) error) error {
		var u engine.Usage
		var scope, conversation []byte
		var used int64
		if err := scan(&scope, &conversation, &u.Entries, &u.Contents, &u.Bytes, &used); err != nil {
			return err
		}
		u.Scope, u.Conversation, u.Used = string(scope), id(conversation), time.UnixMilli(used)
		all = append(all, u)
		return nil
	})(rows, err)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: list: %w", err)
	}
	return all, nil
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
	return slices.Clone(id[:])
}

// idBytes returns the bytes of IDs.
func idBytes(ids []message.ID) [][]byte {
	all := make([][]byte, len(ids))
	for i := range ids {
		all[i] = ids[i][:]
	}
	return all
}
