// Package gateway is the server of laconic serve: a reverse proxy to the APIs of models, with a chain in it.
//
//	g, err := gateway.New(ctx, gateway.Options{Chain: "chain.yaml", Routes: []gateway.Route{route}})
//	…
//	err = g.Serve(ctx, listener)
//
// Requests go through the chain as by package wire, in the scope of the client's credential: two credentials share no edit
// and no handle. No key, query, path or body is written to the log, to a metric or to an error, nor the text of an error
// that may have one of them.
package gateway

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// Options configure a gateway. Routes are required.
type Options struct {
	Chain   string  // path of the chain file; "": Text
	Text    string  // of a chain file that is nowhere; "": preset auto
	Archive string  // folder of what preset auto removes; "": memory. With another chain it is not read
	Routes  []Route // where requests go

	// Secret is the key of the hashes that name the scopes. Gateways that share a journal or an archive need the same. nil: a
	// random one, which is an error if the chain file names a journal or an archive that outlives the process.
	Secret []byte

	ScopeHeader        string // a header whose value names the scope in place of the credential; "": none
	ConversationHeader string // a header whose value names the conversation; "": none

	RemoveClientLines bool // as in wire.Options
	Audit             bool // as in wire.Options; the log and laconic_audits_total tell what would have been done

	FailClosed bool          // a chain that fails is an error of the request; false: the request is sent as it came
	MaxBody    int64         // a longer body passes untouched, in bytes; 0: 32 MB
	MaxActive  int           // requests at once, above them is the answer 503; 0: 4,096
	DrainDelay time.Duration // between /readyz saying no and the end of listening; 0: none
	Drain      time.Duration // that requests have to end when the server stops; 0: 5 minutes

	TLSCert, TLSKey string // files of the certificate, read again by Reload; "": no TLS

	Watch func(middleware.Middleware) middleware.Middleware // returns a chain that a page shows; nil: none does

	Log *slog.Logger // gets a line for each request, audit, failed reload and warning; nil: nothing is logged

	// Register adds handlers of other paths, such as /v1/compress. nil: none.
	Register func(mux *http.ServeMux, g *Gateway)
}

// Gateway is the handler of the server. It is safe for concurrent use. The caller must call Close.
type Gateway struct {
	opts         Options
	randomSecret bool
	mux          *http.ServeMux
	upstream     *http.Transport
	proxy        *httputil.ReverseProxy
	metrics      *metrics
	sums         sync.Pool // of hashes with the secret
	active       atomic.Int64
	stopping     atomic.Bool
	cert         atomic.Pointer[tls.Certificate] // nil: no TLS

	mu      sync.RWMutex
	current *chain         // guarded by mu
	old     sync.WaitGroup // chains that are still in use after a reload
}

// New loads the chain file and opens its journal and archive. It asks no upstream.
func New(ctx context.Context, opts Options) (*Gateway, error) {
	if len(opts.Routes) == 0 {
		return nil, errors.New("gateway: no upstream")
	}
	if opts.MaxActive == 0 {
		opts.MaxActive = 4096
	}
	if opts.Drain == 0 {
		opts.Drain = 5 * time.Minute
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{opts: opts, mux: http.NewServeMux(), upstream: newUpstream(), metrics: newMetrics()}
	if len(opts.Secret) == 0 {
		g.opts.Secret, g.randomSecret = make([]byte, 32), true
		rand.Read(g.opts.Secret)
	}
	g.proxy = g.newProxy()
	if err := g.Reload(ctx); err != nil {
		return nil, err
	}
	g.mux.Handle(others, http.NotFoundHandler()) // else the mux would look for other methods
	g.mux.HandleFunc("GET /livez", g.health)
	g.mux.HandleFunc("GET /health", g.health)
	g.mux.HandleFunc("GET /readyz", g.ready)
	g.mux.HandleFunc("GET /metrics", g.showMetrics)
	if opts.Register != nil {
		opts.Register(g.mux, g)
	}
	return g, nil
}

// newUpstream returns the connections to the upstreams. It asks for no compression, since usage is read from the answers.
func newUpstream() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 512,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}
}

// Reload reads the chain file and the certificate again. Requests that have begun continue with the chain before, whose
// databases are closed after the last of them and its audit. What is in memory is kept. After an error all is as before.
func (g *Gateway) Reload(ctx context.Context) error {
	cert, err := loadCertificate(g.opts.TLSCert, g.opts.TLSKey)
	if err != nil {
		return err
	}
	g.mu.RLock()
	before := g.current
	g.mu.RUnlock()
	c, err := g.load(ctx, before)
	if before != nil {
		g.metrics.reloads.add(1, outcome(err))
	}
	if err != nil {
		return err
	}
	g.cert.Store(cert)
	g.mu.Lock()
	before, g.current = g.current, c
	g.mu.Unlock()
	if before != nil {
		g.old.Go(func() { _ = before.end() }) // nothing can be done
	}
	return nil
}

// acquire returns the chain of a request, which must call its release.
func (g *Gateway) acquire() *chain {
	g.mu.RLock()
	defer g.mu.RUnlock()
	g.current.users.Add(1)
	return g.current
}

// File returns the chain file as it was read last.
func (g *Gateway) File() *chainfile.File {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.current.file
}

// Archive returns the archive of a scope; nil: content is not kept.
func (g *Gateway) Archive(scope string) store.Store {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.current.archives == nil {
		return nil
	}
	return g.current.archives(scope)
}

// Close closes idle connections and, after the last request and its audit, journal and archive.
func (g *Gateway) Close() error {
	g.old.Wait()
	defer g.upstream.CloseIdleConnections()
	return g.current.end()
}

// ServeHTTP implements [http.Handler]: paths of its own, else the upstream.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, pattern := g.mux.Handler(req); pattern != others {
		g.mux.ServeHTTP(w, req)
		return
	}
	route := match(g.opts.Routes, req.URL)
	switch {
	case req.Method == http.MethodConnect:
		writeError(w, http.StatusMethodNotAllowed, "CONNECT is not served")
	case slices.Contains(strings.Split(req.URL.Path, "/"), ".."): // it would leave the path of the upstream
		writeError(w, http.StatusBadRequest, "the path has a segment of two dots")
	case route == nil:
		writeError(w, http.StatusNotFound, "no route has this path")
	case g.active.Add(1) > int64(g.opts.MaxActive):
		g.active.Add(-1)
		g.metrics.requests.add(1, other, "rejected")
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "too many requests at once")
	default:
		defer g.active.Add(-1)
		g.forward(w, req, route)
	}
}

// others is the pattern of the paths that are not the gateway's own.
const others = "/"

// health is the answer of a process that lives, in the form that clients of Headroom expect.
func (g *Gateway) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, `{"status":"healthy","config":{"backend":"laconic","optimize":true}}`)
}

func (g *Gateway) ready(w http.ResponseWriter, _ *http.Request) {
	if g.stopping.Load() {
		writeJSON(w, http.StatusServiceUnavailable, `{"status":"stopping"}`)
		return
	}
	if lost := g.metrics.lost(); lost != "" { // requests are answered, with edits in memory and without archive
		writeJSON(w, http.StatusOK, fmt.Sprintf(`{"status":"degraded","store":%q}`, lost))
		return
	}
	writeJSON(w, http.StatusOK, `{"status":"ready"}`)
}

func (g *Gateway) showMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	g.metrics.active.set(float64(g.active.Load()))
	var text strings.Builder
	g.metrics.write(&text)
	_, _ = io.WriteString(w, text.String()) // a client that has left needs no metrics
}

// writeError writes an error in a form that clients of OpenAI, Anthropic and Gemini read.
func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, fmt.Sprintf(`{"type":"error","error":{"type":"api_error","message":"laconic: %s"}}`, text))
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body+"\n")
}
