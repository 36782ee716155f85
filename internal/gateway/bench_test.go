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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/gateway"
	"github.com/laconic-go/laconic/internal/testkit/soak"
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

// BenchmarkConnections measures requests a second of 64 connections with small bodies, in turns of 2,000 requests through the
// gateway and through the bare proxy: all with one conversation, and each with its own. The metrics are the best turn of both,
// and the median of the turns of the gateway in percent of the turns of the bare proxy beside them.
func BenchmarkConnections(b *testing.B) {
	const connections, requests = 64, 2000 / 64
	for _, conversations := range []int{1, connections} {
		b.Run(strconv.Itoa(conversations)+" conversations", func(b *testing.B) {
			urls := pair(b, answerAtOnce)
			tr := &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}
			b.Cleanup(tr.CloseIdleConnections)
			turn := func(url string) float64 {
				start := time.Now()
				var all sync.WaitGroup
				for i := range connections {
					body := strings.Replace(rounds(2, ""), "go on", fmt.Sprint("go on ", i%conversations), 1)
					all.Go(func() {
						for range requests {
							if _, err := once(tr, url, body); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				return connections * requests / time.Since(start).Seconds()
			}
			var shares []float64
			best := map[string]float64{}
			for b.Loop() {
				bare, through := turn(urls["bare"]), turn(urls["gateway"])
				best["bare"], best["gateway"] = max(best["bare"], bare), max(best["gateway"], through)
				shares = append(shares, 100*through/bare)
			}
			for name, n := range best {
				b.ReportMetric(n, name+"-requests/s")
			}
			slices.Sort(shares)
			b.ReportMetric(shares[len(shares)/2], "%-of-bare")
		})
	}
}

// Two thousand streams are open at once, and each gets its frames.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	streams := soak.Of(2000, 4)
	if testing.Short() {
		streams = 200
	}
	var open sync.WaitGroup
	open.Add(streams)
	urls := pair(t, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		open.Done()
		open.Wait() // until all are open
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})
	tr := &http.Transport{MaxIdleConnsPerHost: streams}
	t.Cleanup(tr.CloseIdleConnections)
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, urls["gateway"]+chatPath, strings.NewReader(rounds(2, `"stream":true,`)))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Error(err)
				open.Done()
				return
			}
			data, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || !strings.HasSuffix(string(data), "data: [DONE]\n\n") {
				t.Errorf("%v: %q", err, data)
			}
		})
	}
	all.Wait()
}
