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

// Server is a provider on the loopback. It is safe for concurrent use.
type Server struct {
	// URL is the base URL for clients, such as http://127.0.0.1:40123/v1. It is
	// not to be changed.
	URL string

	brain  Brain
	opts   Options
	cache  promptCache
	log    requestLog
	named  atomic.Int64 // call ids given
	stop   context.CancelFunc
	http   *http.Server
	served chan struct{}  // closed when the listener is
	conns  sync.WaitGroup // connections, each with its handler
	close  func() error
}

// Start starts a server that answers what brain says. Close must be called.
// An error is a wrong option, a nil brain, or that there is no loopback to
// listen on.
func Start(brain Brain, opts Options) (*Server, error) {
	s, err := newServer(brain, opts)
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
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // clients that leave are no news
		ReadHeaderTimeout: time.Minute,
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(lis) // ends with http.ErrServerClosed
	}()
	return s, nil
}

func newServer(brain Brain, opts Options) (*Server, error) {
	if brain == nil {
		return nil, errors.New("fakeprovider: the brain is nil: give one that answers")
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Server{brain: brain, opts: opts}
	s.close = sync.OnceValue(s.shut)
	return s, nil
}

// Close breaks all connections, cancels the context of every brain and waits
// for the handlers. No goroutine is left then. It may be called more than once.
func (s *Server) Close() error { return s.close() }

func (s *Server) shut() error {
	s.stop()
	err := s.http.Close()
	<-s.served
	err = errors.Join(err, s.http.Close()) // of the connection that was accepted meanwhile; none is new from here on
	s.conns.Wait()
	if err != nil {
		return fmt.Errorf("fakeprovider: close: %w", err)
	}
	return nil
}

// track counts connections. A handler runs in the goroutine of its connection,
// which says that it is closed as the last thing it does.
func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	case http.StateActive, http.StateIdle:
	}
}

// Requests returns what the server was asked so far, in the order of arrival,
// also what it refused and what it is still answering. What a client has read
// of an answer stands in the record already. The slice belongs to the caller,
// what it points to is shared and not to be changed.
func (s *Server) Requests() []Record { return s.log.all() }

// Refused returns the requests that broke a rule, which are none if the client
// is right. Errors of the brain are not among them.
func (s *Server) Refused() []Record {
	var all []Record
	for _, r := range s.log.all() {
		if r.Refused != nil {
			all = append(all, r)
		}
	}
	return all
}

// Forget drops the records so far, which hold every body that was sent. The
// cache of prompts stays.
func (s *Server) Forget() { s.log.forget() }
