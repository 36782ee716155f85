package sqlstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// engine opens the database as an engine; it is closed after the test.
func (d *database) engine(tb testing.TB, o engine.Options) *engine.Engine {
	tb.Helper()
	e, err := engine.Open(tb.Context(), d.url, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

// patient is for tests of what is done, on machines that are slow.
var patient = store.Limits{Timeout: time.Minute}

func TestContracts(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *database{"sqlite": sqliteDatabase, "postgres": postgresDatabase} {
		o := engine.Options{Secret: []byte("secret"), Limits: patient}
		t.Run(name+" journal", func(t *testing.T) {
			t.Parallel()
			middlewaretest.Journal(t, func(t *testing.T) journal.Journal {
				t.Helper()
				d := open(t)
				return damageableJournal{d.engine(t, o).Journal(), d, t}
			})
		})
		t.Run(name+" archive", func(t *testing.T) {
			t.Parallel()
			middlewaretest.Archive(t, func(t *testing.T) store.Store {
				t.Helper()
				d := open(t)
				return damageable{d.engine(t, o).Archive("s"), d, t}
			})
		})
	}
}

// damageable is an archive whose rows can be damaged.
type damageable struct {
	store.Store

	d *database
	t *testing.T
}

func (a damageable) Damage(h store.Handle) error {
	a.d.damage(a.t, "laconic_contents", "handle = $1", h.String())
	return nil
}

// damageableJournal is a journal whose rows can be damaged.
type damageableJournal struct {
	journal.Journal

	d *database
	t *testing.T
}

func (j damageableJournal) Damage(_ string, rev message.ID) error {
	j.d.damage(j.t, "laconic_entries", "rev = $1", rev[:])
	return nil
}

// damage changes the last byte of the data of each row of a table that meets a condition.
func (d *database) damage(tb testing.TB, table, where string, args ...any) {
	tb.Helper()
	db := d.open(tb)
	var all [][]byte
	err := each(func(scan func(...any) error) error {
		var data []byte
		all = append(all, data)
		return scan(&all[len(all)-1])
	})(db.QueryContext(tb.Context(), "select data from "+table+" where "+where, args...)) //nolint:rowserrcheck // each does
	require.NoError(tb, err)
	require.NotEmpty(tb, all, "rows to damage")
	for _, data := range all {
		altered := slices.Clone(data)
		altered[len(altered)-1] ^= 1
		_, err := db.ExecContext(tb.Context(), "update "+table+" set data = $1 where data = $2", altered, data)
		require.NoError(tb, err)
	}
}

// TestReseal changes the key of all rows, in two scopes, while one row is damaged.
func TestReseal(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		ctx, n := t.Context(), 130 // more than a page
		first, err := engine.AES(make([]byte, 32))
		require.NoError(t, err)
		second, err := engine.AES(slices.Repeat([]byte{1}, 32))
		require.NoError(t, err)
		open := func(c ...engine.Cipher) *engine.Engine {
			return d.engine(t, engine.Options{Limits: patient, Ciphers: c})
		}
		plain := open()
		var handles []store.Handle
		for i := range n {
			en := rewrite(fmt.Sprint("entry ", i))
			_, err := plain.Journal().Put(ctx, []string{"s", "t"}[i%2], []journal.Write{{ID: message.ID{byte(i)}, Entry: en}})
			require.NoError(t, err)
			h, err := store.Keep(ctx, plain.Archive([]string{"s", "t"}[i%2]), store.Content{Data: fmt.Sprint("content ", i)})
			require.NoError(t, err)
			handles = append(handles, h)
		}
		d.damage(t, "laconic_contents", "handle = $1", handles[7].String())
		require.NoError(t, plain.Archive("s").Put(ctx, message.ID{1}, nil))
		use := d.use(t)
		var seen []engine.Resealed
		for _, e := range []*engine.Engine{open(first, engine.Plain), open(second, first)} {
			done, err := e.Reseal(ctx, func(r engine.Resealed) { seen = append(seen, r) })
			require.NoError(t, err)
			require.Equal(t, engine.Resealed{Rows: 2 * n, Written: 2*n - 1, Unread: 1}, done)
			require.GreaterOrEqual(t, len(seen), 2*n-1)
			require.Equal(t, done.Written, seen[len(seen)-1].Written)
		}
		require.Equal(t, use+28*int64(n), d.use(t), "an entry or content is 28 bytes longer")
		done, err := open(second).Reseal(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, engine.Resealed{Rows: 2 * n, Unread: 1}, done, "nothing is left to do")
		e := open(second)
		for i, h := range handles {
			found, err := e.Journal().Find(ctx, []string{"s", "t"}[i%2], message.ID{}, []message.ID{{byte(i)}})
			require.NoError(t, err)
			require.Len(t, found.Entries, 1)
			c, err := e.Archive([]string{"s", "t"}[i%2]).Get(ctx, h)
			if i == 7 {
				require.ErrorIs(t, err, store.ErrDamaged)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("content ", i), c.Data)
		}
	})
}

// TestResealOfLargeRows has each row written before the next one is read.
func TestResealOfLargeRows(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		cipher, err := engine.AES(make([]byte, 32))
		require.NoError(t, err)
		e := d.engine(t, engine.Options{Limits: patient, Ciphers: []engine.Cipher{cipher, engine.Plain}})
		plain := d.engine(t, engine.Options{Limits: patient}).Archive("s")
		data := make([]byte, 1<<20)
		for range 3 {
			_, err := rand.Read(data)
			require.NoError(t, err)
			_, err = store.Keep(t.Context(), plain, store.Content{Data: string(data)})
			require.NoError(t, err)
		}
		use := d.use(t)
		_, err = e.Reseal(t.Context(), func(r engine.Resealed) {
			require.Equal(t, use+28*int64(r.Written-1), d.use(t), "a content is 28 bytes longer")
		})
		require.NoError(t, err)
	})
}

// TestLostDatabase has a database that loses everything while a process uses it: the next call says so and names the
// handles that lead nowhere, sends all again, plans anew, and what it writes is found by others.
func TestLostDatabase(t *testing.T) {
	t.Parallel()
	type losing struct {
		lose func(t *testing.T, d *database)
		why  string
	}
	files := map[string]losing{
		"removed": {func(t *testing.T, d *database) { t.Helper(); require.NoError(t, os.Remove(d.file)) }, "was removed"},
		"emptied": {func(t *testing.T, d *database) { t.Helper(); require.NoError(t, os.Truncate(d.file, 0)) }, "was emptied"},
		"cut": {func(t *testing.T, d *database) {
			t.Helper()
			d.exec(t, "pragma wal_checkpoint(truncate)")
			require.NoError(t, os.Truncate(d.file, 5000))
		}, "is damaged, and is now"},
		"overwritten": {func(t *testing.T, d *database) {
			t.Helper()
			d.exec(t, "pragma wal_checkpoint(truncate)")
			require.NoError(t, os.WriteFile(d.file, bytes.Repeat([]byte("text"), 50_000), 0o600))
		}, "is damaged, and is now"},
		"replaced": {func(t *testing.T, d *database) {
			t.Helper()
			other := sqliteDatabase(t)
			require.NoError(t, other.backend(t).Close())
			require.NoError(t, os.Rename(other.file, d.file))
		}, "was replaced"},
		"tables": {func(t *testing.T, d *database) {
			t.Helper()
			for _, table := range []string{"heads", "links", "contents", "entries", "scopes", "schema"} {
				d.exec(t, "drop table laconic_"+table)
			}
		}, "no such table"},
	}
	for name, l := range files {
		t.Run("sqlite "+name, func(t *testing.T) { t.Parallel(); loses(t, sqliteDatabase(t), l.lose, l.why) })
	}
	t.Run("postgres tables", func(t *testing.T) {
		t.Parallel()
		loses(t, postgresDatabase(t), func(t *testing.T, d *database) {
			t.Helper()
			d.exec(t, `do $$ declare n text; begin
for n in select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace loop
  execute 'drop table ' || quote_ident(n) || ' cascade';
end loop; end $$`)
		}, "its tables are gone")
	})
	t.Run("postgres rows", func(t *testing.T) {
		t.Parallel()
		loses(t, postgresDatabase(t), func(t *testing.T, d *database) { t.Helper(); d.exec(t, `delete from laconic_scopes`) }, "")
	})
}

func loses(t *testing.T, d *database, lose func(*testing.T, *database), why string) {
	t.Helper()
	e := d.engine(t, engine.Options{Limits: patient})
	var events []middleware.Event
	var sent []message.Message
	chain := middleware.With(middleware.Env{Journal: e.Journal(), Archive: e.Archive("s"), Scope: "s"},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: 1}))
	model := middleware.Chain(middleware.Observe(func(_ context.Context, ev middleware.Event) {
		if ev.Kind != middleware.Called {
			events = append(events, ev)
		}
	}), chain)(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		sent = req.Messages
		id := fmt.Sprint("call", len(req.Messages))
		return &middleware.Response{Message: message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"})}, nil
	})
	history := []message.Message{message.User("Which log has an error?")}
	step := func(size int) {
		events = nil
		resp, err := model(t.Context(), &middleware.Request{Messages: history}, nil)
		require.NoError(t, err)
		call := resp.Message.Parts[0].(message.ToolCall)
		history = append(history, resp.Message, message.Result(call.ID, "read", call.ID+strings.Repeat(" ok", size)))
	}
	for range 4 {
		step(2000)
	}
	handles := archived.In(message.Message{Parts: sent[2].Parts}.Text() + sent[2].Parts[0].(message.ToolResult).Text)
	require.NotEmpty(t, handles)
	lose(t, d)
	if why != "was removed" && why != "was emptied" && why != "was replaced" && why != "" { // these are seen in the next call, whatever it does
		history = append(slices.Clone(history[:len(history)-1]), message.Result("call7", "read", "another result, so it is a new branch"))
	}
	var all []string
	for range 3 { // a new branch reads the journal from where it begins
		step(1000)
		for _, ev := range events {
			all = append(all, ev.String())
		}
	}
	text := strings.Join(all, "\n")
	require.Contains(t, text, why)
	require.Contains(t, text, "these handles lead nowhere: "+handles[0].String())
	require.Contains(t, text, "contextedit: ")
	again, err := e.Archive("s").Get(t.Context(), handles[0])
	require.NoError(t, err, "it was planned and put again")
	require.Contains(t, again.Data, " ok")
	req, others, err := middleware.Apply(t.Context(), middleware.With(
		middleware.Env{Journal: d.engine(t, engine.Options{Limits: patient}).Journal(), Archive: e.Archive("s"), Scope: "s"},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1_000_000)})), &middleware.Request{Messages: history})
	require.NoError(t, err)
	require.Empty(t, others)
	require.Equal(t, sent, req.Messages[:len(sent)])
}
