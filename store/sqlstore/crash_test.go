package sqlstore

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
)

// cluster starts a PostgreSQL of the test's own, and returns what runs pg_ctl for it.
func cluster(t *testing.T) (d *database, ctl func(args ...string)) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is valid
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		found = append(found, filepath.Dir(path))
	}
	if len(found) == 0 || testing.Short() {
		t.Skip("needs initdb and pg_ctl of PostgreSQL")
	}
	dir, err := os.MkdirTemp("", "laconic-postgres-") //nolint:usetesting // another user cannot enter t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(found[len(found)-1], name), append([]string{"-D", filepath.Join(dir, "data")}, args...)...) //nolint:noctx // that of the test ends before the last one
		cmd.Dir = dir
		if os.Getuid() == 0 { // which it refuses
			other, err := user.Lookup("postgres")
			require.NoError(t, err)
			uid, _ := strconv.Atoi(other.Uid)
			gid, _ := strconv.Atoi(other.Gid)
			require.NoError(t, os.Chown(dir, uid, gid))
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
		out, err := os.Create(filepath.Join(dir, "out")) // a pipe would stay open in the server
		require.NoError(t, err)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			text, _ := os.ReadFile(out.Name())
			require.NoError(t, err, "%s: %s", name, text)
		}
		require.NoError(t, out.Close())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it returns at once
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	run("initdb", "-U", "test", "-A", "trust", "--no-sync", "--locale=C", "--encoding=UTF8")
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=", port)
	ctl = func(args ...string) {
		t.Helper()
		run("pg_ctl", append(args, "-w", "-l", filepath.Join(dir, "log"), "-o", options)...)
	}
	ctl("start")
	t.Cleanup(func() { run("pg_ctl", "stop", "-m", "immediate", "-w") })
	url := fmt.Sprintf("postgres://test@127.0.0.1:%d/postgres?sslmode=disable", port)
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	d = &database{url: url, raw: stdlib.OpenDB(*config)}
	t.Cleanup(func() { require.NoError(t, d.raw.Close()) })
	return d, ctl
}

// fillPool makes as many idle connections as a process may have.
func fillPool(t *testing.T, p *postgres) {
	t.Helper()
	all := make([]*sql.Conn, connections)
	for i := range all {
		var err error
		all[i], err = p.db.Conn(t.Context())
		require.NoError(t, err)
	}
	for _, c := range all {
		require.NoError(t, c.Close())
	}
	require.Equal(t, connections, p.db.Stats().Idle)
}

// TestCrash stops a server as a crash does, while a process has idle connections. When it
// answers again, so does each first call. The second time, they were used a moment ago.
func TestCrash(t *testing.T) {
	t.Parallel()
	d, ctl := cluster(t)
	b := d.backend(t).(*postgres)
	put(t, b, 1, 0, entryRow(11, 0, 1), engine.Bounds{})
	for n := range byte(2) {
		fillPool(t, b)
		ctl("restart", "-m", "immediate")
		var all sync.WaitGroup
		errs := make([]error, 3*connections)
		for i := range connections {
			all.Go(func() { _, _, errs[3*i] = b.Find(t.Context(), "s", message.ID{}, []message.ID{{1}}, engine.Bounds{}) })
			all.Go(func() {
				w := engine.Write{ID: message.ID{2, byte(i), n}, Row: entryRow(100+byte(i), 11, 1)}
				_, errs[3*i+1] = b.Put(t.Context(), "s", []engine.Write{w}, engine.Bounds{})
			})
			all.Go(func() {
				errs[3*i+2] = b.PutContents(t.Context(), "s", message.ID{1}, []engine.Content{content(byte(i))}, engine.Bounds{})
			})
		}
		all.Wait()
		require.Equal(t, make([]error, 3*connections), errs, "crash %d", n+1)
		_, revs := find(t, b, engine.Bounds{}, 1)
		require.Equal(t, []byte{11}, revs)
	}
}

// TestKilledBackend ends the server process of a write that waits for a lock. The write is
// made again.
func TestKilledBackend(t *testing.T) {
	t.Parallel()
	d := postgresDatabase(t)
	p := d.backend(t).(*postgres)
	put(t, p, 1, 0, entryRow(11, 0, 1), engine.Bounds{})
	tx := d.lock(t)
	errs := make(chan error)
	go func() {
		_, err := p.Put(t.Context(), "s", []engine.Write{{ID: message.ID{2}, Row: entryRow(12, 11, 1)}}, engine.Bounds{})
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
	_, revs := find(t, p, engine.Bounds{}, 1, 2)
	require.Equal(t, []byte{12, 11}, revs)
}
