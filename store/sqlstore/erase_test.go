package sqlstore

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store/engine"
)

const piece = 16 // bytes that are searched for

// traces are pieces of what must be gone: data, IDs, revisions, keys, handles, names.
type traces map[[piece]byte]string

// add adds each piece of 16 bytes; a shorter one is not added.
func (s traces) add(what string, data []byte) {
	for i := 0; i+piece <= len(data); i += piece {
		s[[piece]byte(data[i:])] = what
	}
}

// in returns what is found in bytes, at any place.
func (s traces) in(data []byte) (found []string) {
	var may [1 << 16]bool // by two bytes, so that most places need no look into the map
	for p := range s {
		may[int(p[0])<<8|int(p[1])] = true
	}
	for i := 0; i+piece <= len(data) && len(found) < 5; i++ {
		if !may[int(data[i])<<8|int(data[i+1])] {
			continue
		}
		if what, ok := s[[piece]byte(data[i:])]; ok {
			found = append(found, what)
		}
	}
	return found
}

// dump returns all that the database has: the bytes of all files of SQLite, and all rows of
// all tables of PostgreSQL, with the samples that the server has taken of them.
func (d *database) dump(tb testing.TB) []byte {
	tb.Helper()
	var all bytes.Buffer
	if d.file != "" {
		for _, name := range []string{d.file, d.file + "-wal", d.file + "-shm", d.file + "-journal"} {
			data, err := os.ReadFile(name)
			if !os.IsNotExist(err) {
				require.NoError(tb, err)
			}
			all.Write(data)
		}
		return all.Bytes()
	}
	queries := []string{"select t::text from pg_stats t where schemaname = current_schema()"}
	for _, table := range []string{"schema", "scopes", "entries", "heads", "contents", "links", "counts"} {
		queries = append(queries, "select t::text from laconic_"+table+" t")
	}
	for _, query := range queries {
		for _, text := range d.lines(tb, query) {
			for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`(){},"\`, r) }) {
				raw, err := hex.DecodeString(strings.TrimPrefix(field, "x"))
				if err != nil {
					raw = []byte(field)
				}
				all.Write(append(raw, '|'))
			}
		}
	}
	return all.Bytes()
}

// fill writes entries and contents of a conversation, some of them large, and returns their
// traces.
func fill(tb testing.TB, b engine.Backend, scope string, conversation message.ID) traces {
	tb.Helper()
	ctx, s := tb.Context(), traces{}
	id := func(what string) (id message.ID) {
		_, err := rand.Read(id[:])
		require.NoError(tb, err)
		s.add(what, id[:])
		return id
	}
	data := func(what string, n int) []byte {
		data := make([]byte, n)
		_, err := rand.Read(data)
		require.NoError(tb, err)
		s.add(what, data)
		return data
	}
	s.add("conversation", conversation[:])
	var base, at message.ID
	for i := range 60 {
		rev, over := id("revision"), base
		if i%3 == 0 { // two of three replace an entry
			at, over = id("position"), message.ID{}
		}
		row := engine.Row{Rev: rev, Base: base, Conversation: conversation, Data: data("entry", 100+i*i)}
		_, err := b.Put(ctx, scope, []engine.Write{{ID: at, Over: over, Row: row}}, engine.Bounds{})
		require.NoError(tb, err)
		base = rev
		var contents []engine.Content
		for range 3 {
			c := engine.Content{Handle: strings.ToLower(rand.Text())[:piece], Key: [32]byte(data("key", 32)), Data: data("content", 50+i*i)}
			s.add("handle", []byte(c.Handle))
			contents = append(contents, c)
		}
		require.NoError(tb, b.PutContents(ctx, scope, conversation, contents, engine.Bounds{}))
	}
	return s
}

// TestNothingRemains deletes conversations and scopes whose rows lie between those of
// others, and looks for pieces of them in all that the database has. In SQLite, index pages
// may have copies of keys until the file is written anew.
func TestNothingRemains(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	eachDatabase(t, func(t *testing.T, d *database) {
		b, ctx := d.backend(t), t.Context()
		other := d.backend(t) // another process, with pages in its cache
		deleted, kept := map[string]traces{}, traces{}
		for n := range 4 {
			conversation := message.ID([]byte(rand.Text()[:piece]))
			some := fill(t, b, "tenant that stays", conversation)
			scope := fmt.Sprintf("tenant whose name is %d", n)
			deleted[scope] = fill(t, other, scope, message.ID([]byte(rand.Text()[:piece])))
			deleted[scope].add("name", []byte(scope[len(scope)-piece:]))
			if n != 2 {
				kept = some
				continue
			}
			deleted["conversation"] = some
			_, err := other.List(ctx)
			require.NoError(t, err)
			require.NoError(t, b.Delete(ctx, "tenant that stays", conversation))
		}
		if d.file == "" {
			d.exec(t, "analyze laconic_scopes, laconic_entries, laconic_heads, laconic_contents, laconic_links")
		}
		for name := range deleted {
			require.NoError(t, b.Delete(ctx, name))
		}
		dump := d.dump(t)
		for name, traces := range deleted {
			if d.file == "" {
				require.Empty(t, traces.in(dump), "of %s, before Vacuum", name)
			}
		}
		_, err := b.Vacuum(ctx, 0)
		require.NoError(t, err)
		dump = d.dump(t)
		for name, traces := range deleted {
			require.Empty(t, traces.in(dump), "of %s", name)
		}
		require.NotEmpty(t, kept.in(dump), "what is not deleted is found, so what is looked for would be found")
		list, err := other.List(ctx)
		require.NoError(t, err)
		require.Len(t, list, 3)
	})
}

// TestKilledBackend ends the server process of a write that waits for a lock. The write is
// made again.
func TestKilledBackend(t *testing.T) {
	t.Parallel()
	d := postgresDatabase(t)
	e, err := engine.New(d.backend(t), engine.Options{})
	require.NoError(t, err)
	tx := d.lock(t)
	en := rewrite("text")
	errs := make(chan error)
	go func() {
		_, err := e.Journal().Put(t.Context(), "s", []journal.Write{{ID: en.Rev, Entry: en}})
		errs <- err
	}()
	const waiting = `select l.pid::text from pg_locks l where not granted
and relation = (select oid from pg_class where relname = 'laconic_entries' and relnamespace = current_schema()::regnamespace)`
	var first, second []string
	require.Eventually(t, func() bool { first = d.lines(t, waiting); return len(first) == 1 }, 10*time.Second, 5*time.Millisecond)
	d.lines(t, "select pg_terminate_backend("+first[0]+", 10000)::text")
	require.Eventually(t, func() bool { second = d.lines(t, waiting); return len(second) == 1 && !slices.Equal(first, second) },
		10*time.Second, 5*time.Millisecond, "it waits again, in another process of the server")
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-errs)
	found, err := e.Journal().Find(t.Context(), "s", message.ID{}, []message.ID{en.Rev})
	require.NoError(t, err)
	require.Equal(t, []journal.Entry{en}, found.Entries)
}
