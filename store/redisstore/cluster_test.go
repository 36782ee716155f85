package redisstore_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
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

func TestClusterListsAndDeletesInAllParts(t *testing.T) {
	t.Parallel()
	b, prefix := openCluster(t)
	const many = 60
	fill(t, b, forever, many)
	first, _ := numbered(0)
	require.NoError(t, b.Delete(t.Context(), "s", first))
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
