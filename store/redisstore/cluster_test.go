package redisstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

// clusterClient returns a client of the cluster of LACONIC_CLUSTER that cannot reach the node at an address; "": all of them.
func clusterClient(t *testing.T, without string) *redis.ClusterClient {
	t.Helper()
	raw := os.Getenv("LACONIC_CLUSTER")
	if raw == "" {
		t.Skip("set LACONIC_CLUSTER=redis://…?addr=…, or use .ci/services go test …")
	}
	o, err := redis.ParseClusterURL(raw)
	require.NoError(t, err)
	o.DisableIdentity, o.MaxRedirects, o.ContextTimeoutEnabled = true, -1, true
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == without {
			return nil, errUnreachable
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	c := redis.NewClusterClient(o)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

var errUnreachable = errors.New("the node is down")

// openCluster returns a backend with keys of its own, which are removed after the test, and their prefix.
func openCluster(t *testing.T) (b engine.Backend, prefix string) {
	t.Helper()
	c := clusterClient(t, "")
	prefix = "laconic-test-" + rand.Text()
	b, err := redisstore.New(t.Context(), c, prefix)
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, keys := range byNode(t, c, prefix) {
			for _, key := range keys {
				require.NoError(t, c.Unlink(context.Background(), key).Err())
			}
		}
	})
	return b, prefix
}

// byNode returns the keys with a prefix, by the address of their node.
func byNode(t *testing.T, c *redis.ClusterClient, prefix string) map[string][]string {
	t.Helper()
	var mu sync.Mutex
	of := map[string][]string{}
	require.NoError(t, c.ForEachMaster(context.Background(), func(ctx context.Context, node *redis.Client) error {
		keys, err := node.Keys(ctx, prefix+":*").Result()
		mu.Lock()
		defer mu.Unlock()
		of[node.Options().Addr] = keys
		return err
	}))
	return of
}

// numbered returns an ID, and the handle and content of the same number.
func numbered(n int) (message.ID, engine.Content) {
	c := engine.Content{Handle: strings.Repeat(string(rune('a'+n%26)), 10) + string(rune('a'+n/26%26)) + "a", Data: []byte("text")}
	binary.BigEndian.PutUint32(c.Key[:], uint32(n))
	return message.ID{1, byte(n), byte(n >> 8)}, c
}

// fill writes an entry and a content of each of many conversations.
func fill(t *testing.T, b engine.Backend, bounds engine.Bounds, many int) {
	t.Helper()
	for n := range many {
		id, c := numbered(n)
		row := engine.Row{Rev: id, Conversation: id, Data: []byte("an entry")}
		_, err := b.Put(t.Context(), "s", []engine.Write{{ID: id, First: id, Row: row}}, bounds)
		require.NoError(t, err)
		require.NoError(t, b.PutContents(t.Context(), "s", id, []engine.Content{c}, bounds))
	}
}

// TestAScopeIsSpreadOverTheNodes also looks at what is found when one node is down: all that is not on it.
func TestAScopeIsSpreadOverTheNodes(t *testing.T) {
	t.Parallel()
	b, prefix := openCluster(t)
	const many = 200
	fill(t, b, forever, many)
	all := byNode(t, redisstore.Client(b).(*redis.ClusterClient), prefix)
	require.Len(t, all, 3)
	for node, keys := range all {
		entries, contents := 0, 0
		for _, key := range keys {
			entries += strings.Count(key, "}:h")
			contents += strings.Count(key, "}:b:")
		}
		require.Positive(t, entries, "histories on %s", node)
		require.Greater(t, contents, many/10, "contents on %s", node)
	}
	for node := range all {
		rest, err := redisstore.New(t.Context(), clusterClient(t, node), prefix)
		if err != nil { // the version is there
			require.ErrorIs(t, err, errUnreachable)
			continue
		}
		found, got := 0, 0
		for n := range many {
			id, want := numbered(n)
			at, _, err := rest.Find(t.Context(), "s", id, []message.ID{id}, forever)
			if err == nil {
				require.Zero(t, at, "what can be asked has everything")
				found++
			}
			c, err := rest.Get(t.Context(), "s", want.Handle, forever)
			require.NotErrorIs(t, err, store.ErrNotFound)
			if err == nil {
				require.Equal(t, want, c)
				got++
			}
		}
		require.Greater(t, found, many/4, "of histories without %s", node)
		require.Greater(t, got, many/4, "of contents without %s", node)
		require.Less(t, found+got, 2*many)
	}
}

func TestClusterDeletes(t *testing.T) {
	t.Parallel()
	b, prefix := openCluster(t)
	const many = 60
	fill(t, b, forever, many)
	first, _ := numbered(0)
	other, shared := numbered(1)
	require.NoError(t, b.PutContents(t.Context(), "s", first, []engine.Content{shared}, forever))
	require.NoError(t, b.Delete(t.Context(), "s", first))
	at, _, err := b.Find(t.Context(), "s", first, []message.ID{first}, forever)
	require.NoError(t, err)
	require.Equal(t, -1, at)
	_, err = b.Get(t.Context(), "s", shared.Handle, forever)
	require.NoError(t, err, "another conversation has it")
	for _, keys := range byNode(t, redisstore.Client(b).(*redis.ClusterClient), prefix) {
		for _, key := range keys {
			require.NotContains(t, key, string(first[:]))
		}
	}
	rows, err := b.Entries(t.Context(), "s", other)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	list, err := b.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, many-1)
	for _, u := range list {
		require.Equal(t, []int{1, 1}, []int{u.Entries, u.Contents}, "of conversation %s", u.Conversation)
		require.EqualValues(t, 2*redisstore.Overhead+len("an entry")+len("text"), u.Bytes)
	}
	require.NoError(t, b.Delete(t.Context(), "s"))
	left := 0
	for _, keys := range byNode(t, redisstore.Client(b).(*redis.ClusterClient), prefix) {
		left += len(keys)
	}
	require.Equal(t, 1, left, "the version")
}

func TestClusterKeepsTheContracts(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *engine.Engine {
		t.Helper()
		b, _ := openCluster(t)
		e, err := engine.New(b, engine.Options{Limits: store.Limits{Timeout: time.Minute}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	}
	t.Run("journal", func(t *testing.T) {
		middlewaretest.Journal(t, func(t *testing.T) journal.Journal { t.Helper(); return open(t).Journal() })
	})
	t.Run("archive", func(t *testing.T) {
		middlewaretest.Archive(t, func(t *testing.T) store.Store { t.Helper(); return open(t).Archive("s") })
	})
}

// openEngine returns an engine of its own for a test, and its backend.
func openEngine(t *testing.T) (*engine.Engine, engine.Backend) {
	t.Helper()
	u := address(t)
	b := openURL(t, u) // removes all keys at the end
	e, err := engine.Open(t.Context(), u, engine.Options{Limits: store.Limits{Timeout: time.Minute}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e, b
}

func TestJournal(t *testing.T) {
	t.Parallel()
	address(t)
	middlewaretest.Journal(t, func(t *testing.T) journal.Journal {
		t.Helper()
		e, b := openEngine(t)
		return damageableJournal{e.Journal(), b}
	})
}

// damageableJournal is a journal whose rows can be damaged.
type damageableJournal struct {
	journal.Journal

	b engine.Backend
}

func (j damageableJournal) Damage(scope string, rev message.ID) error {
	conversation := message.ID{255} // as the conformance test has it
	return damage(j.b, redisstore.Keys(j.b, scope)+"c:"+string(conversation[:]), "e"+string(rev[:]))
}

func TestArchive(t *testing.T) {
	t.Parallel()
	address(t)
	middlewaretest.Archive(t, func(t *testing.T) store.Store {
		t.Helper()
		e, b := openEngine(t)
		return damageable{e.Archive("s"), b}
	})
}

// damageable is an archive whose rows can be damaged.
type damageable struct {
	store.Store

	b engine.Backend
}

func (a damageable) Damage(h store.Handle) error {
	return damage(a.b, redisstore.Keys(a.b, "s")+"b:"+h.String(), "d")
}

// damage changes the last byte of a field.
func damage(b engine.Backend, key, field string) error {
	ctx, client := context.Background(), redisstore.Client(b)
	data, err := client.HGet(ctx, key, field).Bytes()
	if err != nil {
		return err
	}
	data[len(data)-1] ^= 1
	return client.HSet(ctx, key, field, data).Err()
}

func TestPutReplacesWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	u, ctx := address(t), t.Context()
	b := openURL(t, u)
	c := store.Content{Data: strings.Repeat("a line\n", 100)}
	var use []string
	for n := range 2 {
		key, err := engine.AES(bytes.Repeat([]byte{byte(n)}, 32))
		require.NoError(t, err)
		e, err := engine.Open(ctx, u, engine.Options{Ciphers: []engine.Cipher{key}, Limits: store.Limits{Timeout: time.Minute}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		a := e.Archive("s")
		_, err = a.Get(ctx, a.Handle(c.Hash()))
		require.ErrorIs(t, err, []error{store.ErrNotFound, engine.ErrKey}[n])
		h, err := store.Keep(ctx, a, c)
		require.NoError(t, err)
		got, err := a.Get(ctx, h)
		require.NoError(t, err, "Put has returned nil, so the content can be read")
		require.Equal(t, c, got)
		sum, err := redisstore.Client(b).HGet(ctx, redisstore.Keys(b, "s")+"n", "").Result()
		require.NoError(t, err)
		use = append(use, sum)
	}
	require.Equal(t, use[0], use[1])
}

func TestReseal(t *testing.T) {
	t.Parallel()
	u, ctx := address(t), t.Context()
	b := openURL(t, u)
	open := func(keys ...byte) *engine.Engine {
		o := engine.Options{Limits: store.Limits{Timeout: time.Minute}}
		for _, n := range keys {
			key, err := engine.AES(bytes.Repeat([]byte{n}, 32))
			require.NoError(t, err)
			o.Ciphers = append(o.Ciphers, key)
		}
		e, err := engine.Open(ctx, u, o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	}
	const n = 250 // more than a page
	for i := range n {
		scope, e := fmt.Sprint(i%2), journal.Entry{Edits: []*journal.Record{}}
		e.Rev = id(byte(i + 1))
		w := journal.Write{ID: id(byte(i + 1)), Conversation: id(byte(i%3 + 1)), Entry: e}
		_, err := open(1).Journal().Put(ctx, scope, []journal.Write{w})
		require.NoError(t, err)
		_, err = store.Keep(ctx, open(1).Archive(scope), store.Content{Data: fmt.Sprint("content ", i)})
		require.NoError(t, err)
	}
	h := open(1).Archive("1").Handle(store.Content{Data: "content 7"}.Hash())
	require.NoError(t, damage(b, redisstore.Keys(b, "1")+"b:"+h.String(), "d"))
	before, err := b.List(ctx)
	require.NoError(t, err)
	done, err := open(2, 1).Reseal(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, engine.Resealed{Rows: 2 * n, Written: 2*n - 1, Unread: 1}, done)
	done, err = open(2).Reseal(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, engine.Resealed{Rows: 2 * n, Unread: 1}, done)
	after, err := b.List(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after, "bytes and times of last use are as before")
	found, err := open(2).Journal().Find(ctx, "1", message.ID{}, []message.ID{id(8)})
	require.NoError(t, err)
	require.Equal(t, id(8), found.Entries[0].Rev)
}
