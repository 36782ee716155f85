// Package fakeprovider is a server of OpenAI chat completions for tests. It runs on the loopback, rejects
// requests as strictly as the provider does, and sends the answers that the test gives it.
//
//	loop := fakeprovider.ToolLoop{Tool: "read", Calls: 40}
//	server, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{
//		Models: map[string]int{"gpt-4o": 8_000},
//	})
//	defer server.Close()
//	… a client with the base URL server.URL …
//	require.Empty(t, server.Refused())
//
// It reads the wire format with its own code and shares none with the packages that it checks. An invalid
// request gets the provider's status, code and wording; see [Request.Check] for the rules and
// [Options.Lenient] for those that are stricter than the provider's.
//
// A [Responder] gives the answers. [Text], [Script], [Recall] and [ToolLoop] make some. A [Reply] can
// also be an error, or have a [Fault] such as a stream that is cut.
package fakeprovider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	// URL is the base URL for clients, such as http://127.0.0.1:40123/v1. It must not be changed.
	URL string

	responder Responder
	opts      Options
	cache     promptCache
	ids       atomic.Int64 // IDs of calls and answers given so far

	mu      sync.Mutex
	records []*Record // guarded by mu, as are the records themselves

	stop   context.CancelFunc
	http   *http.Server
	served chan struct{}  // closed when Serve has returned
	conns  sync.WaitGroup // open connections
	close  func() error
}

// Options configure a server. The zero value is a strict server of one model.
type Options struct {
	Models  map[string]int // context window in tokens of each served model; nil: gpt-4o with 128,000
	Key     string         // required API key; "": none
	MaxBody int64          // bytes of a request body, a larger one gets status 413; 0: 32 MiB
	// Lenient accepts what the provider itself accepts and stricter gateways reject: arguments that are any
	// string, results of one message in any order, a content of "", and function messages without their call.
	// langchaingo's OpenAI functions agent needs it for tools with one plain string: it sends that string in
	// place of the arguments.
	Lenient bool
}

func (o Options) models() map[string]int {
	if o.Models == nil {
		return map[string]int{"gpt-4o": 128_000}
	}
	return o.Models
}

// Start starts a server that answers with the replies of a responder. The caller must call Close.
// It fails if an option is invalid, if the responder is nil, or if it cannot listen on the loopback.
func Start(responder Responder, opts Options) (*Server, error) {
	s, err := newServer(responder, opts)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	lis, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return nil, fmt.Errorf("fakeprovider: listen: %w", err)
	}
	s.URL = "http://" + lis.Addr().String() + "/v1"
	s.stop = stop
	s.served = make(chan struct{})
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         s.track,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // disconnected clients are expected
		ReadHeaderTimeout: time.Minute,
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(lis) // ends with http.ErrServerClosed
	}()
	return s, nil
}

func newServer(responder Responder, opts Options) (*Server, error) {
	if responder == nil {
		return nil, errors.New("fakeprovider: the responder is nil")
	}
	if opts.MaxBody == 0 {
		opts.MaxBody = 32 << 20
	}
	if opts.MaxBody < 0 {
		return nil, fmt.Errorf("fakeprovider: MaxBody is %d, want 0 or more", opts.MaxBody)
	}
	if len(opts.models()) == 0 {
		return nil, errors.New("fakeprovider: Models is empty: name a model and its window, or leave it nil")
	}
	for name, window := range opts.models() {
		if name == "" || window <= 0 {
			return nil, fmt.Errorf("fakeprovider: model %q has a window of %d tokens: both must be given", name, window)
		}
	}
	s := &Server{responder: responder, opts: opts}
	s.close = sync.OnceValue(s.shutDown)
	return s, nil
}

// Close breaks all connections, cancels the context of each responder and waits for the handlers. It leaves no
// goroutine running and may be called more than once.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutDown() error {
	s.stop()
	err := s.http.Close()
	<-s.served
	err = errors.Join(err, s.http.Close()) // closes a connection that was accepted during the first Close
	s.conns.Wait()
	if err != nil {
		return fmt.Errorf("fakeprovider: close: %w", err)
	}
	return nil
}

// track counts connections. The handler of a connection has returned when its state is closed.
func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	case http.StateActive, http.StateIdle:
	}
}

// Record is one request with its outcome so far.
type Record struct {
	Method  string
	Path    string
	Body    []byte   // as received; of a larger one, the first MaxBody bytes
	Request *Request // nil if the body was not read or is not a request
	Tokens  Tokens   // of the request
	Refused *Error   // the rule that the request broke; nil if it broke none
	Reply   *Reply   // of the responder, with the IDs of its calls; nil if it was not called
	Status  int      // HTTP status of the answer; 0 before one is sent
	Usage   Usage    // zero if the request was refused
	Events  int      // events of the stream that were sent, including [DONE]
	Broken  string   // why the answer was not sent completely: the fault, or "the client has disconnected"
	Done    bool     // the handler has returned
}

// Requests returns all requests since the start or the last Forget, in order of arrival, including refused and
// unfinished ones. A record is updated before the client can read the answer. The caller owns the slice, and
// must not change what its records point to.
func (s *Server) Requests() []Record { return s.find(func(*Record) bool { return true }) }

// Refused returns the requests that broke a rule. Errors of the responder are not among them.
func (s *Server) Refused() []Record { return s.find(func(r *Record) bool { return r.Refused != nil }) }

func (s *Server) find(match func(r *Record) bool) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Record
	for _, r := range s.records {
		if match(r) {
			all = append(all, *r)
		}
	}
	return all
}

// Forget drops the records, which hold the body of every request. The prompt cache is kept.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = nil
}
