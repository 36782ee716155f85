// Package wire puts a chain into every client of a model that speaks HTTP: openai-go, anthropic-sdk-go, go-openai, genai,
// and the frameworks that stand on them.
//
//	client := openai.NewClient(option.WithHTTPClient(&http.Client{
//		Transport: wire.Transport(nil, wire.Options{}, microcompact.New(microcompact.Options{}), fit.New(fit.Options{})),
//	}))
//
// Requests of OpenAI chat completions, OpenAI Responses, Anthropic Messages, Gemini generateContent and Ollama's chat go
// through the chain; what the chain does not edit is sent byte for byte as the client has written it. Answers reach the client as the
// provider sends them, streams frame by frame. The chain reads usage and errors while they pass, so the Response of a model
// here has a usage and a reason to stop, and a message without parts. If the provider refuses a request as too long,
// package fit shortens it and asks again before the client gets anything. The end of an answer is passed on when the chain
// has learned from it: the next request finds that.
//
// What cannot be edited passes untouched: other paths and methods, token counting, batches, compressed and signed bodies,
// bodies above [Options.MaxBody], bodies that are not read without doubt, and Responses whose conversation is with the
// provider. [Options.Observe] gets a [Decision] for every POST with a JSON body, with the reason if it was not edited: some
// clients ignore the http.Client that they are given, and then there are no decisions. Package wiretest has a check for
// tests.
//
// The header [ForceHeader] of a request makes middlewares edit in this call; it does not reach the provider.
//
// Package middleware/native lets the provider fold old messages itself, by requests that this package makes with the client's
// own headers.
//
// The chain knows a conversation by its content, so one transport serves any number of them at once, and the retries of a
// client send the same bytes. Conversations are remembered up to a limit of memory.
package wire

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
)

// Options configure a transport. The zero value suits most programs.
type Options struct {
	Env middleware.Env // what the middlewares share

	// Scope returns the scope of a request in place of Env.Scope, for example the tenant by a header. Scopes share no edits.
	// nil: that of Env.
	Scope func(*http.Request) string

	// Archive returns the archive of a scope, in place of Env.Archive, which is one for all scopes. It may be called again for
	// the same scope. nil: Env.Archive.
	Archive func(scope string) store.Store

	// Budget returns the window of a model. nil, or a nil result: the window of Env.Models. A request that sets its window
	// itself, by Ollama's num_ctx, has the smaller one. A Reserve of 0 is the longest answer that the request asks for; for
	// Ollama and models that end an answer where the window ends (EndsAtWindow of the table of models), at most the longest
	// answer so far or 8,000 tokens if that is more, and a quarter of the window.
	Budget func(model string) *middleware.Budget

	// Hints returns what middlewares should know of a message: that it is pinned, so that none changes or removes it, that it
	// is a memory, its priority. It must be deterministic, fast and safe for concurrent use. nil: nothing.
	Hints func(m message.Message) message.Hints

	// RemoveClientLines removes lines "x-anthropic-…: …" at the beginning of a system block from requests of the Messages API to
	// hosts other than Anthropic's. Claude Code writes one that may change in each request, where another provider's prompt
	// cache would end.
	RemoveClientLines bool

	MaxBody int64 // a longer body passes untouched, in bytes; 0: 32 MB

	// Strict says that a chain that fails is an error of the request. Otherwise the request is sent with the edits that are in
	// force, and by package fit as small as it can be if it does not fit; only if that fails too, as the client wrote it.
	Strict bool

	// Bypass returns whether a request is sent as it came. With a model that binds its thinking, which would refuse a conversation
	// that was edited before, the edits in force are made, and no others. nil: no request.
	Bypass func(*http.Request) bool

	// Audit sends each request as it came, and runs the chain when the answer has ended, beside the client, to report what it would
	// have done: it neither delays a request nor changes one. Events and reports of the chain are as if its edits had been sent, with
	// the reported usage reduced as the bytes are. Observe is called with the Reason "audit" when the request is sent, and once
	// more with Audit when the chain has run, which it does only for answers that end well.
	Audit bool

	// Observe gets what was done with each POST with a JSON body, when its answer begins or it is known that there is none. It must be
	// fast and safe for concurrent use. nil: nothing is observed.
	Observe func(ctx context.Context, d Decision)
}

// Decision is what was done with a request.
type Decision struct {
	Audit    bool          // it tells what would have been done, after the answer; what was sent is what came
	Format   string        // chat, responses, messages, gemini or ollama; "": the path is of none
	Reason   string        // why it passed untouched, or after a chain that failed, with the edits in force; "": it went through the chain
	Native   string        // what the provider edits by itself, as middleware.Native has it; "": nothing
	Edited   bool          // other bytes were sent than the client has written
	Retried  bool          // the provider was asked more than once
	Compacts int           // requests for compactions that were made for it, by package native
	BytesIn  int64         // of the body that the client has written; negative: not known
	BytesOut int64         // of the body that was sent last
	Failed   string        // what has failed: "chain", "panic", or the Reason of a middleware.Event, such as "room"; "": nothing
	Warnings []string      // events that a person should look at, as middleware.Event.Warning says, such as a far trigger
	Added    time.Duration // until the answer began, without the time of the provider
}

// ForceHeader is the name of a header with the names of middlewares, or "*" for all, that edit in this call although their trigger
// is not met; see [middleware.Request.Force].
const ForceHeader = "X-Laconic-Force"

const (
	maxBody   = 32 << 20
	maxMemory = 48 << 20 // bytes of conversations that are remembered
	maxScopes = 1000     // chains that are kept
)

// Transport returns a RoundTripper that sends requests by base, through the middlewares, of which the first one is the
// outermost; they must not be used in another chain. nil: [http.DefaultTransport]. It panics as [middleware.With].
func Transport(base http.RoundTripper, opts Options, mws ...middleware.Middleware) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base, newEngine(opts, mws)}
}

// Middleware is [Transport] as the function that option.WithMiddleware of openai-go and anthropic-sdk-go takes. Before
// bedrock.WithConfig or vertex.WithCredentials it sees requests that are not signed yet.
func Middleware(opts Options, mws ...middleware.Middleware) func(
	*http.Request, func(*http.Request) (*http.Response, error),
) (*http.Response, error) {
	e := newEngine(opts, mws)
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return e.do(req, next)
	}
}

type transport struct {
	base http.RoundTripper
	*engine
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.do(req, t.base.RoundTrip)
}

// Seen returns how many requests of models the transport has seen, for package wiretest.
func (t *transport) Seen() int64 { return t.seen.Load() }

// Wait waits for the audits of the answers that have ended, for the gateway.
func (t *transport) Wait() { t.audits.all.Wait() }

// CloseIdleConnections closes those of the base, as [http.Client.CloseIdleConnections] expects it.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// engine has what the requests of a transport share. It is safe for concurrent use.
type engine struct {
	opts  Options
	mws   []middleware.Middleware
	table *models.Table
	memo  *codec.Memo
	seen  atomic.Int64

	clocks clocks
	audits audits

	mu     sync.Mutex
	clock  int64
	chains map[string]*scoped // by scope
}

// scoped is the chain of a scope.
type scoped struct {
	model middleware.Model
	used  int64 // by the clock of the engine
}

func newEngine(opts Options, mws []middleware.Middleware) *engine {
	if opts.MaxBody == 0 {
		opts.MaxBody = maxBody
	}
	if opts.Scope != nil && opts.Env.Journal == nil {
		opts.Env.Journal = journal.NewMemory(0)
	}
	e := &engine{opts: opts, mws: mws, memo: codec.NewMemo(maxMemory, opts.Hints), chains: map[string]*scoped{}}
	e.table = cmp.Or(opts.Env.Models, models.Default())
	e.chain(opts.Env.Scope)
	return e
}

// chain returns the model of a scope: the middlewares around the provider.
func (e *engine) chain(scope string) middleware.Model {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock++
	c := e.chains[scope]
	if c == nil {
		if len(e.chains) >= maxScopes {
			oldest := scope
			for s, other := range e.chains {
				if oldest == scope || other.used < e.chains[oldest].used {
					oldest = s
				}
			}
			delete(e.chains, oldest)
		}
		env := e.opts.Env
		env.Scope = scope
		if e.opts.Archive != nil {
			env.Archive = e.opts.Archive(scope)
		}
		model := middleware.With(env, e.mws...)(ask)
		if e.opts.Observe != nil {
			model = middleware.Observe(warn)(model)
		}
		c = &scoped{model: model}
		e.chains[scope] = c
	}
	c.used = e.clock
	return c.model
}

// budget returns the window for a request, less the reserve for its answer; nil: the chain knows it.
func (e *engine) budget(b *codec.Body) *middleware.Budget {
	var own *middleware.Budget
	if e.opts.Budget != nil {
		own = e.opts.Budget(b.Model)
	}
	m := e.table.Of(b.Model)
	window := m.Window
	if own != nil {
		window = own.Window
	}
	if b.Window > 0 && (b.Window < window || window == 0) {
		window = b.Window
	} else if own == nil && b.MaxTokens == 0 {
		return nil
	}
	answer := b.MaxTokens
	if m.EndsAtWindow || b.Format == codec.Ollama {
		answer = min(answer, expected(b, window))
	}
	budget := middleware.Budget{Window: window, Reserve: answer}
	if own != nil && own.Reserve > 0 {
		budget.Reserve = own.Reserve
	} else if own == nil && window == m.Window {
		budget.Reserve = m.Reserve(answer)
	}
	if window == b.Window && budget.Reserve >= window { // an answer that fills the window is cut
		budget.Reserve = 0
	}
	if budget.Validate() != nil { // the window is not known, or the answer may fill it
		return own
	}
	return &budget
}

// expected returns how many tokens to keep free for an answer that ends where the window does: what clients ask for is far
// more than answers have. It is the longest answer of the conversation, at least 8,000 and at most a quarter of the window.
func expected(b *codec.Body, window int) int {
	const least = 8000
	return min(max(b.LongestAnswer(), least), window/4)
}

func (e *engine) observe(ctx context.Context, d Decision) {
	if e.opts.Observe != nil {
		e.opts.Observe(ctx, d)
	}
}
