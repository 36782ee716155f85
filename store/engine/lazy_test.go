package engine_test

import (
	"context"
	"crypto/rand"
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
		require.EqualError(t, err, "engine: ping: not connected yet: engine: open host:1: connection refused by xxxxx@host: "+store.ErrNoAnswer.Error())

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

// refusing is a database that refuses contents of conversation 1. It is down at first, and then accepts one large content
// before its connection is lost.
type refusing struct {
	driver

	accepts atomic.Int32 // 0: nothing, 1: large contents, 2: all
}

func (r *refusing) open(context.Context, string) (engine.Backend, error) {
	if r.accepts.Load() == 0 {
		return nil, errors.New("connection refused")
	}
	return r, nil
}

func (r *refusing) PutContents(
	ctx context.Context, scope string, conversation message.ID, contents []engine.Content, b engine.Bounds,
) error {
	switch {
	case conversation == message.ID{1}:
		return &engine.FullError{Scope: scope}
	case r.accepts.Load() == 1 && len(contents[0].Data) < 1<<20:
		return errors.New("connection lost")
	}
	return r.driver.PutContents(ctx, scope, conversation, contents, b)
}

// TestLazyForgets has contents that no longer wait: what was written, and what was deleted after it was refused.
func TestLazyForgets(t *testing.T) {
	t.Parallel()
	b := &refusing{driver: driver{scopes: map[string]*tables{}}}
	url := register(t, b.open)
	large := make([]byte, 40<<20)
	_, err := rand.Read(large)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.Open(t.Context(), url, engine.Options{Lazy: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.Close()) }()
		a := e.Archive("s")
		put := func(conversation byte, data string) store.Handle {
			c := store.Content{Data: data}
			all := []store.Named{{Hash: c.Hash(), Handle: a.Handle(c.Hash()), Content: c}}
			require.NoError(t, a.Put(t.Context(), message.ID{conversation}, all))
			return all[0].Handle
		}
		refused := put(1, "refused")
		put(2, string(large))
		put(2, "small")
		b.accepts.Store(1)
		<-time.After(time.Minute)
		put(2, "again "+string(large))
		b.accepts.Store(2)
		<-time.After(time.Minute)
		require.NoError(t, e.Ping(t.Context()))
		_, err = a.Get(t.Context(), refused)
		require.NoError(t, err, "it stays in memory")
		require.NoError(t, e.Delete(t.Context(), "s", message.ID{2}))
		_, err = a.Get(t.Context(), refused)
		require.NoError(t, err)
		require.NoError(t, e.Delete(t.Context(), "s", message.ID{1}))
		_, err = a.Get(t.Context(), refused)
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}
