package gateway_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	_ "github.com/laconic-go/laconic/store/sqlstore"
)

// The archive goes away while requests are served, or the database is not there from the beginning: each request is answered,
// and the errors are counted.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	dir := filepath.Join(t.TempDir(), "archive")
	for name, stores := range map[string]string{
		"archive": "archive: " + dir,
		"journal": "journal: postgres://user:pw@" + strings.TrimPrefix(closed.URL, "http://") + "/db",
	} {
		p := provider(t, fakeprovider.Text("ok"))
		s := listen(t, stores+"\n"+strings.Replace(clears, "archive: memory\n", "", 1), p.Root, gateway.Options{Secret: []byte("0123456789abcdef")})
		for n := 1; n <= 20; n++ {
			if n == 10 {
				require.NoError(t, os.RemoveAll(dir))
			}
			a := post(t.Context(), t, s.url+chatPath, rounds(n, ""))
			require.Equal(t, http.StatusOK, a.status, "after %d rounds: %s", n, a.body)
			require.Contains(t, a.body, "ok")
		}
		require.Regexp(t, `laconic_store_errors_total\{store="`+name+`"\} [1-9]`, get(t, s.url+"/metrics").body)
		require.Regexp(t, `laconic_requests_total\{format="chat",result="edited"\} \d`, get(t, s.url+"/metrics").body)
	}
}

// Neither memory nor goroutines grow with the number of requests beyond the limits of what is remembered: 48 MB of
// conversations and 64 MB of edits. With LACONIC_SOAK it sends 400,000, or as many as that says, of
// 10,000 conversations:
//
//	LACONIC_SOAK=1000000 go test -run SoakMemory -v -timeout 60m ./internal/gateway
func TestSoakMemory(t *testing.T) { //nolint:paralleltest // it counts the memory and goroutines of the process
	calls := soak.Of(4000, 4)
	if n, err := strconv.Atoi(os.Getenv("LACONIC_SOAK")); err == nil {
		calls = max(100*calls, n)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":500,"completion_tokens":1}}`)
	}))
	t.Cleanup(up.Close)
	s := listen(t, clears, up.URL, gateway.Options{})
	tr := &http.Transport{MaxIdleConnsPerHost: 1}
	t.Cleanup(tr.CloseIdleConnections)
	used := func() (bytes, goroutines int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc), runtime.NumGoroutine()
	}
	var bytes, goroutines [5]int
	for i := range calls {
		if _, err := once(tr, s.url, strings.Replace(rounds(1+i%4, ""), "go on", fmt.Sprint("go on ", i/4%10_000), 1)); err != nil {
			require.NoError(t, err)
		}
		<-s.log
		if i%(calls/4) == 1 { // the connections are open
			bytes[i/(calls/4)], goroutines[i/(calls/4)] = used()
		}
	}
	bytes[4], goroutines[4] = used()
	t.Logf("MB after each quarter of %d requests: %v; goroutines: %v", calls, mb(bytes[:]), goroutines)
	require.LessOrEqual(t, goroutines[4], goroutines[0])
	const limits, rest = 48 << 20, 64 << 20
	require.Less(t, bytes[4]-bytes[0], 2*(limits+rest), "twice the limits, for what is beside the texts")
}

func mb(bytes []int) (all []int) {
	for _, b := range bytes {
		all = append(all, b>>20)
	}
	return all
}

// Two gateways with one database behind a balancer send the bytes of one: each call of a conversation goes to the other one.
func TestTwoGatewaysAreOne(t *testing.T) {
	t.Parallel()
	database := schema(t)
	sent := func(gateways int, scope string) (bodies []string) {
		p := provider(t, fakeprovider.Text("ok"))
		chain := fmt.Sprintf("scope: %s\njournal: %q\narchive: %q\n", scope, database, database) + strings.Replace(clears, "archive: memory\n", "", 1)
		var urls []string
		for range gateways {
			urls = append(urls, listen(t, chain, p.Root, gateway.Options{Secret: []byte("0123456789abcdef"), FailClosed: true}).url)
		}
		for n := 1; n <= 24; n++ {
			a := post(t.Context(), t, urls[n%gateways]+chatPath, rounds(n, ""), "Authorization: Bearer "+scope)
			require.Equal(t, http.StatusOK, a.status, a.body)
			all := p.Requests()
			bodies = append(bodies, string(all[len(all)-1].Body))
		}
		return bodies
	}
	scope := fmt.Sprint("t", rand.Uint64())
	plain := func(bodies []string) (all []string) { // without the handles, which are those of a scope
		for _, b := range bodies {
			for _, h := range archived.In(b) {
				b = strings.ReplaceAll(b, h.String(), "")
			}
			all = append(all, b)
		}
		return all
	}
	require.Equal(t, plain(sent(1, scope+"a")), plain(sent(2, scope+"b")))
}

// schema returns the URL of an empty schema in the PostgreSQL for tests, which is removed after the test.
func schema(t *testing.T) string {
	t.Helper()
	server := os.Getenv("LACONIC_POSTGRES")
	if server == "" {
		t.Skip("set LACONIC_POSTGRES=postgres://user:password@host:5432/database to run this test: make services PKG=./internal/gateway")
	}
	name := fmt.Sprint("laconic_gateway_", rand.Uint64())
	admin, err := sql.Open("pgx", server)
	require.NoError(t, err)
	_, err = admin.ExecContext(t.Context(), "create schema "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec("drop schema " + name + " cascade") //nolint:noctx // that of the test has ended
		require.NoError(t, errors.Join(err, admin.Close()))
	})
	u, err := url.Parse(server)
	require.NoError(t, err)
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}
