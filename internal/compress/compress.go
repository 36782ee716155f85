// Package compress serves the contract of the compressor Headroom, which guardrails of gateways such as LiteLLM and Portkey
// call before they send a request: a list of messages comes in, and is returned as a chain would send it to the model.
//
//	h := compress.New(compress.Options{Scope: g.Scope, Open: func(scope string) compress.Tenant {
//		f := file.In(scope)
//		return compress.Tenant{Chain: f.With(middleware.Env{}), Archive: f.Archive}
//	}})
//
// POST /v1/compress takes {"messages", "model", "token_budget"} in the form of OpenAI's chat completions or of Anthropic's
// Messages, and returns the list with what it saves. The chain knows the conversation by its content, so equal beginnings
// stay equal from call to call. GET /v1/retrieve/HASH and POST /v1/retrieve {"hash"} return what was cleared; hashes stand
// in the messages as hash= and 24 hexadecimal digits, see [archived.Hashed].
//
// A guardrail may refuse the request of its client if this service fails. So a list that is JSON never fails: what is in
// doubt is returned as it came, byte for byte.
package compress

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// Options configure a [Handler]. Both are required.
type Options struct {
	// Open returns what a scope has. It is called once for each scope, and again if the scope was not used while 1,000
	// others were. It must be safe for concurrent use.
	Open func(scope string) Tenant

	// Scope returns the scope of a request, such as a hash of its credential.
	Scope func(*http.Request) string
}

// Tenant is what the requests of a scope share.
type Tenant struct {
	Chain   middleware.Middleware
	Archive store.Store // that of the chain; nil: nothing can be retrieved
}

const (
	maxBody   = 32 << 20 // bytes; a longer one is refused
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

// New returns a handler.
func New(opts Options) *Handler {
	h := &Handler{opts: opts, memo: codec.NewMemo(maxMemory, nil), tenants: map[string]*opened{}}
	h.mux.HandleFunc("POST /v1/compress", h.compress)
	h.mux.HandleFunc("POST /v1/retrieve", h.retrievePosted)
	h.mux.HandleFunc("GET /v1/retrieve/{hash}", func(w http.ResponseWriter, r *http.Request) {
		h.retrieve(w, r, r.PathValue("hash"))
	})
	return h
}

// ServeHTTP implements [http.Handler]: all paths of the contract.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// tenant returns what the scope of a request has.
func (h *Handler) tenant(r *http.Request) Tenant {
	scope := h.opts.Scope(r)
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
	text, ok := read(w, r)
	if !ok {
		return
	}
	in, err := parse(text)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	send(w, http.StatusOK, h.shorten(r, in).json())
}

// shorten sends a list through the chain of a request. A panic leaves the list as it came.
func (h *Handler) shorten(r *http.Request, in list) (out result) {
	defer func() {
		if recover() != nil {
			out = in.untouched()
		}
	}()
	return in.through(r.Context(), h.tenant(r).Chain, h.memo)
}

// retrievePosted answers POST /v1/retrieve.
func (h *Handler) retrievePosted(w http.ResponseWriter, r *http.Request) {
	text, ok := read(w, r)
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

// read returns the body of a request, or refuses it.
func read(w http.ResponseWriter, r *http.Request) (string, bool) {
	var b strings.Builder
	_, err := io.Copy(&b, http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		refuse(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes", maxBody))
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
