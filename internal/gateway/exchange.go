package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/wire"
)

// Headers of requests, and of answers.
//
//nolint:gosec // G101: these are names of headers
const (
	bypassHeader         = "X-Laconic-Bypass"
	headroomBypassHeader = "X-Headroom-Bypass" // of the clients of Headroom
	beforeHeader         = "X-Laconic-Tokens-Before"
	afterHeader          = "X-Laconic-Tokens-After"
	addedHeader          = "X-Laconic-Added-Us"
	passedHeader         = "X-Laconic-Passed" // why a request passed untouched
	storeHeader          = "X-Laconic-Store"  // the store that has failed, and how
	nativeHeader         = "X-Laconic-Native" // what the provider edits by itself, as the request asks for it
)

// exchange is a request and its answer. It is in the context of the request.
type exchange struct {
	route        *Route
	chain        *chain
	scope        string
	conversation string
	bypass       bool
	status       int    // of the answer; 0: none
	failure      string // why there is no answer; "": there is one

	mu            sync.Mutex // middlewares may ask concurrently
	decision      *wire.Decision
	before, after int // tokens; 0: not counted
	balance       balance
	notice        string // what is to be told to the operator
	lost          string // the store that has failed, and how: "archive: full"; "": none
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a context. Without one it returns an empty one.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

func (x *exchange) decided(d wire.Decision) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.decision = &d
}

func (x *exchange) weigh(before, after int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.before, x.after = before, after
}

func (x *exchange) note(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notice = text
}

// fails notes and counts that a store has failed.
func (x *exchange) fails(m *metrics, store string, err error) {
	m.storeErrors.add(1, store)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lost = store + ": " + classOf(err)
	m.failure.Store(&failure{x.lost, time.Now()})
}

// passed returns the label of the reason why the request passed untouched; "": it went through the chain.
func (x *exchange) passed() string {
	switch {
	case x.bypass:
		return "bypass"
	case x.decision != nil:
		return reasonOf(x.decision.Reason)
	case x.failure != "":
		return ""
	}
	return "path"
}

// forward sends a request to its upstream.
func (g *Gateway) forward(w http.ResponseWriter, req *http.Request, route *Route) {
	bypass := says(req, bypassHeader) || says(req, headroomBypassHeader)
	x := &exchange{route: route, chain: g.acquire(), scope: g.Scope(req), bypass: bypass}
	defer x.chain.release()
	if g.opts.ConversationHeader != "" {
		x.conversation = req.Header.Get(g.opts.ConversationHeader)
	}
	ctx, start, whole := context.WithValue(req.Context(), exchangeKey{}, x), time.Now(), false
	defer func() { g.finish(ctx, x, time.Since(start), whole) }() // also if the proxy breaks the connection by a panic
	g.proxy.ServeHTTP(w, req.WithContext(ctx))
	whole = true
}

func says(req *http.Request, header string) bool {
	v := strings.ToLower(req.Header.Get(header))
	return v != "" && v != "false" && v != "0"
}

// newProxy returns what forwards.
func (g *Gateway) newProxy() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			x := exchangeOf(r.In.Context())
			x.route.rewrite(r.Out.URL)
			r.SetURL(x.route.Upstream)
			r.Out.Header.Del(bypassHeader)
			r.Out.Header.Del(headroomBypassHeader)
		},
		Transport:      roundTripper(g.roundTrip),
		ModifyResponse: describe,
		ErrorHandler:   fail,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // its texts may have content
		BufferPool:     &buffers,
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (g *Gateway) roundTrip(req *http.Request) (*http.Response, error) {
	return exchangeOf(req.Context()).chain.rt.RoundTrip(req)
}

// describe adds headers to an answer.
func describe(resp *http.Response) error {
	x := exchangeOf(resp.Request.Context())
	x.status = resp.StatusCode
	x.mu.Lock()
	defer x.mu.Unlock()
	h := resp.Header
	if why := x.passed(); why != "" {
		h.Set(passedHeader, why)
	}
	if x.lost != "" {
		h.Set(storeHeader, x.lost)
	}
	if x.decision != nil {
		if x.decision.Native != "" {
			h.Set(nativeHeader, x.decision.Native)
		}
		h.Set(addedHeader, strconv.FormatInt(x.decision.Added.Microseconds(), 10))
		if x.decision.Reason == "" && x.before > 0 {
			h.Set(beforeHeader, strconv.Itoa(x.before))
			h.Set(afterHeader, strconv.Itoa(x.after))
		}
	}
	return nil
}

// fail answers a request for which there is no answer.
func fail(w http.ResponseWriter, req *http.Request, err error) {
	x := exchangeOf(req.Context())
	x.failure = classOf(err)
	switch x.failure {
	case clientGone:
	case chainFailed:
		writeError(w, http.StatusBadGateway, "the chain failed, and it must not be passed by")
	default:
		writeError(w, http.StatusBadGateway, "the upstream has not answered: "+strings.ReplaceAll(x.failure, "_", " "))
	}
}

const (
	clientGone  = "client_gone"
	chainFailed = "chain_failed"
)

// classOf returns what kind of error it is. Its text may have content.
func classOf(err error) string {
	var timeout net.Error
	var host *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		return clientGone
	case strings.HasPrefix(err.Error(), "wire: "):
		return chainFailed
	case errors.As(err, &host):
		return "host_not_found"
	case errors.As(err, &cert):
		return "certificate"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "is full"): // of a folder, of a database
		return "full"
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EROFS), strings.Contains(err.Error(), "disk I/O"):
		return "disk"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection_broken"
	case engine.Internals(inside.Key{}).NotConnected(err):
		return "not_connected"
	}
	return other
}

// finish counts and logs an exchange.
func (g *Gateway) finish(ctx context.Context, x *exchange, took time.Duration, whole bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d, why, format := wire.Decision{}, x.passed(), other
	if x.decision != nil {
		d = *x.decision
	}
	if d.Format != "" {
		format = d.Format
	}
	result := "unchanged"
	switch {
	case x.failure != "":
		result = "failed"
	case !whole, ctx.Err() != nil:
		result = "broken"
	case x.status >= http.StatusBadRequest:
		result = "refused"
	case why != "":
		result = "passed"
	case d.Edited:
		result = "edited"
	}
	m := g.metrics
	m.requests.add(1, format, result)
	if why != "" {
		m.passed.add(1, why)
	}
	if d.Retried {
		m.retries.add(1)
	}
	if d.Failed != "" {
		m.failures.add(1, d.Failed)
	}
	m.compactions.add(float64(d.Compacts))
	if x.decision != nil && d.Reason == "" {
		m.added.observe(d.Added)
	}
	if x.notice != "" {
		g.opts.Log.LogAttrs(ctx, slog.LevelWarn, x.notice, slog.String("scope", x.scope))
	}
	if x.balance.overpays() {
		m.warnings.add(1, "overpaid")
		g.opts.Log.LogAttrs(ctx, slog.LevelWarn, fmt.Sprintf("cached prefix broken %d times, cost $%.4f more than it saved: edit more "+
			"rarely, by the trigger economy", x.balance.broken, -x.balance.saved.Dollars()), slog.String("scope", x.scope))
	}
	g.opts.Log.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("route", x.route.Name), slog.String("format", format), slog.String("result", result),
		slog.Int("status", x.status), slog.String("scope", x.scope), slog.String("passed", why),
		slog.String("native", d.Native), slog.String("failure", x.failure), slog.String("failed", d.Failed), slog.String("store", x.lost),
		slog.Bool("retried", d.Retried), slog.Int("tokens_before", x.before), slog.Int("tokens_after", x.after),
		slog.Int("cache_broken", x.balance.broken), slog.Float64("saved_usd", x.balance.saved.Dollars()),
		slog.Int64("bytes_in", d.BytesIn), slog.Int64("bytes_out", d.BytesOut),
		slog.Int64("added_us", d.Added.Microseconds()), slog.Int64("took_ms", took.Milliseconds()))
}

// audited counts and logs what the chain would have done with a request that was sent as it came.
func (g *Gateway) audited(ctx context.Context, d wire.Decision) {
	x := exchangeOf(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	result := "unchanged"
	switch {
	case d.Reason != "":
		result = "failed"
	case d.Edited:
		result = "edited"
	}
	g.metrics.audits.add(1, result)
	g.opts.Log.LogAttrs(ctx, slog.LevelInfo, "audit",
		slog.String("route", x.route.Name), slog.String("format", d.Format), slog.String("result", result), slog.String("scope", x.scope),
		slog.String("failed", d.Failed), slog.Int("tokens_before", x.before), slog.Int("tokens_after", x.after),
		slog.Int64("bytes_in", d.BytesIn), slog.Int64("bytes_out", d.BytesOut), slog.Int64("took_us", d.Added.Microseconds()))
}

// credentials are the headers that may have one, to which the parameter key of Gemini is added.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// Scope returns the scope of a request: a keyed hash of all its credentials, or of the header that names it. Requests without
// any share one scope.
func (g *Gateway) Scope(req *http.Request) string {
	sum, ok := g.sums.Get().(hash.Hash)
	if !ok {
		sum = hmac.New(sha256.New, g.opts.Secret)
	}
	defer g.sums.Put(sum)
	sum.Reset()
	if g.opts.ScopeHeader != "" {
		if values := req.Header.Values(g.opts.ScopeHeader); len(values) > 0 {
			write(sum, "header", values)
			return within(g.File().Scope, sum)
		}
	}
	var keys []string
	if req.URL.RawQuery != "" {
		keys = req.URL.Query()["key"]
	}
	return scopeOf(sum, g.File().Scope, req.Header, keys)
}

// ScopeOf returns the scope of the credentials in some headers, and of the parameter key, in a gateway with this secret
// and a chain file of this scope.
func ScopeOf(secret []byte, file string, header http.Header, keys ...string) string {
	return scopeOf(hmac.New(sha256.New, secret), file, header, keys)
}

func scopeOf(sum hash.Hash, file string, header http.Header, keys []string) string {
	for _, name := range credentials {
		write(sum, name, header.Values(name))
	}
	write(sum, "key", keys)
	return within(file, sum)
}

// within returns a scope within that of the chain file.
func within(file string, sum hash.Hash) string {
	scope := hex.EncodeToString(sum.Sum(nil)[:16])
	if file != "" {
		return file + "/" + scope
	}
	return scope
}

// write adds named values to a hash, so that no others give the same bytes.
func write(sum hash.Hash, name string, values []string) {
	for _, v := range values {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(v)))
		_, _ = io.WriteString(sum, name+"\x00"+string(size[:])+v)
	}
}

// pool gives the proxy its buffers.
type pool struct{ sync.Pool }

var buffers = pool{sync.Pool{New: func() any { return new([32 << 10]byte) }}}

// Get implements [httputil.BufferPool].
func (p *pool) Get() []byte { return p.Pool.Get().(*[32 << 10]byte)[:] } //nolint:errcheck,forcetypeassert // nothing else is in it

// Put implements [httputil.BufferPool].
func (p *pool) Put(b []byte) { p.Pool.Put((*[32 << 10]byte)(b)) }
