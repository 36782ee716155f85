package redisstore_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

// A server that is full, or a replica, refuses all writes, also those that renew.
func TestReadsGoOnWithoutWrites(t *testing.T) {
	t.Parallel()
	u := address(t)
	b := openURL(t, u)
	put(t, b, hour, engine.Write{ID: id(1), Row: row(11, 0)})
	putContents(t, b, hour, 100, "a")
	age(t, b, "s", 40*time.Minute)

	user := "laconic-test-" + rand.Text()
	c := redisstore.Client(b)
	require.NoError(t, c.ACLSetUser(t.Context(), user, "on", ">reader", "~*", "+@all", "-@write").Err())
	defer c.ACLDelUser(context.Background(), user)
	address, err := url.Parse(u)
	require.NoError(t, err)
	address.User = url.UserPassword(user, "reader")
	reader, err := redisstore.Open(t.Context(), address.String())
	require.NoError(t, err)
	defer reader.Close() //nolint:errcheck // of a test
	at, rows := find(t, reader, hour, 1)
	require.Zero(t, at)
	require.Equal(t, []engine.Row{row(11, 0)}, rows)
	require.True(t, has(t, reader, hour, "a"))
	_, err = reader.Put(t.Context(), "s", []engine.Write{{ID: message.ID{9}, Row: row(12, 0)}}, hour)
	require.ErrorContains(t, err, "redisstore: put: ")
	winner, err := reader.Put(t.Context(), "s", []engine.Write{{ID: id(1), Row: row(12, 0)}}, hour)
	require.NoError(t, err, "it learns of the entry that is there")
	require.Equal(t, row(11, 0), winner)
	age(t, b, "s", 30*time.Minute)
	at, _ = find(t, reader, hour, 1)
	require.Equal(t, -1, at, "nothing was renewed")
}
