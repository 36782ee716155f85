package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/gateway"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clears is a chain that clears all results but the newest.
const clears = `
window: 8000
archive: memory
chain:
  - {use: contextedit, trigger: {rounds: 2}, keep: 1}
  - {use: fit}
`

// lines gets the log, a line for each request.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// server is a gateway that listens.
type server struct {
	*gateway.Gateway

	url   string
	log   lines
	chain string // the path of the chain file
	stop  func() error
}

// listen starts a gateway in front of an upstream, with this chain file.
func listen(t *testing.T, chain, upstream string, opts gateway.Options) *server {
	t.Helper()
	s := &server{log: make(lines, 1000), chain: filepath.Join(t.TempDir(), "chain.yaml")}
	require.NoError(t, os.WriteFile(s.chain, []byte(chain), 0o600))
	route, err := gateway.NewRoute("", upstream)
	require.NoError(t, err)
	opts.Chain, opts.Routes, opts.Log = s.chain, append(opts.Routes, route), slog.New(slog.NewTextHandler(s.log, nil))
	s.Gateway, err = gateway.New(t.Context(), opts)
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		_ = s.stop() // the test looks at it
		require.NoError(t, s.Close())
	})
	return s
}

// provider starts a fake provider.
func provider(t *testing.T, r fakeprovider.Responder) *fakeprovider.Server {
	t.Helper()
	p, err := fakeprovider.Start(r, fakeprovider.Options{Models: map[string]int{"m": 8000, "claude-m": 8000}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// answer is what a client gets.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // while the body was read
}

// post sends a body with a connection of its own, and header lines "name: value".
func post(ctx context.Context, t *testing.T, url, body string, header ...string) answer {
	t.Helper()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(data), err}
}

func get(t *testing.T, url string) answer {
	t.Helper()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(data), err}
}

const chatPath = "/v1/chat/completions"

// result is long enough to be worth clearing.
var result = strings.Repeat("a line of a result with some words\n", 20)

// rounds is a chat of n rounds. more are further members.
func rounds(n int, more string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{}}}}],` + more +
		`"messages":[{"role":"user","content":"go on"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":%q}`, i, fmt.Sprint(i, " ", result))
	}
	return b.String() + `]}`
}

// claudeRounds is the same for Messages.
func claudeRounds(n int, more string) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-m","max_tokens":50,"tools":[{"name":"read","input_schema":{"type":"object","properties":{}}}],` + more +
		`"messages":[{"role":"user","content":"go on"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, fmt.Sprint(i, " ", result))
	}
	return b.String() + `]}`
}

// ollamaRounds is the same for Ollama, where calls and results have no IDs.
func ollamaRounds(n int, more string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{}}}}],` + more +
		`"messages":[{"role":"user","content":"go on"}`)
	for i := range n {
		b.WriteString(`,{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{}}}]}`)
		fmt.Fprintf(&b, `,{"role":"tool","tool_name":"read","content":%q}`, fmt.Sprint(i, " ", result))
	}
	return b.String() + `]}`
}
