package redisstore_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

// start runs a redis-server of its own, and returns host and port. It is stopped after the test.
func start(t *testing.T, args ...string) string {
	t.Helper()
	address(t) // skips the test if there is no Redis
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not in PATH")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := l.Addr().String()
	require.NoError(t, l.Close())
	_, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	folder := t.TempDir()
	config := filepath.Join(folder, "redis.conf")
	require.NoError(t, os.WriteFile(config, []byte("bind 127.0.0.1\nport "+port+"\nsave \"\"\ndir "+folder+"\n"), 0o600))
	cmd := exec.CommandContext(context.Background(), program, append([]string{config}, args...)...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", at)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 30*time.Second, 20*time.Millisecond)
	return at
}

// client returns a client that is closed after the test.
func client(t *testing.T, at string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: at, DisableIdentity: true})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestOwnClient(t *testing.T) {
	t.Parallel()
	c := client(t, start(t))
	b, err := redisstore.New(t.Context(), c, "own")
	require.NoError(t, err)
	e, err := engine.New(b, engine.Options{Limits: store.Limits{Timeout: time.Minute}})
	require.NoError(t, err)
	h, err := store.Keep(t.Context(), e.Archive("s"), store.Content{Data: "text"})
	require.NoError(t, err)
	_, err = e.Archive("s").Get(t.Context(), h)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.NoError(t, c.Ping(t.Context()).Err(), "the client is left open")
	_, err = redisstore.New(t.Context(), c, "a{b}")
	require.ErrorContains(t, err, "the prefix contains one of")
}

// TestNodeOfACluster opens a cluster by the address of one node.
func TestNodeOfACluster(t *testing.T) {
	t.Parallel()
	at := start(t, "--cluster-enabled", "yes")
	c := client(t, at)
	slots := make([]int, 1<<14)
	for i := range slots {
		slots[i] = i
	}
	require.NoError(t, c.ClusterAddSlots(t.Context(), slots...).Err())
	require.Eventually(t, func() bool { return c.Set(t.Context(), "k", 1, 0).Err() == nil }, 30*time.Second, 50*time.Millisecond)

	e, err := engine.Open(t.Context(), "redis://"+at, engine.Options{})
	require.NoError(t, err)
	require.NoError(t, e.Ping(t.Context()))
	require.NoError(t, e.Close())
	_, err = engine.Open(t.Context(), "redis://"+at+"/2", engine.Options{})
	require.ErrorContains(t, err, "SELECT is not allowed in cluster mode")
	_, err = redisstore.New(t.Context(), c, "")
	require.ErrorContains(t, err, "want a client by redis.NewClusterClient")
}

// TestSentinel opens the master that a Sentinel names.
func TestSentinel(t *testing.T) {
	t.Parallel()
	master := start(t)
	_, port, err := net.SplitHostPort(master)
	require.NoError(t, err)
	sentinel := start(t, "--sentinel", "monitor", "mymaster", "127.0.0.1", port, "1")
	e, err := engine.Open(t.Context(), "redis://"+sentinel+"?master_name=mymaster", engine.Options{})
	require.NoError(t, err)
	require.NoError(t, e.Ping(t.Context()))
	require.NoError(t, e.Close())
	keys, err := client(t, master).Keys(t.Context(), "laconic:*").Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys, "it is the master that was opened")
}
