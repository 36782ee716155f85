package sqlstore

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)


// TestFileShrinks deletes a conversation from a file, also from one that an earlier program
// has made. Its pages are not in the file any more.
func TestFileShrinks(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{"new": nil, "earlier": {sqlite1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, ctx := sqliteDatabase(t), t.Context()
			for _, step := range steps {
				d.exec(t, step)
			}
			b := d.backend(t)
			if steps != nil {
				_, err := b.Vacuum(ctx, 0)
				require.NoError(t, err)
			}
			large := content(1)
			large.Data = make([]byte, 1<<20)
			require.NoError(t, b.PutContents(ctx, "s", message.ID{1}, []engine.Content{large}, engine.Bounds{}))
			put(t, b, 1, 0, entryRow(11, 0, 2), engine.Bounds{})
			require.NoError(t, b.Delete(ctx, "s", message.ID{1}))
			var pages, unused int
			require.NoError(t, d.open(t).QueryRowContext(ctx, "pragma page_count").Scan(&pages))
			require.NoError(t, d.raw.QueryRowContext(ctx, "pragma freelist_count").Scan(&unused))
			require.Less(t, pages, 50, "pages of 4 kB")
			require.Zero(t, unused)
			_, revs := find(t, b, engine.Bounds{}, 1)
			require.Equal(t, []byte{11}, revs)
		})
	}
}

// TestPlans fills the tables with 50,000 rows each, and makes each call of a model call. The
// server reads no table from its beginning, though it knows nothing of what is in it.
func TestPlans(t *testing.T) {
	t.Parallel()
	d, ctx := postgresDatabase(t), t.Context()
	require.NoError(t, d.engine(t, engine.Options{}).Close())
	for _, statement := range []string{
		`insert into laconic_scopes (name) values ('s')`,
		`create function of(n int) returns bytea language sql immutable as $$ select substr(sha256(int4send(n)), 1, 16) $$`,
		`insert into laconic_entries select 1, of(n), case when n % 10 > 0 then of(n - 1) end, of(n / 10), now(), '\x00' from generate_series(1, 50000) n`,
		`insert into laconic_heads (scope, rev, id, conversation) select scope, rev, of(n), of(n / 10)
  from generate_series(1, 50000) n join laconic_entries on rev = of(n)`,
		`insert into laconic_contents select 1, 'handle ' || n, of(n), now(), '\x00' from generate_series(1, 50000) n`,
		`insert into laconic_links select 1, of(n / 10), 'handle ' || n from generate_series(1, 50000) n`,
		`analyze laconic_scopes, laconic_entries, laconic_heads, laconic_contents, laconic_links, laconic_counts`,
	} {
		d.exec(t, statement)
	}
	of := func(n int) []byte {
		var id []byte
		require.NoError(t, d.raw.QueryRowContext(ctx, "select of($1)", n).Scan(&id))
		return id
	}
	var ids [][]byte
	for n := range 200 {
		ids = append(ids, of(20_000+n))
	}
	scope, day, data := []byte("s"), 24*time.Hour, [][]byte{{1}}
	for name, c := range map[string]struct {
		statement string
		args      []any
	}{
		"find":    {pgFind, []any{scope, ids, day, maxChain}},
		"renew":   {pgRenew, []any{scope, ids[100:103], time.Nanosecond}},
		"put":     {pgPut, []any{scope, [][]byte{of(-1)}, [][]byte{nil}, [][]byte{of(-1)}, ids[:1], [][]byte{of(2000)}, data, day, 1 << 40, ids[:1], ids[:1]}},
		"other":   {pgPut, []any{scope, [][]byte{of(-1)}, [][]byte{nil}, [][]byte{of(-1)}, ids[:1], [][]byte{of(2000)}, data, day, 0, ids[:1], ids[1:2]}},
		"lost":    {pgPut, []any{scope, ids[:1], [][]byte{nil}, [][]byte{of(-1)}, ids[:1], [][]byte{of(2000)}, data, day, 0, nil, nil}},
		"no base": {pgPut, []any{scope, ids[:1], [][]byte{nil}, [][]byte{of(-1)}, [][]byte{of(-2)}, [][]byte{of(2000)}, data, day, 0, nil, nil}},
		"get":     {pgGet, []any{scope, "handle 7", day}},
		"use":     {pgUse, []any{scope, "handle 7"}},
		"keep": {pgKeep, []any{
			scope, of(2000), []string{"handle 7", "new"}, [][]byte{of(7), of(-1)}, append(data, data...), 1 << 40,
		}},
	} {
		requireIndexes(t, d, name, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, c.statement, c.args...)
			return err
		})
	}
	requireIndexes(t, d, "delete", func(tx *sql.Tx) error { return pgDeleteIn(ctx, tx, "s", []message.ID{message.ID(of(2000))}) })
}

// requireIndexes does something in a transaction, which must read no large table from its
// beginning.
func requireIndexes(t *testing.T, d *database, name string, do func(tx *sql.Tx) error) {
	t.Helper()
	tx, err := d.raw.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // nothing is to be kept
	require.NoError(t, do(tx), name)
	var read int
	require.NoError(t, tx.QueryRowContext(t.Context(), `select sum(seq_tup_read) from pg_stat_xact_user_tables
where schemaname = current_schema() and relname <> 'laconic_scopes'`).Scan(&read))
	require.Zero(t, read, "rows that were read from the beginning of a table: %s", name)
}
