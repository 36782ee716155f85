// Package fakeprovider is a server for tests of OpenAI's chat completions and Responses, Anthropic's Messages, Gemini's
// generateContent and Ollama's chat. It runs on the loopback, rejects requests as strictly as the providers do, and sends the
// answers that the test gives it.
//
//	loop := fakeprovider.ToolLoop{Tool: "read", Calls: 40}
//	server, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{
//		Models: map[string]int{"gpt-4o": 8_000},
//	})
//	defer server.Close()
//	… a client of OpenAI with the base URL server.URL, or of Anthropic or Gemini with server.Root …
//	require.Empty(t, server.Refused())
//
// It reads the wire format with its own code and shares none with the packages that it checks. An invalid
// request gets the provider's status, code and wording; see [Request.Check] for the rules and
// [Options.Lenient] for those that are stricter than the provider's. Functions, the form before tools, are
// not supported.
//
// A [Responder] gives the answers. [Text], [Script], [Recall] and [ToolLoop] make some.
package fakeprovider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/internal/testkit/bonds"
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	// URL is the base URL for clients of OpenAI, such as http://127.0.0.1:40123/v1, and Root that of the others, without
	// the version. They must not be changed.
	URL, Root string

	responder   Responder
	opts        Options
	cache       promptCache
	bound       bound
	compactions compactions
	ids         atomic.Int64 // IDs of calls and answers given so far
	stop        context.CancelFunc
	http        *httptest.Server

	mu      sync.Mutex
	records []*Record // guarded by mu, as are the records themselves
}

// Options configure a server. The zero value is a strict server of one model.
type Options struct {
	Models map[string]int // context window in tokens of each served model; nil: gpt-4o with 128,000
	Key    string         // required API key; "": none
	// Lenient accepts what the provider itself accepts and stricter gateways reject: arguments that are any
	// string, results of one message in any order, and a content of "".
	Lenient bool
	// Bound binds reasoning: each answer has some, which is accepted as package bonds says, but with Gemini if all calls of the
	// newest turn have it, and with Responses wherever it is. The content of an answer is one block of reasoning here, whose text
	// is its signature. Messages are compared as they are sent, but for the order of their fields; empty ones are left out.
	// false: any reasoning is accepted.
	Bound bool
}

func (o Options) models() map[string]int {
	if o.Models == nil {
		return map[string]int{"gpt-4o": 128_000}
	}
	return o.Models
}

// Start starts a server that answers with the replies of a responder. The caller must call Close.
// It fails if an option is invalid or the responder is nil, and panics if it cannot listen on the loopback.
func Start(responder Responder, opts Options) (*Server, error) {
	s, err := newServer(responder, opts)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	mux := http.NewServeMux()
	for path, api := range map[string]protocol{
		"/v1/chat/completions": chat{}, "/v1/responses": responses{}, "/v1/responses/compact": compactResponses{},
		"/v1/messages": messages{}, "/v1beta/models/{call}": gemini{},
		"/api/chat": ollama{},
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, req *http.Request) {
			s.handle(api, w, req) //nolint:contextcheck // the context is that of the request
		})
	}
	s.http = httptest.NewUnstartedServer(mux)
	s.http.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	s.http.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // disconnected clients are expected
	s.http.Start()
	s.URL, s.Root = s.http.URL+"/v1", s.http.URL
	return s, nil
}

func newServer(responder Responder, opts Options) (*Server, error) {
	if responder == nil {
		return nil, errors.New("fakeprovider: the responder is nil")
	}
	if len(opts.models()) == 0 {
		return nil, errors.New("fakeprovider: Models is empty: name a model and its window, or leave it nil")
	}
	for name, window := range opts.models() {
		if name == "" || window <= 0 {
			return nil, fmt.Errorf("fakeprovider: model %q has a window of %d tokens: both must be given", name, window)
		}
	}
	return &Server{responder: responder, opts: opts, bound: bound{texts: bonds.Bonds{}}}, nil
}

// Close breaks all connections, cancels the context of each responder and waits for the handlers. It leaves no
// goroutine running and may be called more than once. The error is always nil.
func (s *Server) Close() error {
	s.stop()
	s.http.CloseClientConnections()
	s.http.Close()
	return nil
}

// Record is one request with its outcome so far.
type Record struct {
	Body    []byte   // as received
	Request *Request // nil if the body was not read or is not a request
	Refused *Error   // the rule that the request broke; nil if it broke none
	Reply   *Reply   // of the responder, with the IDs of its calls; nil if it was not called
	Status  int      // HTTP status of the answer; 0 before one is sent
	Usage   Usage    // zero if the request was refused
}

// Requests returns all requests for completions in order of arrival, including refused and unfinished ones. A record
// is updated before the client can read the answer. The caller owns the slice, and must not change what its records
// point to.
func (s *Server) Requests() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Record
	for _, r := range s.records {
		all = append(all, *r)
	}
	return all
}

// Refused returns the requests that broke a rule. Errors of the responder are not among them.
func (s *Server) Refused() []Record {
	return slices.DeleteFunc(s.Requests(), func(r Record) bool { return r.Refused == nil })
}

// exchange is one HTTP request with its answer and its record.
type exchange struct {
	*Server

	api protocol
	w   http.ResponseWriter
	req *http.Request
	rec *Record // guarded by Server.mu
}

// handle answers one HTTP request and writes its record.
func (s *Server) handle(api protocol, w http.ResponseWriter, req *http.Request) {
	x := &exchange{Server: s, api: api, w: w, req: req, rec: &Record{}}
	s.mu.Lock()
	s.records = append(s.records, x.rec)
	s.mu.Unlock()
	err := x.answer()
	if refused, ok := errors.AsType[*Error](err); ok {
		x.update(func(r *Record) { r.Refused = refused })
		x.writeError(refused)
	}
}

func (x *exchange) update(change func(r *Record)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change(x.rec)
}

// answer answers a valid request. It returns the error of an invalid one.
func (x *exchange) answer() error {
	if err := x.checkKey(); err != nil {
		return err
	}
	body, err := io.ReadAll(x.req.Body)
	x.update(func(r *Record) { r.Body = body })
	if err != nil {
		abort() // which breaks no rule
	}
	r, err := x.api.parse(x.req, body)
	if err != nil {
		return err
	}
	x.update(func(rec *Record) { rec.Request = r })
	if err := x.api.check(r, x.opts); err != nil {
		return err
	}
	if err := x.compactions.adopt(r); err != nil {
		return err
	}
	if r.dropBroken {
		r.dropped = x.bound.drop(r)
	}
	if x.opts.Bound {
		if err := x.bound.check(r, x.api); err != nil {
			return err
		}
	}
	if r.compact {
		x.compact(r)
		return nil
	}
	x.complete(r)
	return nil
}

// complete calls the responder and sends its reply.
func (x *exchange) complete(r *Request) {
	reply := x.respond(r)
	x.update(func(rec *Record) { rec.Reply = &reply })
	if x.req.Context().Err() != nil {
		abort()
	}
	if reply.Err != nil && (!r.Stream || reply.After == 0) {
		x.writeError(reply.Err)
		return
	}
	if x.opts.Bound {
		x.bound.bind(r, reply.Reasoning)
	}
	usage := Usage{Prompt: r.Tokens(), Completion: reply.Tokens()}
	usage.Cached, usage.Written = x.cache.use(r)
	x.update(func(rec *Record) { rec.Usage = usage })
	x.send(answer{request: r, reply: reply, usage: usage, created: time.Now().Unix(), number: x.ids.Add(1)})
}

// checkKey looks for the key where the clients of any of the providers put it.
func (x *exchange) checkKey() error {
	bearer, ok := strings.CutPrefix(x.req.Header.Get("Authorization"), "Bearer ")
	if !ok {
		bearer = ""
	}
	key := cmp.Or(bearer, x.req.Header.Get("X-Api-Key"), x.req.Header.Get("X-Goog-Api-Key"), x.req.URL.Query().Get("key"))
	switch {
	case x.opts.Key == "" || key == x.opts.Key:
		return nil
	case key == "":
		return &Error{Status: http.StatusUnauthorized, Message: "You didn't provide an API key. " +
			"You need to provide your API key in an Authorization header using Bearer auth."}
	}
	return &Error{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: "Incorrect API key provided."}
}

// respond calls the responder and gives an ID to each call that has none, and reasoning if it is bound. A panic
// becomes an error with status 500.
func (x *exchange) respond(r *Request) (reply Reply) {
	defer func() {
		if v := recover(); v != nil {
			reply = brokenServer("the responder panicked: %v", v)
		}
	}()
	reply = x.responder(x.req.Context(), r)
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		if reply.Calls[i].ID == "" {
			reply.Calls[i].ID = x.newID("call_")
		}
	}
	if x.opts.Bound && reply.Reasoning == "" && reply.Err == nil {
		reply.Reasoning = fmt.Sprintf("I have read %d messages, and think %s.", len(r.Messages), x.newID("thought "))
	}
	return reply
}

func (x *exchange) newID(prefix string) string { return prefix + strconv.FormatInt(x.ids.Add(1), 10) }

func (x *exchange) writeError(err *Error) {
	x.writeJSON(err.status(), x.api.failure(err, false))
}

func (x *exchange) writeJSON(status int, body []byte) {
	x.update(func(r *Record) { r.Status = status })
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // the client may have disconnected
}

// abort breaks the connection and ends the handler: net/http recovers this panic and logs nothing.
func abort() { panic(http.ErrAbortHandler) }
