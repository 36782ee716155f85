package redisstore_test

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient waits for the client of go-redis, which sleeps for a second before it sees that it was closed while a node was down.
type patient struct{ *testing.M }

func (p patient) Run() int {
	code := p.M.Run()
	for range 5 {
		if goleak.Find() == nil {
			break
		}
	}
	return code
}

// address returns the URL of a server with a prefix that only this test uses.
func address(tb testing.TB) string {
	tb.Helper()
	raw := os.Getenv("LACONIC_REDIS")
	if raw == "" {
		tb.Skip("set LACONIC_REDIS=redis://… to run, or use .ci/services go test …")
	}
	u, err := url.Parse(raw)
	require.NoError(tb, err, "LACONIC_REDIS")
	q := u.Query()
	q.Set("prefix", "laconic-test-"+rand.Text())
	u.RawQuery = q.Encode()
	return u.String()
}

// open returns a backend of its own for a test, which leaves no key.
func open(tb testing.TB) engine.Backend {
	tb.Helper()
	return openURL(tb, address(tb))
}

func openURL(tb testing.TB, address string) engine.Backend {
	tb.Helper()
	b, err := redisstore.Open(tb.Context(), address)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		for _, key := range allKeys(tb, b) {
			require.NoError(tb, redisstore.Client(b).Unlink(context.Background(), key).Err())
		}
		require.NoError(tb, b.Close())
	})
	return b
}

// allKeys returns all keys of the test.
func allKeys(tb testing.TB, b engine.Backend) []string {
	tb.Helper()
	prefix, _, _ := strings.Cut(redisstore.Keys(b, ""), ":")
	keys, err := redisstore.Client(b).Keys(context.Background(), prefix+":*").Result()
	require.NoError(tb, err)
	return keys
}

func id(n byte) message.ID { return message.ID{n} }

// row returns a row of conversation 100 whose data names its revision.
func row(rev, base byte) engine.Row {
	return engine.Row{Rev: id(rev), Base: id(base), Conversation: id(100), Data: []byte("text of entry " + string('A'+rune(rev)))}
}

func put(tb testing.TB, b engine.Backend, bounds engine.Bounds, writes ...engine.Write) {
	tb.Helper()
	winner, err := b.Put(tb.Context(), "s", writes, bounds)
	require.NoError(tb, err)
	require.Equal(tb, writes[0].Row, winner)
}

func find(tb testing.TB, b engine.Backend, bounds engine.Bounds, ids ...byte) (int, []engine.Row) {
	tb.Helper()
	all := make([]message.ID, len(ids))
	for i, n := range ids {
		all[i] = id(n)
	}
	at, rows, err := b.Find(tb.Context(), "s", message.ID{}, all, bounds)
	require.NoError(tb, err)
	return at, rows
}

var forever engine.Bounds

// TestConversationIsBounded writes more entries of one conversation than it keeps. The newest
// ones are there, each with all that it builds on.
func TestConversationIsBounded(t *testing.T) {
	t.Parallel()
	b := open(t)
	const batch, all = 100, 10_000
	conversation := id(100)
	name := func(n int) message.ID { return message.ID{1, byte(n), byte(n >> 8)} }
	for n := 0; n < all; n += batch {
		var writes []engine.Write
		for i := n; i < n+batch; i++ {
			r := engine.Row{Rev: name(i), Conversation: id(100), Data: []byte("an entry")}
			if i%32 > 0 {
				r.Base = name(i - 1)
			}
			writes = append(writes, engine.Write{ID: name(i), Row: r})
		}
		put(t, b, forever, writes...)
	}
	key := redisstore.Keys(b, "s") + "c:" + string(conversation[:])
	fields, err := redisstore.Client(b).HLen(t.Context(), key).Result()
	require.NoError(t, err)
	require.Less(t, fields, int64(2*4200), "an entry and an ID each")
	for i := all - 2000; i < all; i++ {
		at, rows, err := b.Find(t.Context(), "s", message.ID{}, []message.ID{name(i)}, forever)
		require.NoError(t, err)
		require.Zero(t, at)
		require.Len(t, rows, i%32+1, "entry %d with all that it builds on", i)
	}
	at, _, err := b.Find(t.Context(), "s", message.ID{}, []message.ID{name(0), name(500)}, forever)
	require.NoError(t, err)
	require.Equal(t, -1, at, "what is too old is planned again")
	rows, err := b.Entries(t.Context(), "s", id(100))
	require.NoError(t, err)
	list, err := b.List(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, int64(len(rows)*(len("an entry")+redisstore.Overhead)), list[0].Bytes)
	require.Equal(t, len(rows), list[0].Entries)
}

// trips counts what is sent to the server.
type trips struct{ n atomic.Int64 }

func (c *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

func TestEachCallIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	b := open(t)
	bounds := engine.Bounds{TTL: time.Hour, Limit: 1 << 20}
	contents := []engine.Content{{Handle: "aaaaaaaaaaaa", Data: []byte("a")}, {Handle: "bbbbbbbbbbbb", Data: []byte("b")}}
	all := func() {
		put(t, b, bounds, engine.Write{ID: id(1), Row: row(11, 0)}, engine.Write{ID: id(2), Row: row(12, 11)})
		find(t, b, bounds, 1, 2, 3)
		require.NoError(t, b.PutContents(t.Context(), "s", id(100), contents, bounds))
		_, err := b.Get(t.Context(), "s", "aaaaaaaaaaaa", bounds)
		require.NoError(t, err)
	}
	all() // the server may not know the scripts yet
	var c trips
	redisstore.Client(b).AddHook(&c)
	all()
	require.EqualValues(t, 4, c.n.Load(), "one for each of four calls")
}

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	u := address(t)
	b := openURL(t, u)
	version := strings.SplitN(redisstore.Keys(b, ""), ":", 2)[0] + ":version"
	for value, want := range map[string]string{
		"3": "the keys have version 3, and this program knows version 2: update the program, or choose another prefix",
		"x": "is not a version: choose another prefix",
	} {
		require.NoError(t, redisstore.Client(b).Set(t.Context(), version, value, 0).Err())
		_, err := redisstore.Open(t.Context(), u)
		require.ErrorContains(t, err, want)
	}
}

func TestErrorsNameNoPassword(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	urls := []string{
		"redis://:hunter2@" + closed.Addr().String(), "redis://u:hunter2@h:port/0", "redis://u:hunter2/@h", "redis://u:hun%zzhunter2@h",
		"redis://u/x:hunter2@h/0", "redis://u:hunter2@h/db", "redis://u:hunter2@h?unknown=1", "redis:hunter2", "redis://u:h#hunter2@h",
		"redis://u:hunter2@127.0.0.1:1/0?prefix={", "redis://u:hunter2@" + closed.Addr().String() + "?addr=127.0.0.1:1",
	}
	if u, err := url.Parse(os.Getenv("LACONIC_REDIS")); err == nil && u.Host != "" {
		urls = append(urls, "redis://default:hunter2@"+u.Host, "redis://:hunter2@"+u.Host)
	}
	for _, u := range urls {
		b, err := redisstore.Open(t.Context(), u)
		if err == nil { // a server that lets everybody in
			require.NoError(t, b.Close())
			continue
		}
		require.NotContains(t, err.Error(), secret)
		require.ErrorContains(t, err, "redisstore: ")
	}
	_, err = redisstore.Open(t.Context(), urls[0])
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

// clients returns the connections of the server.
func clients(t *testing.T, b engine.Backend) string {
	t.Helper()
	all, err := redisstore.Client(b).ClientList(t.Context()).Result()
	require.NoError(t, err)
	return all
}

func TestCloseEndsRunningCallsAndConnections(t *testing.T) {
	t.Parallel()
	b := open(t)
	put(t, b, forever, engine.Write{ID: id(1), Row: row(11, 0)})
	name := "laconic-" + rand.Text()
	other, err := redisstore.Open(t.Context(), address(t)+"&client_name="+name)
	require.NoError(t, err)
	require.Contains(t, clients(t, b), name)
	version := strings.SplitN(redisstore.Keys(other, ""), ":", 2)[0] + ":version"
	require.NoError(t, redisstore.Client(other).Unlink(t.Context(), version).Err())
	require.NoError(t, other.Close())
	require.Eventually(t, func() bool { return !strings.Contains(clients(t, b), name) }, 10*time.Second, time.Millisecond,
		"no connection is left")
	require.NoError(t, other.Close(), "a second time")
	_, _, err = other.Find(t.Context(), "s", message.ID{}, []message.ID{id(1)}, forever)
	require.ErrorIs(t, err, redis.ErrClosed)
}
