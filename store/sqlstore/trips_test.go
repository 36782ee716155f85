package sqlstore

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// trips counts the statements that are sent, each of which is one round trip.
type trips struct{ atomic.Int64 }

func (r *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.Add(1)
	return ctx
}

func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// open opens a database of PostgreSQL whose round trips are counted.
func (r *trips) open(tb testing.TB, d *database) *postgres {
	tb.Helper()
	config, err := pgx.ParseConfig(d.url)
	require.NoError(tb, err)
	config.Tracer = r
	p, err := openPostgres(tb.Context(), config, 1)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, p.Close()) })
	return p
}

// TestOneRoundTrip counts the round trips of each call, whatever its size.
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
		before := r.Load()
		for range 10 {
			require.NoError(t, calls[name](), name)
		}
		require.Equal(t, before+10, r.Load(), "round trips of ten calls: %s", name)
	}
	d.age(t, 13)
	before := r.Load()
	require.NoError(t, calls["find chain"]())
	require.LessOrEqual(t, r.Load(), before+6, "with the renewal")
	before = r.Load()
	require.NoError(t, calls["find chain"]())
	require.Equal(t, before+1, r.Load(), "it is renewed for half of the time to live")
}
