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

func (d *database) lock(t *testing.T) *sql.Tx {
	t.Helper()
	tx, err := d.raw.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "lock table laconic_entries, laconic_contents in access exclusive mode")
	require.NoError(t, err)
	return tx
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
