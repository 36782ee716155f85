package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/gateway"
)

// pair starts an upstream that answers at once, a bare reverse proxy and a gateway in front of it, and returns the URLs of
// both.
func pair(tb testing.TB, upstream http.HandlerFunc) map[string]string {
	tb.Helper()
	up := httptest.NewServer(upstream)
	tb.Cleanup(up.Close)
	chain := filepath.Join(tb.TempDir(), "chain.yaml")
	require.NoError(tb, os.WriteFile(chain, []byte("window: 1000000\nchain: [{use: contextedit, trigger: {rounds: 100000}}, {use: fit}]"), 0o600))
	route, err := gateway.NewRoute("", up.URL)
	require.NoError(tb, err)
	g, err := gateway.New(tb.Context(), gateway.Options{
		Chain: chain, Routes: []gateway.Route{route}, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(tb, err)
	s := httptest.NewServer(g)
	tb.Cleanup(func() { s.Close(); require.NoError(tb, g.Close()) })
	return map[string]string{"bare": bare(tb, up.URL), "gateway": s.URL}
}

func answerAtOnce(w http.ResponseWriter, req *http.Request) {
	_, _ = io.Copy(io.Discard, req.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`)
}

// once sends a body, and returns how long the answer took.
func once(tr http.RoundTripper, url, body string) (time.Duration, error) {
	req, err := http.NewRequest(http.MethodPost, url+chatPath, strings.NewReader(body)) //nolint:noctx // it is short
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	start := time.Now()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return time.Since(start), errors.Join(err, resp.Body.Close())
}

// BenchmarkGateway measures requests of one connection through the gateway and, turn by turn, through a bare reverse proxy,
// in the same run: bodies that grow by nothing, and bodies of conversations that were never seen. The metrics are the least
// and the median of each, in µs.
func BenchmarkGateway(b *testing.B) {
	for _, c := range []struct {
		rounds int
		fresh  bool
	}{{8, false}, {500, false}, {1000, false}, {500, true}} {
		body, seen := rounds(c.rounds, ""), "known"
		if c.fresh {
			seen = "never seen"
		}
		b.Run(strconv.Itoa(len(body)/1000)+" kB, "+seen, func(b *testing.B) {
			urls := pair(b, answerAtOnce)
			tr := &http.Transport{}
			b.Cleanup(tr.CloseIdleConnections)
			took := map[string][]time.Duration{}
			for n := 0; b.Loop(); n++ {
				for name, url := range urls {
					text := body
					if c.fresh {
						text = strings.Replace(body, "go on", fmt.Sprint("go on ", n), 1)
					}
					d, err := once(tr, url, text)
					require.NoError(b, err)
					if n > 0 { // the first one opens the connections
						took[name] = append(took[name], d)
					}
				}
			}
			for name, all := range took {
				slices.Sort(all)
				b.ReportMetric(float64(all[0].Nanoseconds())/1000, name+"-min-µs")
				b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1000, name+"-p50-µs")
			}
		})
	}
}
