package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// server is a database that is down at first. Several engines may open it.
type server struct {
	up   atomic.Bool
	data driver
}

func (s *server) open(context.Context, string) (engine.Backend, error) {
	if !s.up.Load() {
		return nil, errors.New("connection refused by secret@host")
	}
	return &s.data, nil
}

// register makes a server known under a scheme of its own.
func register(t *testing.T, open func(context.Context, string) (engine.Backend, error)) (url string) {
	t.Helper()
	scheme := strings.ToLower(t.Name())
	engine.Register(scheme, open)
	return scheme + "://user:secret@host:1/x"
}

// TestLazy begins without its database: an agent's results are cleared and can be read again, and when the database is
// there, another process finds the edit and the content.
func TestLazy(t *testing.T) {
	t.Parallel()
	s := &server{data: driver{scopes: map[string]*tables{}}}
	url := register(t, s.open)
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.Open(t.Context(), url, engine.Options{Lazy: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Close()) }()
		synctest.Wait()
		err = e.Ping(t.Context())
		require.True(t, engine.Internals(inside.Key{}).NotConnected(err), err)
		require.ErrorIs(t, err, store.ErrNoAnswer)
		require.EqualError(t, err, "engine: not connected yet: engine: open host:1: connection refused by xxxxx@host: "+store.ErrNoAnswer.Error())

		history := []message.Message{message.User("Read all pages.")}
		for i := range 6 {
			id := string(rune('a' + i))
			history = append(history, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
				message.Result(id, "read", strings.Repeat("page "+id+" ", 200)))
		}
		process := func(e *engine.Engine) func(history []message.Message) ([]message.Message, []middleware.Event) {
			mw := middleware.With(middleware.Env{Journal: e.Journal(), Archive: e.Archive("s"), Scope: "s"},
				contextedit.New(contextedit.Options{Trigger: trigger.Messages(10), Keep: 1, Digest: -1}))
			return func(history []message.Message) ([]message.Message, []middleware.Event) {
				req, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: history})
				require.NoError(t, err)
				return req.Messages, events
			}
		}
		first := process(e)
		sent, events := first(history)
		told := 0
		for _, event := range events {
			if engine.Internals(inside.Key{}).NotConnected(event.Err) {
				told++
			}
		}
		require.NotZero(t, told, "an event says so: %v", events)
		var handles []store.Handle
		for r := range sent[2].Results() {
			handles = archived.In(r.Text)
		}
		require.NotEmpty(t, handles, "%v", events)
		c, err := e.Archive("s").Get(t.Context(), handles[0])
		require.NoError(t, err, "it can be recalled meanwhile")
		require.Contains(t, c.Data, "page a")

		s.up.Store(true)
		<-time.After(time.Minute)
		require.NoError(t, e.Ping(t.Context()))
		again, _ := first(history)
		require.Equal(t, sent, again)

		other, err := engine.Open(t.Context(), url, engine.Options{})
		require.NoError(t, err)
		found, events := process(other)(history)
		require.Equal(t, sent, found, "the edits are in the database: %v", events)
		c, err = other.Archive("s").Get(t.Context(), handles[0])
		require.NoError(t, err)
		require.Contains(t, c.Data, "page a")
	})
}

// TestLazyIsClosed closes an engine that never had a connection.
func TestLazyIsClosed(t *testing.T) {
	t.Parallel()
	s := &server{}
	url := register(t, s.open)
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine remains
		e, err := engine.Open(t.Context(), url, engine.Options{Lazy: true})
		require.NoError(t, err)
		require.NoError(t, e.Close())
		_, err = engine.Open(t.Context(), url, engine.Options{Lazy: true, TTL: -1})
		require.ErrorContains(t, err, "negative")
	})
}

// TestLazyIsBounded fills what may wait in memory.
func TestLazyIsBounded(t *testing.T) {
	t.Parallel()
	s := &server{}
	e, err := engine.Open(t.Context(), register(t, s.open), engine.Options{
		Lazy:    true, // not compressed
		Ciphers: []engine.Cipher{large{}},
	})
	require.NoError(t, err)
	for i := range 4 {
		_, err = store.Keep(t.Context(), e.Archive("s"), store.Content{Data: strings.Repeat("x", i+1)})
		if i < 3 {
			require.NoError(t, err)
		}
	}
	require.True(t, engine.Internals(inside.Key{}).NotConnected(err), err)
	require.ErrorContains(t, err, "wait already")
	require.NoError(t, e.Close())
}

// large is a cipher that makes 20 MB of any data.
type large struct{}

func (large) Seal(string, []byte) ([]byte, error)        { return make([]byte, 20<<20), nil }
func (large) Open(_ string, data []byte) ([]byte, error) { return data, nil }

// TestOpenHasALimit has a client that does not end with its context. What it opens later is closed.
func TestOpenHasALimit(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	url := register(t, func(context.Context, string) (engine.Backend, error) {
		<-time.After(time.Hour)
		return &slow{closed: closed}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := engine.Open(t.Context(), url, engine.Options{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "engine: open host:1: no answer: context deadline exceeded")
		require.NotContains(t, err.Error(), "secret")
		<-time.After(2 * time.Hour)
		<-closed
	})
}

// slow is a backend that is open too late.
type slow struct {
	engine.Backend

	closed chan struct{}
}

func (s *slow) Close() error {
	close(s.closed)
	return nil
}
