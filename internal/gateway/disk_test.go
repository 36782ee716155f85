//go:build linux

package gateway_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
)

// The files of SQLite cannot grow any more: all requests are answered, and the log names the store. When there is room again,
// edits and contents are stored again. After many requests and reloads, no file is open.
func TestFullDisk(t *testing.T) { //nolint:paralleltest // the limit and the files are those of the process
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	first, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // opens the files of the poller, which stay open
	require.NoError(t, err)
	require.NoError(t, first.Close())
	dir, begin := t.TempDir(), openFiles(t)
	p, err := fakeprovider.Start(fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"m": 8000}})
	require.NoError(t, err)
	chain := strings.Replace(clears, "archive: memory", "journal: sqlite:"+dir+"/edits.db\narchive: sqlite:"+dir+"/archive.db", 1)
	t.Run("requests", func(t *testing.T) {
		s := listen(t, chain, p.Root, gateway.Options{Secret: []byte("0123456789abcdef")})
		conversation := 0
		ask := func() (line string) {
			conversation++
			body := strings.Replace(rounds(4, ""), "go on", fmt.Sprint("go on ", conversation), 1)
			a := post(t.Context(), t, s.url+chatPath, body)
			require.Equal(t, http.StatusOK, a.status, a.body)
			require.Contains(t, a.body, "ok")
			return <-s.log
		}
		works := func() bool { return strings.Contains(ask(), `store=""`) }
		require.True(t, works(), "the databases are open before the first request")
		room := limitFiles(t, 256<<10)
		failed := map[string]int{}
		for range 200 {
			if _, store, ok := strings.Cut(ask(), `store="`); ok {
				store, _, _ = strings.Cut(store, `"`)
				failed[store]++
			}
		}
		for _, c := range s.Check(t.Context()) {
			full := c.What == "journal" || c.What == "archive"
			require.Equal(t, full, c.Err != nil && strings.Contains(c.Err.Error(), "disk"), "%s: %v", c.What, c.Err)
		}
		require.Regexp(t, `"degraded","store":"(archive|journal): disk"`, get(t, s.url+"/readyz").body)
		room()
		t.Logf("requests with a store that has failed: %v", failed)
		require.Greater(t, failed["archive: disk"]+failed["journal: disk"], 100)
		require.Regexp(t, `laconic_store_errors_total\{store="(archive|journal)"\} [1-9]`, get(t, s.url+"/metrics").body)
		for range 20 {
			require.Contains(t, ask(), `result=`)
			require.NoError(t, s.Reload(t.Context()))
		}
		require.Eventually(t, works, time.Minute, time.Millisecond, "there is room again")
		for _, c := range s.Check(t.Context()) {
			require.NoError(t, c.Err, c.What)
		}
	})
	require.NoError(t, p.Close())
	require.LessOrEqual(t, openFiles(t), begin)
}

// limitFiles makes every write behind so many bytes of a file fail, until the result is called.
func limitFiles(t *testing.T, bytes uint64) (end func()) {
	t.Helper()
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: was.Max}))
	return func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)) }
}

// openFiles returns how many files, sockets and pipes the process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}
