package sqlstore

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// short is for tests in which calls are given up.
var short = engine.Options{Limits: store.Limits{Timeout: 200 * time.Millisecond, Failures: 1000}}

// try makes one call of each kind that writes, and one of each that reads.
func try(t *testing.T, e *engine.Engine, text string) (write, read error) {
	t.Helper()
	ctx, en := t.Context(), rewrite(message.ID{}, text)
	if _, write = e.Journal().Put(ctx, "s", []journal.Write{{ID: en.Rev, Entry: en}}); write == nil {
		_, write = store.Keep(ctx, e.Archive("s"), store.Content{Data: text})
	}
	if _, read = e.Journal().Find(ctx, "s", message.ID{}, []message.ID{en.Rev}); read == nil {
		_, read = e.Archive("s").Get(ctx, e.Archive("s").Handle(store.Content{Data: "first"}.Hash()))
	}
	return write, read
}

// requireWorks tries again, since a slow machine takes longer than a short limit.
func requireWorks(t *testing.T, e *engine.Engine) {
	t.Helper()
	var write, read error
	for range 50 {
		if write, read = try(t, e, "first"); write == nil && read == nil {
			return
		}
	}
	require.NoError(t, write)
	require.NoError(t, read)
}

func TestLockedFile(t *testing.T) {
	t.Parallel()
	d := sqliteDatabase(t)
	e, reader := d.engine(t, short), d.engine(t, engine.Options{Limits: patient})
	requireWorks(t, e)
	tx, err := d.open(t).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "update laconic_schema set version = version") // it locks the file
	require.NoError(t, err)
	write, _ := try(t, e, "while it is locked")
	require.ErrorContains(t, write, "no answer within 200ms")
	_, err = reader.Journal().Find(t.Context(), "s", message.ID{}, []message.ID{{1}})
	require.NoError(t, err, "readers do not wait for a writer")
	require.NoError(t, tx.Rollback())
	requireWorks(t, e)
}

// TestLockedTable has a server that does not answer, and goes on when it does.
func TestLockedTable(t *testing.T) {
	t.Parallel()
	d := postgresDatabase(t)
	e := d.engine(t, short)
	requireWorks(t, e)
	tx := d.lock(t)
	write, read := try(t, e, "while it is locked")
	require.ErrorContains(t, write, "no answer within 200ms")
	require.ErrorContains(t, read, "no answer within 200ms")
	require.NoError(t, tx.Rollback())
	requireWorks(t, e)
}

func (d *database) lock(t *testing.T) *sql.Tx {
	t.Helper()
	tx, err := d.raw.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "lock table laconic_entries, laconic_contents in access exclusive mode")
	require.NoError(t, err)
	return tx
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		requireWorks(t, d.engine(t, engine.Options{Limits: patient}))
		d.age(t, 13)
		readOnly := &database{file: d.file, raw: d.raw, url: d.url + "?mode=ro"}
		if d.file == "" {
			readOnly.url = d.url + "&default_transaction_read_only=on"
		}
		e := readOnly.engine(t, engine.Options{TTL: 24 * time.Hour, Limits: patient})
		write, read := try(t, e, "into a database that is read-only")
		require.Regexp(t, "readonly database|read-only transaction", write)
		require.NoError(t, read, "it reads, and does not renew")
	})
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	d := sqliteDatabase(t)
	b := d.backend(t).(*sqlite)
	var pages int
	require.NoError(t, b.writer.QueryRowContext(t.Context(), "pragma max_page_count(40)").Scan(&pages))
	put(t, b, 1, 0, entryRow(11, 0, 1), engine.Bounds{})
	large := entryRow(12, 11, 1)
	large.Data = make([]byte, 1<<20)
	_, err := b.Put(t.Context(), "s", []engine.Write{{ID: message.ID{2}, Row: large}}, engine.Bounds{})
	require.ErrorContains(t, err, "database or disk is full")
	at, _ := find(t, b, engine.Bounds{}, 1, 2)
	require.Equal(t, 0, at, "what was written before is there, and nothing of the other")
	put(t, b, 2, 0, entryRow(13, 11, 1), engine.Bounds{})
}

// TestServerRestarts ends all connections of an engine, and then lets new ones fail, too.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	d, r := postgresDatabase(t), &trips{}
	p := r.open(t, d)
	put(t, p, 1, 0, entryRow(11, 0, 1), engine.Bounds{})
	var pid int
	require.NoError(t, p.db.QueryRowContext(t.Context(), "select pg_backend_pid()").Scan(&pid))
	_, err := d.raw.ExecContext(t.Context(), "select pg_terminate_backend($1, 10000)", pid)
	require.NoError(t, err)
	find(t, p, engine.Bounds{}, 1) // again with a new connection: the old one was used a moment ago, so it was not looked at
	put(t, p, 2, 0, entryRow(12, 11, 1), engine.Bounds{})

	require.NoError(t, p.db.QueryRowContext(t.Context(), "select pg_backend_pid()").Scan(&pid))
	r.mu.Lock()
	r.cut = true
	r.mu.Unlock()
	_, err = d.raw.ExecContext(t.Context(), "select pg_terminate_backend($1, 10000)", pid)
	require.NoError(t, err)
	_, _, err = p.Find(t.Context(), "s", message.ID{}, []message.ID{{1}, {2}}, engine.Bounds{})
	require.ErrorContains(t, err, "failed to connect", "the second time")
	r.mu.Lock()
	r.cut = false
	r.mu.Unlock()
	_, revs := find(t, p, engine.Bounds{}, 1, 2)
	require.Equal(t, []byte{12, 11}, revs)
}
