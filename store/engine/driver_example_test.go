package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// driver is a small complete driver: its database is a map with a lock. It has neither ages
// nor limits, so it ignores [engine.Bounds].
type driver struct {
	mu     sync.Mutex
	scopes map[string]*tables
}

// tables are what a scope has.
type tables struct {
	entries  map[message.ID]engine.Row // by revision
	heads    map[message.ID]message.ID // an ID of a history → a revision
	contents map[string]engine.Content // by handle
	owners   map[string][]message.ID   // handle → conversations
}

// open locks the database and returns the tables of a scope.
func (d *driver) open(scope string) (t *tables, unlock func()) {
	d.mu.Lock()
	if t = d.scopes[scope]; t == nil {
		t = &tables{
			map[message.ID]engine.Row{},
			map[message.ID]message.ID{},
			map[string]engine.Content{},
			map[string][]message.ID{},
		}
		d.scopes[scope] = t
	}
	return t, d.mu.Unlock
}

func (d *driver) Find(_ context.Context, scope string, _ message.ID, ids []message.ID, _ engine.Bounds) (int, []engine.Row, error) {
	t, unlock := d.open(scope)
	defer unlock()
	for at, id := range slices.Backward(ids) {
		var chain []engine.Row
		for row, ok := t.entries[t.heads[id]]; ok; row, ok = t.entries[row.Base] {
			chain = append(chain, row)
		}
		if len(chain) > 0 {
			return at, chain, nil
		}
	}
	return -1, nil, nil
}

func (d *driver) Put(_ context.Context, scope string, writes []engine.Write, _ engine.Bounds) (engine.Row, error) {
	t, unlock := d.open(scope)
	defer unlock()
	for i, w := range writes {
		kept, ok := t.heads[w.ID]
		_, based := t.entries[w.Row.Base]
		headed := w.Head.ID.IsZero() || t.heads[w.Head.ID] == w.Head.Rev
		if kept != w.Row.Rev && (ok && kept != w.Over || !headed) || !based && !w.Row.Base.IsZero() {
			if i == 0 {
				return t.entries[kept], nil
			}
			continue
		}
		t.heads[w.ID], t.entries[w.Row.Rev] = w.Row.Rev, w.Row
	}
	return writes[0].Row, nil
}

func (d *driver) Entries(_ context.Context, scope string, conversation message.ID) (rows []engine.Row, _ error) {
	t, unlock := d.open(scope)
	defer unlock()
	for _, row := range t.entries {
		if row.Conversation == conversation {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (d *driver) Get(_ context.Context, scope, handle string, _ engine.Bounds) (engine.Content, error) {
	t, unlock := d.open(scope)
	defer unlock()
	c, ok := t.contents[handle]
	if !ok {
		return engine.Content{}, store.ErrNotFound
	}
	return c, nil
}

func (d *driver) PutContents(
	_ context.Context, scope string, conversation message.ID, contents []engine.Content, _ engine.Bounds,
) error {
	t, unlock := d.open(scope)
	defer unlock()
	for _, c := range contents {
		there, ok := t.contents[c.Handle]
		if known := len(c.Data) == 0; known && !ok {
			continue
		} else if !known && ok && there.Key != c.Key {
			return fmt.Errorf("%s: %w", c.Handle, store.ErrConflict)
		}
		t.contents[c.Handle] = c
		if !slices.Contains(t.owners[c.Handle], conversation) {
			t.owners[c.Handle] = append(t.owners[c.Handle], conversation)
		}
	}
	return nil
}

func (d *driver) Delete(_ context.Context, scope string, conversations ...message.ID) error {
	t, unlock := d.open(scope)
	defer unlock()
	if len(conversations) == 0 {
		delete(d.scopes, scope)
		return nil
	}
	gone := func(id message.ID) bool { return slices.Contains(conversations, id) }
	for id, rev := range t.heads {
		if gone(t.entries[rev].Conversation) {
			delete(t.heads, id)
		}
	}
	for rev, row := range t.entries {
		if gone(row.Conversation) {
			delete(t.entries, rev)
		}
	}
	for handle, owners := range t.owners {
		if t.owners[handle] = slices.DeleteFunc(owners, gone); len(t.owners[handle]) == 0 {
			delete(t.owners, handle)
			delete(t.contents, handle)
		}
	}
	return nil
}

func (d *driver) Drop(_ context.Context, scope string, rows []engine.Row) error {
	t, unlock := d.open(scope)
	defer unlock()
	for _, row := range rows {
		if bytes.Equal(t.entries[row.Rev].Data, row.Data) {
			delete(t.entries, row.Rev)
			maps.DeleteFunc(t.heads, func(_, rev message.ID) bool { return rev == row.Rev })
		}
	}
	return nil
}

func (d *driver) Rewrite(_ context.Context, change func(scope string, data []byte) ([]byte, error)) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	again := func(scope string, data []byte) []byte {
		changed, failed := change(scope, data)
		if err = errors.Join(err, failed); err == nil && changed != nil {
			return changed
		}
		return data
	}
	for scope, t := range d.scopes {
		for rev, row := range t.entries {
			row.Data = again(scope, row.Data)
			t.entries[rev] = row
		}
		for handle, c := range t.contents {
			c.Data = again(scope, c.Data)
			t.contents[handle] = c
		}
	}
	return err
}

func (d *driver) List(context.Context, ...string) ([]engine.Usage, error)      { return nil, nil } // left out here
func (d *driver) Vacuum(context.Context, time.Duration) (removed int, _ error) { return 0, nil }
func (d *driver) Close() error                                                 { return nil }

// A driver has the methods of [engine.Backend], and is registered by its import. Its test
// runs middlewaretest.Journal and middlewaretest.Archive with its engine.
func Example_driver() {
	engine.Register("map", func(context.Context, string) (engine.Backend, error) {
		return &driver{scopes: map[string]*tables{}}, nil
	})

	ctx := context.Background()
	e, err := engine.Open(ctx, "map:", engine.Options{})
	if err != nil {
		panic(err)
	}
	defer e.Close() //nolint:errcheck // it returns nil
	h, err := store.Keep(ctx, e.Archive("acme"), store.Content{Data: "exit status 2"})
	if err != nil {
		panic(err)
	}
	c, err := e.Archive("acme").Get(ctx, h)
	fmt.Println(c.Data, err)
	_, err = e.Archive("another").Get(ctx, h)
	fmt.Println(err)
	// Output:
	// exit status 2 <nil>
	// engine: get vdpfxatjhndy: not found: never put here, or removed since
}

func TestDriver(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *engine.Engine {
		t.Helper()
		e, err := engine.New(&driver{scopes: map[string]*tables{}}, engine.Options{Limits: store.Limits{Timeout: time.Minute}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	}
	t.Run("journal", func(t *testing.T) {
		t.Parallel()
		middlewaretest.Journal(t, func(t *testing.T) journal.Journal { t.Helper(); return open(t).Journal() })
	})
	t.Run("archive", func(t *testing.T) {
		t.Parallel()
		middlewaretest.Archive(t, func(t *testing.T) store.Store { t.Helper(); return open(t).Archive("s") })
	})
}
