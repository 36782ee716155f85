package sqlstore

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// trips counts round trips of all connections: writes that follow a read.
type trips struct {
	mu sync.Mutex
	n  int
}

func (r *trips) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// open opens a database of PostgreSQL with one connection, whose round trips are counted.
func (r *trips) open(tb testing.TB, d *database) *postgres {
	tb.Helper()
	config, err := pgx.ParseConfig(d.url)
	require.NoError(tb, err)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &countedConn{Conn: c, trips: r}, err
	}
	p, err := openPostgres(tb.Context(), config, connections)
	require.NoError(tb, err)
	p.db.SetMaxOpenConns(1)
	tb.Cleanup(func() { require.NoError(tb, p.Close()) })
	return p
}

type countedConn struct {
	net.Conn

	trips   *trips
	writing bool // guarded by trips.mu
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.trips.mu.Lock()
	if !c.writing {
		c.writing = true
		c.trips.n++
	}
	c.trips.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.trips.mu.Lock()
		c.writing = false
		c.trips.mu.Unlock()
	}
	return n, err
}

// TestOneRoundTrip counts the round trips of each call, whatever its size, after the first
// one of its kind, which the driver prepares.
func TestOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, r, ctx := postgresDatabase(t), &trips{}, t.Context()
	b, day := r.open(t, d), engine.Bounds{TTL: 24 * time.Hour, Limit: 1 << 30}
	var n byte
	calls := map[string]func() error{
		"put": func() error {
			n++
			_, err := b.Put(ctx, "s", []engine.Write{
				{ID: message.ID{n}, Row: entryRow(n, n-1, 1)},
				{ID: message.ID{n, 1}, Row: entryRow(n, n-1, 1)},
				{ID: message.ID{n, 2}, Row: entryRow(n, n-1, 1)},
			}, day)
			return err
		},
		"lost put": func() error {
			_, err := b.Put(ctx, "s", []engine.Write{{ID: message.ID{1}, Over: message.ID{77}, Row: entryRow(200, 0, 1)}}, day)
			return err
		},
		"find": func() error {
			_, _, err := b.Find(ctx, "s", message.ID{}, make([]message.ID, 2000), day)
			return err
		},
		"find chain": func() error { _, _, err := b.Find(ctx, "s", message.ID{}, []message.ID{{9}, {n}}, day); return err },
		"put contents": func() error {
			n++
			return b.PutContents(ctx, "s", message.ID{1}, []engine.Content{content(n % 20), content((n + 1) % 20)}, day)
		},
		"get": func() error { _, err := b.Get(ctx, "s", content(1).Handle, day); return err },
	}
	for _, name := range []string{"put", "lost put", "find", "find chain", "put contents", "get"} {
		require.NoError(t, calls[name](), name)
		before := r.count()
		for range 10 {
			require.NoError(t, calls[name](), name)
		}
		require.Equal(t, before+10, r.count(), "round trips of ten calls: %s", name)
	}
	d.age(t, 13)
	before := r.count()
	require.NoError(t, calls["find chain"]())
	require.LessOrEqual(t, r.count(), before+6, "with the renewal")
	before = r.count()
	require.NoError(t, calls["find chain"]())
	require.Equal(t, before+1, r.count(), "it is renewed for half of the time to live")
}
