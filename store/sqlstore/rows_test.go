package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// entryRow returns a row with revision rev on top of base; 0: on nothing.
func entryRow(rev, base, conversation byte) engine.Row {
	r := engine.Row{Rev: message.ID{rev}, Conversation: message.ID{conversation}, Data: []byte(fmt.Sprintf("entry %d", rev))}
	if base > 0 {
		r.Base = message.ID{base}
	}
	return r
}

func put(tb testing.TB, b engine.Backend, id, over byte, r engine.Row, bounds engine.Bounds) engine.Row {
	tb.Helper()
	w := engine.Write{ID: message.ID{id}, Row: r}
	if over > 0 {
		w.Over = message.ID{over}
	}
	winner, err := b.Put(tb.Context(), "s", []engine.Write{w}, bounds)
	require.NoError(tb, err)
	return winner
}

func find(tb testing.TB, b engine.Backend, bounds engine.Bounds, ids ...byte) (at int, revs []byte) {
	tb.Helper()
	all := make([]message.ID, len(ids))
	for i := range ids {
		all[i] = message.ID{ids[i]}
	}
	at, rows, err := b.Find(tb.Context(), "s", message.ID{}, all, bounds)
	require.NoError(tb, err)
	for _, r := range rows {
		revs = append(revs, r.Rev[0])
		require.Equal(tb, fmt.Sprintf("entry %d", r.Rev[0]), string(r.Data))
	}
	return at, revs
}

func content(n byte) engine.Content {
	return engine.Content{Handle: strings.Repeat(string('a'+rune(n)), 12), Key: [32]byte{n}, Data: []byte(fmt.Sprintf("content %d", n))}
}

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		b, day := d.backend(t), engine.Bounds{TTL: 24 * time.Hour}
		ctx := t.Context()
		put(t, b, 1, 0, entryRow(11, 0, 1), day)
		put(t, b, 2, 0, entryRow(12, 11, 1), day)
		d.age(t, 3)
		require.NoError(t, b.PutContents(ctx, "s", message.ID{1}, []engine.Content{content(1)}, day))
		require.NoError(t, b.PutContents(ctx, "s", message.ID{2}, []engine.Content{content(2)}, day))

		d.age(t, 10) // more than half of the time for the chain: a find renews it, and the contents of the conversation
		_, revs := find(t, b, day, 2)
		require.Equal(t, []byte{12, 11}, revs)
		d.age(t, 23)
		_, revs = find(t, b, day, 2)
		require.Equal(t, []byte{12, 11}, revs, "the first find has renewed them")
		_, err := b.Get(ctx, "s", content(1).Handle, day)
		require.NoError(t, err, "a content lives as long as its conversation is used")
		_, err = b.Get(ctx, "s", content(2).Handle, day)
		require.ErrorIs(t, err, store.ErrNotFound, "nobody has used it for 33 hours")

		d.age(t, 10)
		put(t, b, 3, 0, entryRow(13, 12, 1), day) // a write renews, too, and earlier
		d.age(t, 23)
		_, err = b.Get(ctx, "s", content(1).Handle, day)
		require.NoError(t, err)
		n, err := b.Vacuum(ctx, day.TTL)
		require.NoError(t, err)
		require.Equal(t, 1, n, "the content of conversation 2")
		_, revs = find(t, b, day, 3)
		require.Equal(t, []byte{13, 12, 11}, revs, "what an entry builds on is older than a day, and stays")

		d.age(t, 25)
		at, _ := find(t, b, day, 1, 2, 3)
		require.Equal(t, -1, at)
		at, _ = find(t, b, engine.Bounds{}, 1, 2, 3)
		require.Equal(t, 2, at, "without a limit of time it is there")
		require.Equal(t, byte(20), put(t, b, 3, 0, entryRow(20, 0, 1), day).Rev[0], "an expired entry does not stop a write")
		n, err = b.Vacuum(ctx, day.TTL)
		require.NoError(t, err)
		require.Equal(t, 4, n, "three entries and a content")
		list, err := b.List(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, 1, list[0].Entries)

		d.age(t, 25)
		require.Equal(t, byte(21), put(t, b, 3, 20, entryRow(21, 20, 1), day).Rev[0], "an expired entry that is there is renewed")
		_, err = b.Vacuum(ctx, day.TTL)
		require.NoError(t, err)
		_, revs = find(t, b, day, 3)
		require.Equal(t, []byte{21, 20}, revs)
		d.age(t, 25)
		_, err = b.Vacuum(ctx, day.TTL)
		require.NoError(t, err)
		require.Zero(t, put(t, b, 3, 21, entryRow(22, 21, 1), day), "what was removed cannot be built on")
		_, err = b.Vacuum(ctx, day.TTL)
		require.NoError(t, err)
		d.requireEmpty(t)
	})
}

func TestLimit(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		b, ctx := d.backend(t), t.Context()
		one := int64(len("entry 11")) + overhead
		full := engine.Bounds{Limit: 2 * one}
		put(t, b, 1, 0, entryRow(11, 0, 1), full)
		put(t, b, 2, 0, entryRow(12, 11, 1), full)
		_, err := b.Put(ctx, "s", []engine.Write{{ID: message.ID{3}, Row: entryRow(13, 0, 1)}}, full)
		var e *engine.FullError
		require.ErrorAs(t, err, &e)
		require.Equal(t, engine.FullError{Scope: "s", Use: 2 * one, Limit: 2 * one}, *e)
		require.Equal(t, entryRow(12, 11, 1), put(t, b, 2, 0, entryRow(12, 11, 1), full), "what is kept may be put again")
		require.Equal(t, entryRow(11, 0, 1), put(t, b, 1, 0, entryRow(13, 0, 1), full), "who comes second learns of the first")
		require.Zero(t, put(t, b, 3, 0, entryRow(13, 99, 1), full), "its base is missing")
		err = b.PutContents(ctx, "s", message.ID{1}, []engine.Content{content(1)}, full)
		require.ErrorAs(t, err, &e)
		_, err = b.Get(ctx, "s", content(1).Handle, full)
		require.ErrorIs(t, err, store.ErrNotFound, "nothing of it is stored")
		at, _ := find(t, b, full, 1, 2, 3)
		require.Equal(t, 1, at, "a full scope is read")
		_, err = b.Put(ctx, "other", []engine.Write{{ID: message.ID{3}, Row: entryRow(13, 0, 1)}}, full)
		require.NoError(t, err, "the limit is that of one scope")

		more := engine.Bounds{Limit: 100 * one}
		require.NoError(t, b.PutContents(ctx, "s", message.ID{1}, []engine.Content{content(1), content(2)}, more))
		require.NoError(t, b.PutContents(ctx, "s", message.ID{2}, []engine.Content{content(2), content(3)}, more))
		use := d.use(t)
		require.Equal(t, 2*one+3*(int64(len("content 1"))+overhead), use)
		require.NoError(t, b.Delete(ctx, "s", message.ID{1}))
		require.Equal(t, 2*(int64(len("content 1"))+overhead), d.use(t), "deleted bytes are free again")
		put(t, b, 3, 0, entryRow(13, 0, 1), engine.Bounds{Limit: 3*one + 20})
		_, err = b.Vacuum(ctx, time.Hour)
		require.NoError(t, err)
		require.Equal(t, use-2*(int64(len("content 1"))+overhead)+int64(len("content 1"))-int64(len("entry 11")),
			d.use(t)+0, "vacuum changes nothing here")
	})
}

// use returns the bytes that the scope s is said to keep.
func (d *database) use(tb testing.TB) (n int64) {
	tb.Helper()
	statement := "select bytes from laconic_scopes where name = $1"
	if d.file == "" {
		statement = "select laconic_use(id) from laconic_scopes where name = $1"
	}
	require.NoError(tb, d.open(tb).QueryRowContext(tb.Context(), statement, []byte("s")).Scan(&n))
	return n
}

func TestList(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		b, ctx := d.backend(t), t.Context()
		put(t, b, 1, 0, entryRow(11, 0, 1), engine.Bounds{})
		require.NoError(t, b.PutContents(ctx, "s", message.ID{}, []engine.Content{content(3)}, engine.Bounds{}))
		require.NoError(t, b.PutContents(ctx, "s", message.ID{1}, []engine.Content{content(3)}, engine.Bounds{}))
		all, err := b.List(ctx)
		require.NoError(t, err)
		list, err := b.List(ctx, "s", "nobody")
		require.NoError(t, err)
		require.Equal(t, all, list)
		require.Len(t, list, 2)
		for i, u := range list {
			require.Equal(t, 1, u.Contents)
			require.WithinDuration(t, time.Now(), u.Used, time.Hour)
			if list[i].Used = (time.Time{}); u.Conversation.IsZero() {
				require.Equal(t, engine.Usage{Scope: "s", Contents: 1, Bytes: int64(len("content 3")) + overhead}, list[i])
			}
		}
		require.NoError(t, b.Delete(ctx, "s"))
		require.NoError(t, b.Delete(ctx, "nobody"))
		d.requireEmpty(t)
	})
}

// requireEmpty fails if a table has a row.
func (d *database) requireEmpty(tb testing.TB) {
	tb.Helper()
	tables := []string{"scopes", "entries", "heads", "contents", "links"}
	if d.file == "" {
		tables = append(tables, "counts")
	}
	for _, table := range tables {
		var n int
		require.NoError(tb, d.open(tb).QueryRowContext(tb.Context(), "select count(*) from laconic_"+table).Scan(&n))
		require.Zero(tb, n, "rows of laconic_%s", table)
	}
}

// TestDeleteWhileOthersPut deletes and puts at the same time: what a Put that began after
// all deletions has returned is there.
func TestDeleteWhileOthersPut(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		b, ctx := d.backend(t), t.Context()
		var all sync.WaitGroup
		errs := make(chan error, 100)
		for g := byte(1); g <= 4; g++ {
			all.Go(func() {
				for n := byte(1); n <= 25; n++ {
					_, err := b.Put(ctx, "s", []engine.Write{
						{ID: message.ID{n}, Row: entryRow(g*32+n, 0, g)}, {ID: message.ID{n - 1}, Row: entryRow(g*32+n, 0, g)},
					}, engine.Bounds{})
					errs <- errors.Join(err,
						b.PutContents(ctx, "s", message.ID{g}, []engine.Content{content(n), content(n + 1)}, engine.Bounds{}))
				}
			})
		}
		all.Go(func() {
			for n := range byte(20) {
				var conversations []message.ID
				if n%4 > 0 {
					conversations = append(conversations, message.ID{n % 4}, message.ID{n%4 + 1})
				}
				if err := b.Delete(ctx, "s", conversations...); err != nil {
					errs <- err
				}
			}
		})
		go func() { all.Wait(); close(errs) }()
		for err := range errs {
			if err != nil && !strings.Contains(err.Error(), "deadlock") { // then the server ends one of two calls
				require.NoError(t, err)
			}
		}
		require.NoError(t, b.PutContents(ctx, "s", message.ID{1}, []engine.Content{content(1)}, engine.Bounds{}))
		_, err := b.Get(ctx, "s", content(1).Handle, engine.Bounds{})
		require.NoError(t, err)
		list, err := b.List(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, list)
		require.NoError(t, b.Delete(ctx, "s"))
		d.requireEmpty(t)
	})
}

// short is for tests in which calls are given up.
var short = engine.Options{Limits: store.Limits{Timeout: 200 * time.Millisecond, Failures: 1000}}

// try makes one call of each kind that writes, and one of each that reads.
func try(t *testing.T, e *engine.Engine, text string) (write, read error) {
	t.Helper()
	ctx, en := t.Context(), rewrite(text)
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
