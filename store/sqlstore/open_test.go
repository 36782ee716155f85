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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

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
