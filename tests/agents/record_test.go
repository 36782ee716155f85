package agents_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a proxy that keeps the bodies of requests to models and of their answers.
type recorder struct {
	URL string

	mu       sync.Mutex
	requests map[string]int // bodies, and how often each was sent
	answers  map[string]int
	bytes    int64    // of the bodies of requests
	refused  []string // answers with an error
	count    int      // requests
	strays   []string // paths that the upstream does not have
}

// record starts a recorder in front of an upstream.
func record(t *testing.T, upstream string) *recorder {
	t.Helper()
	to, err := url.Parse(upstream)
	require.NoError(t, err)
	r := &recorder{requests: map[string]int{}, answers: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode == http.StatusNotFound {
				r.stray(resp.Request.Method + " " + resp.Request.URL.Path)
			}
			if isModel(resp.Request) {
				resp.Body = &tee{ReadCloser: resp.Body, end: func(body string) {
					r.note(r.answers, body)
					if resp.StatusCode >= http.StatusBadRequest {
						r.refuse(body)
					}
				}}
			}
			return nil
		},
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.Method == http.MethodHead: // Claude Code begins with it
			return
		case strings.HasSuffix(req.URL.Path, "/count_tokens"), strings.HasSuffix(req.URL.Path, ":countTokens"):
			n, _ := io.Copy(io.Discard, req.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"input_tokens": %d, "totalTokens": %d}`, n/4, n/4)
			return
		case isModel(req):
			body, _ := io.ReadAll(req.Body)
			req.Body = io.NopCloser(bytes.NewReader(body))
			r.note(r.requests, string(body))
			r.mu.Lock()
			r.bytes += int64(len(body))
			r.count++
			r.mu.Unlock()
		}
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// isModel reports whether a request asks a model.
func isModel(req *http.Request) bool { return req.Method == http.MethodPost }

func (r *recorder) note(in map[string]int, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in[body]++
}

func (r *recorder) refuse(body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, body)
}

func (r *recorder) stray(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strays = append(r.strays, what)
}

// missing returns how many of the bodies in one set are not in another.
func missing(all, in map[string]int) (n int) {
	for body, times := range all {
		n += max(0, times-in[body])
	}
	return n
}

// tee gives all that was read from a body to a function, at its end.
type tee struct {
	io.ReadCloser

	got  bytes.Buffer
	once sync.Once
	end  func(body string)
}

// Read implements [io.Reader].
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.got.Write(p[:n])
	return n, err
}

// Close implements [io.Closer].
func (t *tee) Close() error {
	t.once.Do(func() { t.end(t.got.String()) })
	return t.ReadCloser.Close()
}
