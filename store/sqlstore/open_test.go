package sqlstore

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachDatabase runs a test with a new SQLite file, and with a new schema of PostgreSQL.
func eachDatabase(t *testing.T, do func(t *testing.T, d *database)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); do(t, sqliteDatabase(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); do(t, postgresDatabase(t)) })
}

// database is an empty database of a test, which is removed after it.
type database struct {
	url  string
	file string // of SQLite
	raw  *sql.DB
}

func sqliteDatabase(tb testing.TB) *database {
	tb.Helper()
	d := &database{file: filepath.Join(tb.TempDir(), "a b%20#.db")}
	d.url = "sqlite:" + d.file
	return d
}

func postgresIsSet() bool { return os.Getenv("LACONIC_POSTGRES") != "" }

func postgresDatabase(tb testing.TB) *database {
	tb.Helper()
	server := os.Getenv("LACONIC_POSTGRES")
	if !postgresIsSet() {
		tb.Skip("set LACONIC_POSTGRES=postgres://user:password@host:5432/database to run this test")
	}
	config, err := pgx.ParseConfig(server)
	require.NoError(tb, err)
	schema := "laconic_test_" + strings.ToLower(rand.Text())
	admin := stdlib.OpenDB(*config)
	_, err = admin.ExecContext(tb.Context(), "create schema "+schema)
	require.NoError(tb, err)
	u, err := url.Parse(server)
	require.NoError(tb, err)
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	config.RuntimeParams["search_path"] = schema
	raw := stdlib.OpenDB(*config)
	tb.Cleanup(func() {
		require.NoError(tb, raw.Close())
		_, err := admin.Exec("drop schema " + schema + " cascade") //nolint:noctx // that of the test has ended
		require.NoError(tb, err)
		require.NoError(tb, admin.Close())
	})
	return &database{url: u.String(), raw: raw}
}

// backend opens the database; it is closed after the test.
func (d *database) backend(tb testing.TB) engine.Backend {
	tb.Helper()
	var b engine.Backend
	var err error
	if d.file != "" {
		b, err = openSQLite(tb.Context(), d.file)
	} else {
		b, err = openPostgresURL(tb.Context(), d.url)
	}
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, b.Close()) })
	return b
}

// exec runs a statement in a connection of its own.
func (d *database) exec(tb testing.TB, statement string) {
	tb.Helper()
	_, err := d.open(tb).ExecContext(tb.Context(), statement)
	require.NoError(tb, err)
}

// open returns the database itself.
func (d *database) open(tb testing.TB) *sql.DB {
	tb.Helper()
	if d.raw == nil {
		raw, err := sql.Open("sqlite", d.file)
		require.NoError(tb, err)
		raw.SetMaxOpenConns(1)
		d.raw = raw
		tb.Cleanup(func() { require.NoError(tb, raw.Close()) })
	}
	return d.raw
}

// age makes all rows older by some hours.
func (d *database) age(tb testing.TB, hours int) {
	tb.Helper()
	for _, table := range []string{"laconic_entries", "laconic_contents"} {
		d.exec(tb, fmt.Sprintf("update %s set used = used - %d", table, hours*3600*1000))
	}
}

// TestOwnPool makes each call through a pool of the caller's, whose statements are prepared.
func TestOwnPool(t *testing.T) {
	t.Parallel()
	d := postgresDatabase(t)
	pool, err := pgxpool.New(t.Context(), d.url)
	require.NoError(t, err)
	defer pool.Close()
	b, err := NewPostgres(t.Context(), pool)
	require.NoError(t, err)
	day := engine.Bounds{TTL: 24 * time.Hour, Limit: 1 << 30}
	put(t, b, 1, 0, entryRow(11, 0, 1), day)
	require.NoError(t, b.PutContents(t.Context(), "s", message.ID{1}, []engine.Content{content(1), {Handle: content(2).Handle}}, day))
	d.age(t, 13)
	find(t, b, day, 1)
	_, err = b.Get(t.Context(), "s", content(1).Handle, day)
	require.NoError(t, err)
	list, err := b.List(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, b.Rewrite(t.Context(), func(string, []byte) ([]byte, error) { return nil, nil }))
	require.NoError(t, b.Drop(t.Context(), "s", []engine.Row{entryRow(11, 0, 1)}))
	require.NoError(t, b.Delete(t.Context(), "s", message.ID{1}))
	_, err = b.Vacuum(t.Context(), time.Hour)
	require.NoError(t, err)
	d.requireEmpty(t)
	require.NoError(t, b.Close())
	require.NoError(t, pool.Ping(t.Context()), "it is left open")
}
