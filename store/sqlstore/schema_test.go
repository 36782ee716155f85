package sqlstore

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

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
	e.Rev = e.Sum()
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

func TestNewerSchema(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, d *database) {
		require.NoError(t, d.engine(t, engine.Options{Limits: patient}).Close())
		d.exec(t, "update laconic_schema set version = 99")
		_, err := engine.Open(t.Context(), d.url, engine.Options{Limits: patient})
		require.ErrorContains(t, err, "the tables have version 99, this program knows version 1: use a newer program, or another database")
		d.exec(t, "update laconic_schema set version = 0")
		_, err = engine.Open(t.Context(), d.url, engine.Options{Limits: patient})
		require.ErrorContains(t, err, "laconic_schema has version 0, want 1")
	})
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
		found, err := e.Journal().Find(ctx, "s", []message.ID{{1}})
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
	found, err := e.Journal().Find(ctx, "s", []message.ID{{1}, {2}})
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
