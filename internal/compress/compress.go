// Package compress serves the contract of the compressor Headroom, which guardrails of gateways such as LiteLLM and Portkey
// call before they send a request: a list of messages comes in, and is returned as a chain would send it to the model.
//
//	h := compress.New(compress.Options{Open: func(scope string) compress.Tenant {
//		f := file.In(scope)
//		return compress.Tenant{Chain: f.With(middleware.Env{}), Archive: f.Archive}
//	}})
//	h.Register(mux)
//
// POST /v1/compress takes {"messages", "model", "token_budget"} in the form of OpenAI's chat completions or of Anthropic's
// Messages, and returns the list with what it saves. The chain knows the conversation by its content, so equal beginnings
// stay equal from call to call. GET /v1/retrieve/HASH and POST /v1/retrieve {"hash"} return what was cleared; hashes stand
// in the messages as hash= and 24 hexadecimal digits, see [archived.Hashed]. GET /health, /livez and /readyz are for probes.
//
// A guardrail may refuse the request of its client if this service fails. So a list that is JSON never fails: what is in
// doubt is returned as it came, byte for byte.
package compress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/wire"
)

// Options configure a [Handler].
type Options struct {
	// Open returns what a scope has. It is called once for each scope, and again if the scope was not used while 1,000
	// others were. It must be safe for concurrent use.
	Open func(scope string) Tenant

	// Scope returns the scope of a request, such as a hash of its credential. nil: all have the scope "".
	Scope func(*http.Request) string

	// Ready reports whether requests are welcome. nil: always.
	Ready func() bool

	// Observe gets what was done with each list. It must be fast and safe for concurrent use. nil: nothing is observed.
	Observe func(ctx context.Context, d wire.Decision)

	MaxBody int64 // a longer body is refused, in bytes; 0: 32 MB
}

// Tenant is what the requests of a scope share.
type Tenant struct {
	Chain   middleware.Middleware
	Archive store.Store // that of the chain; nil: nothing can be retrieved
}

const (
	maxBody   = 32 << 20
	maxMemory = 48 << 20 // bytes of conversations that are remembered
	maxScopes = 1000
)

// Handler is an [http.Handler] of the contract. It is safe for concurrent use.
type Handler struct {
	opts Options
	memo *codec.Memo
	mux  http.ServeMux

	mu      sync.Mutex
	clock   int64
	tenants map[string]*opened
}

// opened is a tenant that is kept.
type opened struct {
	get  func() Tenant
	used int64 // by the clock of the handler
}

// New returns a handler. It panics if Open is nil.
func New(opts Options) *Handler {
	if opts.Open == nil {
		panic("compress: New: Open is nil")
	}
	if opts.MaxBody == 0 {
		opts.MaxBody = maxBody
	}
	h := &Handler{opts: opts, memo: codec.NewMemo(maxMemory), tenants: map[string]*opened{}}
	h.Register(&h.mux)
	h.mux.HandleFunc("GET /health", h.health)
	h.mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"status": healthy, "alive": true})
	})
	h.mux.HandleFunc("GET /readyz", h.ready)
	return h
}

// ServeHTTP implements [http.Handler]: all paths of the contract.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Register adds the paths below /v1 to a mux that has probes of its own.
func (h *Handler) Register(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/compress", h.compress)
	mux.HandleFunc("POST /v1/retrieve", h.retrievePosted)
	mux.HandleFunc("GET /v1/retrieve/{hash}", func(w http.ResponseWriter, r *http.Request) {
		h.retrieve(w, r, r.PathValue("hash"))
	})
}

// tenant returns what the scope of a request has.
func (h *Handler) tenant(r *http.Request) Tenant {
	scope := ""
	if h.opts.Scope != nil {
		scope = h.opts.Scope(r)
	}
	h.mu.Lock()
	h.clock++
	t := h.tenants[scope]
	if t == nil {
		if len(h.tenants) >= maxScopes {
			delete(h.tenants, h.oldest())
		}
		t = &opened{get: sync.OnceValue(func() Tenant { return h.opts.Open(scope) })}
		h.tenants[scope] = t
	}
	t.used = h.clock
	h.mu.Unlock()
	return t.get()
}

// oldest returns the scope that was not used for the longest time. The lock is held.
func (h *Handler) oldest() (scope string) {
	least := h.clock
	for s, t := range h.tenants {
		if t.used < least {
			scope, least = s, t.used
		}
	}
	return scope
}

// compress answers POST /v1/compress.
func (h *Handler) compress(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	text, ok := h.read(w, r)
	if !ok {
		return
	}
	in, err := parse(text)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	out := h.shorten(r, in)
	if h.opts.Observe != nil {
		h.opts.Observe(r.Context(), wire.Decision{
			Format: out.format, Reason: out.untouched, Edited: out.list != in.list,
			BytesIn: int64(len(in.list)), BytesOut: int64(len(out.list)), Added: time.Since(start),
		})
	}
	send(w, http.StatusOK, out.json())
}

// shorten sends a list through the chain of a request. A panic leaves the list as it came.
func (h *Handler) shorten(r *http.Request, in list) (out result) {
	defer func() {
		if p := recover(); p != nil {
			out = in.untouched(fmt.Sprintf("panic: %v", p))
		}
	}()
	return in.through(r.Context(), h.tenant(r).Chain, h.memo)
}

// retrievePosted answers POST /v1/retrieve.
func (h *Handler) retrievePosted(w http.ResponseWriter, r *http.Request) {
	text, ok := h.read(w, r)
	if !ok {
		return
	}
	var in struct {
		Hash string `json:"hash"`
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", `the body is not JSON with a "hash"`)
		return
	}
	h.retrieve(w, r, in.Hash)
}

// retrieve returns the whole content of a hash. A query that would select a part of it is not used.
func (h *Handler) retrieve(w http.ResponseWriter, r *http.Request, hash string) {
	handle, archive := archived.FromHash(hash), h.tenant(r).Archive
	if handle.IsZero() || archive == nil {
		refuse(w, http.StatusNotFound, "not_found", "no content has this hash")
		return
	}
	c, err := archive.Get(r.Context(), handle)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
		refuse(w, http.StatusNotFound, "not_found", "no content has this hash: it was never put into this archive, or given up since")
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, "unavailable", "the archive cannot be read now")
	default:
		reply(w, http.StatusOK, map[string]string{"hash": archived.Hash(handle), "original_content": shown(c)})
	}
}

func (h *Handler) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"status": healthy, "config": map[string]any{"backend": "laconic", "optimize": true},
	})
}

func (h *Handler) ready(w http.ResponseWriter, _ *http.Request) {
	if h.opts.Ready != nil && !h.opts.Ready() {
		reply(w, http.StatusServiceUnavailable, map[string]any{"status": "unhealthy", "ready": false})
		return
	}
	reply(w, http.StatusOK, map[string]any{"status": healthy, "ready": true})
}

const healthy = "healthy"

// read returns the body of a request, or refuses it.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (string, bool) {
	var b strings.Builder
	_, err := io.Copy(&b, http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes", h.opts.MaxBody))
		return "", false
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "the body cannot be read")
		return "", false
	}
	return b.String(), true
}

// refuse answers with an error. Its text has nothing of the request.
func refuse(w http.ResponseWriter, status int, kind, text string) {
	reply(w, status, map[string]any{"error": map[string]string{"type": kind, "message": text}})
}

// reply answers with a value as JSON.
func reply(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"type":"internal","message":"the answer cannot be written"}}`)
	}
	send(w, status, text)
}

func send(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) //nolint:gosec // G705: it is JSON; nobody can be told that the client has gone
}
