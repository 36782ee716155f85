package sqlstore

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store/engine"
)

// rewrite is an entry with one edit.
func rewrite(text string) journal.Entry {
	e := journal.Entry{Edits: []*journal.Record{{
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
				e := rewrite(strings.Repeat("x", i))
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
		require.ErrorContains(t, err, "the tables have version 3, this program knows versions 1 and 2: use a newer program")
	})
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
	require.NoError(t, d.engine(t, engine.Options{}).Close())
	d.exec(t, "grant select, insert, update, delete on all tables in schema "+schema+" to "+role)
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
