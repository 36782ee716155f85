package engine

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// sealer returns Seal and Open with AES-GCM for a key.
func sealer(t *testing.T, key byte) (seal, open func(string, []byte) ([]byte, error)) {
	t.Helper()
	block, err := aes.NewCipher(append(make([]byte, 31), key))
	require.NoError(t, err)
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	require.NoError(t, err)
	return func(scope string, data []byte) ([]byte, error) { return gcm.Seal(nil, nil, data, []byte(scope)), nil },
		func(scope string, data []byte) ([]byte, error) { return gcm.Open(nil, nil, data, []byte(scope)) }
}

func TestEntryCoding(t *testing.T) {
	t.Parallel()
	seal, open := sealer(t, 1)
	for name, o := range map[string]Options{"plain": {}, "sealed": {Seal: seal, Open: open}} {
		c, err := newCodec(o)
		require.NoError(t, err)
		e := journal.Entry{Base: message.ID{3}, Depth: 1, Edits: []*journal.Record{{
			Middleware: "m", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 9}},
			Messages: []message.Message{message.User(strings.Repeat("a secret summary ", 100))},
		}}}
		e.Rev = e.Sum()
		w, err := c.entry("s", journal.Write{ID: message.ID{1}, Conversation: message.ID{2}, Entry: e})
		require.NoError(t, err)
		require.Less(t, len(w.Row.Data), 400, "%s: it is compressed", name)
		require.NotContains(t, string(w.Row.Data), "a secret summary a secret", name)
		got, err := c.toEntry("s", w.Row)
		require.NoError(t, err)
		require.Equal(t, e, got)

		for i := range w.Row.Data {
			r := w.Row
			r.Data = append([]byte(nil), r.Data...)
			r.Data[i] ^= 4
			if got, err := c.toEntry("s", r); err == nil {
				require.Equal(t, e, got, "%s: byte %d is altered, and the entry is another one", name, i)
			} else {
				require.True(t, errors.Is(err, store.ErrDamaged) || errors.Is(err, ErrKey), "%s: byte %d: %v", name, i, err)
			}
			r.Data = r.Data[:i]
			_, err = c.toEntry("s", r)
			require.Error(t, err, "%s: torn after %d bytes", name, i)
		}
		r := w.Row
		r.Rev = message.ID{9}
		_, err = c.toEntry("s", r)
		require.ErrorIs(t, err, store.ErrDamaged, "data of another row")
		require.NoError(t, c.close())
	}
}

func TestContentCoding(t *testing.T) {
	t.Parallel()
	seal, open := sealer(t, 1)
	for name, o := range map[string]Options{"plain": {}, "sealed": {Seal: seal, Open: open}} {
		c, err := newCodec(o)
		require.NoError(t, err)
		scope := store.NewScope([]byte("secret"), "s")
		content := store.Content{Type: "text/plain", Data: strings.Repeat("content ", 50) + rand.Text()}
		n := &store.Named{Content: content, Hash: content.Hash(), Handle: scope.Handle(content.Hash())}
		row, err := c.content("s", scope, n)
		require.NoError(t, err)
		got, err := c.toContent("s", scope, row)
		require.NoError(t, err)
		require.Equal(t, content, got)
		for i := range row.Data {
			r := row
			r.Data = append([]byte(nil), r.Data...)
			r.Data[i] ^= 4
			got, err := c.toContent("s", scope, r)
			require.True(t, err != nil || got == content, "%s: byte %d is altered, and the content is %v", name, i, got)
			r.Data = r.Data[:i]
			_, err = c.toContent("s", scope, r)
			require.Error(t, err, "%s: torn after %d bytes", name, i)
		}
		row.Key[0] ^= 1
		_, err = c.toContent("s", scope, row)
		require.ErrorIs(t, err, store.ErrDamaged)
		require.NoError(t, c.close())
	}
}

func TestWrongKeys(t *testing.T) {
	t.Parallel()
	seal, open := sealer(t, 1)
	otherSeal, otherOpen := sealer(t, 2)
	scope := store.NewScope([]byte("secret"), "s")
	content := store.Content{Data: "text"}
	n := &store.Named{Content: content, Hash: content.Hash(), Handle: scope.Handle(content.Hash())}
	row := func(o Options) Content {
		c, err := newCodec(o)
		require.NoError(t, err)
		r, err := c.content("s", scope, n)
		require.NoError(t, err)
		return r
	}
	read := func(o Options, scope store.Scope, r Content) error {
		c, err := newCodec(o)
		require.NoError(t, err)
		_, err = c.toContent("s", scope, r)
		return err
	}
	plain, sealed := row(Options{}), row(Options{Seal: seal, Open: open})
	require.NoError(t, read(Options{}, scope, plain))
	err := read(Options{Seal: otherSeal, Open: otherOpen}, scope, sealed)
	require.ErrorIs(t, err, ErrKey)
	require.EqualError(t, err, "wrong key: Open does not decrypt it, or it was altered: cipher: message authentication failed")
	require.ErrorIs(t, read(Options{Seal: seal, Open: open}, scope, plain), ErrKey)
	require.ErrorIs(t, read(Options{}, scope, sealed), ErrKey)
	err = read(Options{}, store.NewScope([]byte("other"), "s"), plain)
	require.EqualError(t, err, "wrong key: it was put with another Secret, or the row was altered")
	require.ErrorIs(t, err, ErrKey)
}

func TestNewRefusesOptions(t *testing.T) {
	t.Parallel()
	seal, open := sealer(t, 1)
	for want, o := range map[string]Options{
		"engine: TTL, Limit or a value of Limits is negative, want 0 for the default, or more": {TTL: -time.Second},
		"engine: only one of Seal and Open is set, want both or none":                          {Seal: seal},
	} {
		_, err := New(nil, o)
		require.EqualError(t, err, want)
	}
	_, err := New(nil, Options{Open: open})
	require.Error(t, err)
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	const secret = "p@ss/w:rd"
	Register("failing", func(_ context.Context, url string) (Backend, error) { return nil, errors.New("cannot parse " + url) })
	for url, want := range map[string]string{
		"":                                       "begins with no known scheme, want sqlite:PATH, postgres://",
		"mysql://u:" + secret:                    "begins with no known scheme",
		"postgres":                               "begins with no known scheme",
		"postgres://u:" + secret:                 `add import _ "github.com/laconic-go/laconic/store/sqlstore"`,
		"rediss://u:" + secret:                   `add import _ "github.com/laconic-go/laconic/store/redisstore"`,
		"failing://u:" + secret + "@h:1/d?a=%zz": "cannot parse failing://u:xxxxx@h",
		"failing://h/d?user=u&sslpassword=" + secret + "&password=x%3F": "cannot parse failing://h/d?user=u&sslpassword=xxxxx",
	} {
		_, err := Open(t.Context(), url, Options{})
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), secret)
	}
	require.PanicsWithValue(t, "engine: Register: the scheme failing is empty or has a driver already", func() {
		Register("failing", func(context.Context, string) (Backend, error) { return nil, nil })
	})
	require.Contains(t, Schemes(), "failing")
}

// down is a backend whose calls fail.
type down struct {
	Backend

	calls int
	err   error
}

func (d *down) Find(context.Context, string, []message.ID, Bounds) (int, []Row, error) {
	d.calls++
	return -1, nil, d.err
}

func (d *down) Get(context.Context, string, string, Bounds) (Content, error) {
	d.calls++
	return Content{}, d.err
}

func (d *down) Close() error { return nil }

// TestDatabaseIsLeftAlone has a database that is down: after three failures in a row it is
// not asked for five seconds. An error that is an answer is no failure.
func TestDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &down{err: errors.New("connection refused")}
		e, err := New(b, Options{})
		require.NoError(t, err)
		h := e.Archive("s").Handle(message.ContentHash{1})
		for range 10 {
			_, err := e.Journal().Find(t.Context(), "s", nil)
			require.ErrorContains(t, err, "connection refused")
			_, err = e.Archive("s").Get(t.Context(), h)
			require.ErrorContains(t, err, "connection refused")
		}
		require.Equal(t, 6, b.calls, "three of the journal, and three of the archives")
		_, err = e.Journal().Find(t.Context(), "s", nil)
		require.EqualError(t, err,
			"engine: find: not called for 1s, since 3 calls in a row have failed; the last one: connection refused")
		time.Sleep(5 * time.Second) //nolint:forbidigo // it is the time of synctest
		b.err = store.ErrNotFound
		for range 10 {
			_, err = e.Archive("another").Get(t.Context(), h)
			require.ErrorIs(t, err, store.ErrNotFound)
		}
		require.Equal(t, 16, b.calls)
		require.NoError(t, e.Close())
	})
}
