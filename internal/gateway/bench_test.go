package gateway_test

import (
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

// BenchmarkGateway measures requests of one connection through the gateway and, turn by turn, through a bare reverse proxy,
// in the same run. The metrics are the least and the median of each, in µs.
func BenchmarkGateway(b *testing.B) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`)
	}))
	b.Cleanup(up.Close)
	for _, n := range []int{8, 500, 1000} {
		body := rounds(n, "")
		b.Run(strconv.Itoa(len(body)/1000)+" kB", func(b *testing.B) {
			chain := filepath.Join(b.TempDir(), "chain.yaml")
			require.NoError(b, os.WriteFile(chain, []byte("window: 1000000\nchain: [{use: contextedit, trigger: {rounds: 100000}}, {use: fit}]"), 0o600))
			route, err := gateway.NewRoute("", up.URL)
			require.NoError(b, err)
			g, err := gateway.New(b.Context(), gateway.Options{
				Chain: chain, Routes: []gateway.Route{route}, Log: slog.New(slog.DiscardHandler),
			})
			require.NoError(b, err)
			s := httptest.NewServer(g)
			b.Cleanup(func() { s.Close(); require.NoError(b, g.Close()) })
			tr := &http.Transport{}
			b.Cleanup(tr.CloseIdleConnections)
			urls := map[string]string{"bare": bare(b, up.URL), "gateway": s.URL}
			took := map[string][]time.Duration{}
			once := func(name string) {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, urls[name]+chatPath, strings.NewReader(body))
				require.NoError(b, err)
				req.Header.Set("Content-Type", "application/json")
				start := time.Now()
				resp, err := tr.RoundTrip(req)
				require.NoError(b, err)
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(b, err)
				require.NoError(b, resp.Body.Close())
				took[name] = append(took[name], time.Since(start))
			}
			once("gateway") // reads the conversation for the first time
			took["gateway"] = nil
			for b.Loop() {
				once("bare")
				once("gateway")
			}
			for name, all := range took {
				slices.Sort(all)
				b.ReportMetric(float64(all[0].Nanoseconds())/1000, name+"-min-µs")
				b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1000, name+"-p50-µs")
			}
		})
	}
}
