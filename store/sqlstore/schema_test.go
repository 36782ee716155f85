package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store/engine"
)

// rewrite is an entry with one edit.
func rewrite(base message.ID, text string) journal.Entry {
	e := journal.Entry{Base: base, Edits: []*journal.Record{{
		Middleware: "test", Kind: journal.Rewrite, Runs: []message.Run{{First: 1, Last: 1}},
		Parts: []message.Part{message.ToolResult{CallID: "c", Text: text}},
	}}}
	e.Rev = e.Revision()
	return e
}

// TestTenOpenAtOnce opens a database that has no tables yet from ten places, and each one
// writes at once.
func TestTenOpenAtOnce(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		var all sync.WaitGroup
		engines, errs := make([]*engine.Engine, 10), make([]error, 10)
		winners := make([]journal.Entry, 10)
		for i := range engines {
			all.Go(func() {
				if engines[i], errs[i] = engine.Open(t.Context(), d.url, engine.Options{Limits: patient}); errs[i] != nil {
					return
				}
				e := rewrite(message.ID{}, strings.Repeat("x", i))
				winners[i], errs[i] = engines[i].Journal().Put(t.Context(), "s", []journal.Write{{ID: message.ID{1}, Entry: e}})
			})
		}
		all.Wait()
		for i, e := range engines {
			require.NoError(t, errs[i])
			require.Equal(t, winners[0], winners[i], "one of ten wins, and all know it")
			require.NoError(t, e.Close())
		}
	})
}

// latest returns the version of the tables that this package makes.
func (d *database) latest() int {
	if d.file != "" {
		return len(sqliteSchema.steps)
	}
	return len(postgresSchema.steps)
}

// TestNewerSchema has tables of newer programs. A step adds what this program does not know,
// so it works with the next version.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		requireWorks(t, d.engine(t, engine.Options{Limits: patient}))
		for _, table := range []string{"scopes", "entries", "heads", "contents", "links"} {
			d.exec(t, "alter table laconic_"+table+" add column added int default 7")
		}
		d.exec(t, "update laconic_schema set version = version + 1")
		e := d.engine(t, engine.Options{TTL: time.Hour, Limits: patient})
		requireWorks(t, e)
		_, err := e.Vacuum(t.Context())
		require.NoError(t, err)
		require.NoError(t, e.Delete(t.Context(), "s"))

		d.exec(t, "update laconic_schema set version = version + 1")
		_, err = engine.Open(t.Context(), d.url, engine.Options{Limits: patient})
		require.ErrorContains(t, err, fmt.Sprintf("the tables have version %d, this program knows versions %d and %d: use a newer program",
			d.latest()+2, d.latest(), d.latest()+1))
		d.exec(t, "update laconic_schema set version = -1")
		_, err = engine.Open(t.Context(), d.url, engine.Options{Limits: patient})
		require.ErrorContains(t, err, "laconic_schema has version -1, want at least 1")
	})
}

// TestSteps fills tables of each earlier version. The next program that opens them makes the
// steps that they do not have, and has all rows.
func TestSteps(t *testing.T) {
	t.Parallel()
	for from := 1; from < len(postgresSchema.steps); from++ {
		d := postgresDatabase(t)
		for _, step := range postgresSchema.steps[:from] {
			d.exec(t, step)
		}
		for _, statement := range earlier[from] {
			d.exec(t, statement)
		}
		b := d.backend(t)
		at, revs := find(t, b, engine.Bounds{}, 1, 2)
		require.Equal(t, 1, at, "step %d", from+1)
		require.Equal(t, []byte{12, 11}, revs)
		put(t, b, 3, 0, entryRow(13, 12, 1), engine.Bounds{})
		c, err := b.Get(t.Context(), "s", content(1).Handle, engine.Bounds{})
		require.NoError(t, err)
		require.Equal(t, content(1), c)
		require.Equal(t, int64(1000+200+len("entry 13")), d.use(t), "bytes that were counted before")
		var version int
		require.NoError(t, d.raw.QueryRowContext(t.Context(), "select max(version) from laconic_schema").Scan(&version))
		require.Equal(t, d.latest(), version)
		require.Empty(t, d.lines(t, samples), "samples of removed rows")
		requireSameTables(t, d)
	}
}

// earlier are the statements that fill tables of a version.
var earlier = map[int][]string{
	1: {
		`insert into laconic_scopes (name, bytes) values ('s', 1000)`,
		`insert into laconic_entries select 1, decode(rpad(rev, 32, '0'), 'hex'), decode(rpad(base, 32, '0'), 'hex'),
  decode(rpad('01', 32, '0'), 'hex'), now(), convert_to(data, 'utf8')
  from (values ('0b', null, 'entry 11'), ('0c', '0b', 'entry 12')) v(rev, base, data)`,
		`insert into laconic_heads select 1, decode(rpad(id, 32, '0'), 'hex'), decode(rpad(rev, 32, '0'), 'hex'),
  decode(rpad('01', 32, '0'), 'hex') from (values ('01', '0b'), ('02', '0c')) v(id, rev)`,
		`insert into laconic_contents values (1, 'bbbbbbbbbbbb', decode(rpad('01', 64, '0'), 'hex'), now(), 'content 1')`,
		`insert into laconic_links values (1, decode(rpad('01', 32, '0'), 'hex'), 'bbbbbbbbbbbb')`,
		`analyze laconic_scopes, laconic_entries, laconic_heads, laconic_contents, laconic_links`,
	},
}

// lines returns the first column of a result of PostgreSQL.
func (d *database) lines(tb testing.TB, query string) (all []string) {
	tb.Helper()
	rows, err := d.raw.QueryContext(tb.Context(), query) //nolint:rowserrcheck // each does
	require.NoError(tb, each(func(scan func(...any) error) error {
		var line string
		err := scan(&line)
		all = append(all, line)
		return err
	})(rows, err))
	return all
}

// samples are the columns whose content is in the statistics of the server.
const samples = `select s.tablename || '.' || s.attname from pg_stats s
join pg_attribute a on a.attrelid = (s.schemaname || '.' || s.tablename)::regclass and a.attname = s.attname
where s.schemaname = current_schema() and a.atttypid in ('bytea'::regtype, 'text'::regtype)`

// requireSameTables compares columns, keys, indexes and storage with those of new tables.
func requireSameTables(tb testing.TB, d *database) {
	tb.Helper()
	fresh := postgresDatabase(tb)
	require.NoError(tb, fresh.engine(tb, engine.Options{}).Close())
	for _, query := range []string{
		`select attrelid::regclass || ' ' || concat_ws(' ', attname, atttypid::regtype, attstattarget, attstorage, attnotnull)
from pg_attribute where attnum > 0 and attrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace) order by 1`,
		`select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
where connamespace = current_schema()::regnamespace order by 1`,
	} {
		require.Equal(tb, fresh.lines(tb, query), d.lines(tb, query))
	}
}

// TestRoleWithoutRights has a role that may neither create nor alter tables.
func TestRoleWithoutRights(t *testing.T) {
	t.Parallel()
	d := postgresDatabase(t)
	u, err := url.Parse(d.url)
	require.NoError(t, err)
	schema := u.Query().Get("search_path")
	role := strings.Replace(schema, "test", "role", 1)
	d.exec(t, "create role "+role+" login password 'geheim'")
	t.Cleanup(func() {
		_, err := d.raw.Exec("drop owned by " + role + "; drop role " + role) //nolint:noctx // that of the test has ended
		require.NoError(t, err)
	})
	d.exec(t, "grant usage on schema "+schema+" to "+role)
	u.User = url.UserPassword(role, "geheim")

	_, err = engine.Open(t.Context(), u.String(), engine.Options{})
	require.ErrorContains(t, err, "create tables: ERROR: permission denied")
	d.exec(t, postgres1)
	grant := "grant select, insert, update, delete on all tables in schema " + schema + " to " + role
	d.exec(t, grant)
	_, err = engine.Open(t.Context(), u.String(), engine.Options{})
	require.ErrorContains(t, err, fmt.Sprintf("the tables have version 1, this program needs version %d: open them once with the right", d.latest()))

	require.NoError(t, d.engine(t, engine.Options{}).Close())
	d.exec(t, grant)
	e, err := engine.Open(t.Context(), u.String(), engine.Options{TTL: time.Hour, Limit: 1 << 20, Limits: patient})
	require.NoError(t, err)
	requireWorks(t, e)
	_, err = e.List(t.Context())
	require.NoError(t, err)
	require.NoError(t, e.Delete(t.Context(), "s"))
	_, err = e.Vacuum(t.Context())
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

func TestPathsOfSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte(strings.Repeat("no database ", 500)), 0o600))
	for path, want := range map[string]string{
		"":                             "want a file: sqlite:PATH",
		":memory:":                     "want a file: sqlite:PATH",
		dir:                            "is a directory",
		dir + "/none/x.db":             "no such file or directory",
		dir + "/x.db?mode=rw":          "no such file or directory",
		dir + "/x.db?mode=ro":          "no such file or directory",
		dir + "/x.db?sync=full":        "parameter sync=full, want synchronous=full|normal|off|extra or mode=rwc|rw|ro",
		dir + "/x.db?synchronous=1":    "parameter synchronous=1, want",
		dir + "/x.db?mode=rw&mode=rwc": "parameter mode=rw,rwc, want",
		dir + "/text":                  "file is not a database",
	} {
		_, err := engine.Open(t.Context(), "sqlite:"+path, engine.Options{Limits: patient})
		require.ErrorContains(t, err, want, path)
	}
	require.NoFileExists(t, dir+"/x.db")
	require.NoError(t, os.WriteFile(dir+"/empty", nil, 0o600))
	_, err := engine.Open(t.Context(), "sqlite:"+dir+"/empty?mode=ro", engine.Options{Limits: patient})
	require.ErrorContains(t, err, "the file has no tables of laconic")

	e, err := engine.Open(t.Context(), "sqlite://"+dir+"/y.db?synchronous=normal", engine.Options{Limits: patient})
	require.NoError(t, err)
	info, err := os.Stat(dir + "/y.db")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "entries are text of conversations")
	info, err = os.Stat(dir + "/y.db-wal")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, e.Close())
	require.NoFileExists(t, dir+"/y.db-wal")
}

// TestTwoProcesses runs this test in another process, too, with the same file.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if url := os.Getenv("LACONIC_TEST_SECOND"); url != "" {
		e, err := engine.Open(ctx, url, engine.Options{Limits: patient})
		require.NoError(t, err)
		found, err := e.Journal().Find(ctx, "s", message.ID{}, []message.ID{{1}})
		require.NoError(t, err)
		require.Equal(t, []journal.Entry{rewrite(message.ID{}, "of the first process")}, found.Entries)
		second := rewrite(found.Entries[0].Rev, "of the second process")
		_, err = e.Journal().Put(ctx, "s", []journal.Write{{ID: message.ID{2}, Entry: second}})
		require.NoError(t, err)
		return // without Close, as a process that is killed
	}
	d := sqliteDatabase(t)
	e := d.engine(t, engine.Options{Limits: patient})
	first := rewrite(message.ID{}, "of the first process")
	_, err := e.Journal().Put(ctx, "s", []journal.Write{{ID: message.ID{1}, Entry: first}})
	require.NoError(t, err)
	second := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestTwoProcesses$")
	second.Env = append(os.Environ(), "LACONIC_TEST_SECOND="+d.url)
	out, err := second.CombinedOutput()
	require.NotContains(t, string(out), "--- FAIL")
	_ = err // the goroutines of the open database are reported
	found, err := e.Journal().Find(ctx, "s", message.ID{}, []message.ID{{1}, {2}})
	require.NoError(t, err)
	require.Equal(t, 1, found.At, string(out))
	require.Equal(t, []journal.Entry{rewrite(first.Rev, "of the second process"), first}, found.Entries)
}

func TestErrorsHaveNoPassword(t *testing.T) {
	t.Parallel()
	const password = "geheim:2/3@x"
	for _, url := range []string{
		"postgres://u:" + password + "@127.0.0.1:1/test",
		"postgres://u:geheim%3A2%2F3%40x@127.0.0.1:1/test",
		"postgres://u:" + password + "@[::1/test",
		"postgres://u@127.0.0.1:1/test?password=" + password,
		"postgres://u:" + password + "@127.0.0.1:1/test?sslmode=never",
		"postgresql://127.0.0.1:99999/test?user=u&password=geheim%3A2%2F3%40x",
	} {
		_, err := engine.Open(t.Context(), url, engine.Options{Limits: patient})
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "geheim")
		require.NotContains(t, err.Error(), "2%2F3")
		for e := err; e != nil; {
			u, ok := e.(interface{ Unwrap() error })
			if !ok {
				break
			}
			if e = u.Unwrap(); e != nil {
				require.NotContains(t, e.Error(), "geheim")
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := engine.Open(ctx, "postgres://u:p@127.0.0.1:1/test", engine.Options{Limits: patient})
	require.ErrorIs(t, err, context.Canceled)
}

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
		if d.file != "" {
			d.exec(tb, fmt.Sprintf("update %s set used = used - %d", table, hours*3600*1000))
		} else {
			d.exec(tb, fmt.Sprintf("update %s set used = used - interval '%d hours'", table, hours))
		}
	}
}

// TestHintForPgBouncer has the errors of statements that were prepared on another connection.
func TestHintForPgBouncer(t *testing.T) {
	t.Parallel()
	for code, hint := range map[string]bool{"26000": true, "42P05": true, "23505": false} {
		err := hinted(&pgconn.PgError{Code: code, Message: "x"})
		if hint {
			require.ErrorContains(t, err, "add default_query_exec_mode=exec to the URL", code)
		} else {
			require.NotContains(t, err.Error(), "PgBouncer", code)
		}
	}
}
