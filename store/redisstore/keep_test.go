package redisstore_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

var hour = engine.Bounds{TTL: time.Hour}

// age lets time go by for all keys of a scope.
func age(t *testing.T, b engine.Backend, scope string, d time.Duration) {
	t.Helper()
	ctx, c, p := t.Context(), redisstore.Client(b), redisstore.Keys(b, scope)
	members, err := c.ZRange(ctx, p+"x", 0, -1).Result()
	require.NoError(t, err)
	for _, m := range members {
		require.NoError(t, c.ZIncrBy(ctx, p+"x", -float64(d.Milliseconds()), m).Err())
	}
	for _, key := range allKeys(t, b) {
		if !strings.HasPrefix(key, p) {
			continue
		}
		left, err := c.PTTL(ctx, key).Result()
		require.NoError(t, err)
		if left > 0 {
			require.NoError(t, c.PExpire(ctx, key, left-d).Err())
		}
	}
}

func content(name string) engine.Content {
	return engine.Content{Handle: strings.Repeat(name, 12), Key: [32]byte{name[0]}, Data: []byte("text of content " + name)}
}

func putContents(t *testing.T, b engine.Backend, bounds engine.Bounds, conversation byte, names ...string) {
	t.Helper()
	var all []engine.Content
	for _, n := range names {
		all = append(all, content(n))
	}
	require.NoError(t, b.PutContents(t.Context(), "s", id(conversation), all, bounds))
}

func has(t *testing.T, b engine.Backend, bounds engine.Bounds, name string) bool {
	t.Helper()
	c, err := b.Get(t.Context(), "s", content(name).Handle, bounds)
	if err != nil {
		require.ErrorIs(t, err, store.ErrNotFound)
		return false
	}
	require.Equal(t, content(name), c)
	return true
}

func TestUnusedConversationsExpireAsAWhole(t *testing.T) {
	t.Parallel()
	b := open(t)
	put(t, b, hour, engine.Write{ID: id(1), Row: row(11, 0)})
	putContents(t, b, hour, 100, "a")
	age(t, b, "s", 40*time.Minute)
	find(t, b, hour, 1) // renews the entry, and the content with it
	age(t, b, "s", 20*time.Minute)
	put(t, b, hour, engine.Write{ID: id(2), Row: row(12, 11)}) // too, and earlier
	age(t, b, "s", 55*time.Minute)
	_, rows := find(t, b, hour, 1, 2)
	require.Equal(t, []engine.Row{row(12, 11), row(11, 0)}, rows, "what others build on stays as long as they do")
	require.True(t, has(t, b, hour, "a"))
	age(t, b, "s", 61*time.Minute)
	at, _ := find(t, b, hour, 1, 2)
	require.Equal(t, -1, at)
	require.False(t, has(t, b, hour, "a"))
	winner, err := b.Put(t.Context(), "s", []engine.Write{{ID: id(2), Over: id(11), Row: row(13, 11)}}, hour)
	require.NoError(t, err)
	require.Zero(t, winner, "a base that has expired cannot be built on")
	at, _ = find(t, b, hour, 1, 2)
	require.Equal(t, -1, at)
}

func TestGetRenewsAContentAndItsConversation(t *testing.T) {
	t.Parallel()
	b := open(t)
	put(t, b, hour, engine.Write{ID: id(1), Row: row(11, 0)})
	putContents(t, b, hour, 100, "a", "c")
	putContents(t, b, hour, 0, "b")
	for range 3 {
		age(t, b, "s", 40*time.Minute)
		require.True(t, has(t, b, hour, "a"))
		require.True(t, has(t, b, hour, "b"))
	}
	at, _ := find(t, b, hour, 1)
	require.Zero(t, at)
	require.True(t, has(t, b, hour, "c"), "all of a conversation expires together")
}

func TestAFullScopeSaysSo(t *testing.T) {
	t.Parallel()
	b := open(t)
	bounds := engine.Bounds{TTL: time.Hour, Limit: 1000}
	size := func(data []byte) int64 { return redisstore.Overhead + int64(len(data)) }
	put(t, b, bounds, engine.Write{ID: id(1), Row: row(11, 0)}, engine.Write{ID: id(2), Row: row(11, 0)})
	putContents(t, b, bounds, 100, "a", "b", "c")
	used := size(row(11, 0).Data) + 3*size(content("a").Data)
	var e *engine.FullError
	_, err := b.Put(t.Context(), "s", []engine.Write{{ID: id(2), Over: id(11), Row: row(12, 11)}}, bounds)
	require.ErrorAs(t, err, &e)
	require.Equal(t, &engine.FullError{Scope: "s", Use: used, Limit: 1000}, e)
	err = b.PutContents(t.Context(), "s", id(100), []engine.Content{content("d")}, bounds)
	require.ErrorAs(t, err, &e)
	put(t, b, bounds, engine.Write{ID: id(1), Row: row(11, 0)}) // nothing new
	putContents(t, b, bounds, 101, "a")
	winner, err := b.Put(t.Context(), "s", []engine.Write{{ID: id(1), Row: row(12, 0)}}, bounds)
	require.NoError(t, err, "who comes second learns of the first")
	require.Equal(t, row(11, 0), winner)
	_, err = b.Put(t.Context(), "other", []engine.Write{{ID: id(1), Row: row(12, 0)}}, bounds)
	require.NoError(t, err)

	age(t, b, "s", 61*time.Minute)
	other := row(12, 0)
	other.Conversation = id(101)
	put(t, b, bounds, engine.Write{ID: id(2), Row: other}) // what has expired makes room
	list, err := b.List(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, size(other.Data), list[0].Bytes)
}

func TestListAndVacuum(t *testing.T) {
	t.Parallel()
	b := open(t)
	put(t, b, hour, engine.Write{ID: id(1), Row: row(11, 0)}, engine.Write{ID: id(2), Row: row(12, 11)})
	putContents(t, b, hour, 100, "a", "b")
	age(t, b, "s", 10*time.Minute)
	putContents(t, b, hour, 7, "b")
	putContents(t, b, hour, 0, "c", "d")
	for n := range byte(250) { // more than a page
		r := row(n, 0)
		r.Conversation = id(n)
		_, err := b.Put(t.Context(), "many", []engine.Write{{ID: id(n), Row: r}}, hour)
		require.NoError(t, err)
	}
	list, err := b.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 253)
	some, err := b.List(t.Context(), "s", "nothing")
	require.NoError(t, err)
	require.Equal(t, list[250:], some)
	size := int64(redisstore.Overhead + len(content("a").Data))
	rows := 2 * int64(redisstore.Overhead+len(row(11, 0).Data))
	want := []engine.Usage{
		{Scope: "s", Conversation: id(7), Contents: 1, Bytes: size},
		{Scope: "s", Contents: 2, Bytes: 2 * size},
		{Scope: "s", Conversation: id(100), Entries: 2, Contents: 2, Bytes: rows + 2*size},
	}
	for i := range some {
		require.WithinDuration(t, time.Now(), some[i].Used, 20*time.Minute)
		some[i].Used = time.Time{}
	}
	require.ElementsMatch(t, want, some)

	removed, err := b.Vacuum(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Zero(t, removed)
	age(t, b, "s", 55*time.Minute)
	removed, err = b.Vacuum(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Equal(t, 3, removed, "two entries and a content; the other content belongs to a conversation that was used")
	age(t, b, "many", 61*time.Minute)
	age(t, b, "s", 61*time.Minute)
	removed, err = b.Vacuum(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Equal(t, 253, removed)
	require.Len(t, allKeys(t, b), 1, "the version")
}

// A server may remove a key before a script does so, since keys expire too.
func TestVacuumRemovesWhatBelongsToNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	put(t, b, forever, engine.Write{ID: id(1), Row: row(11, 0)}, engine.Write{ID: id(2), Row: row(12, 11)})
	putContents(t, b, forever, 0, "a")
	p := redisstore.Keys(b, "s")
	c := id(100)
	require.NoError(t, redisstore.Client(b).Unlink(t.Context(), p+"c:"+string(c[:]), p+"b:"+content("a").Handle).Err())
	at, _ := find(t, b, forever, 1, 2)
	require.Equal(t, -1, at)
	require.False(t, has(t, b, forever, "a"))
	_, err := b.Vacuum(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, allKeys(t, b), 1, "the version")
}

func TestDeleteOfAConversationLeavesNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	put(t, b, forever, engine.Write{ID: id(1), Row: row(11, 0)})
	putContents(t, b, forever, 100, "a", "b")
	putContents(t, b, forever, 7, "b")
	require.NoError(t, b.Delete(t.Context(), "s", id(100), id(99)))
	c, rev := id(100), id(11)
	require.Empty(t, remains(t, b, string(c[:]), string(rev[:]), string(row(11, 0).Data), string(content("a").Data), content("a").Handle))
	require.True(t, has(t, b, forever, "b"), "it belongs to another conversation")
}

func TestDeleteOfAScopeLeavesNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	for n := range byte(150) { // more than a script removes
		r := row(n, 0)
		r.Conversation = id(n)
		for _, scope := range []string{"s", "s2"} {
			_, err := b.Put(t.Context(), scope, []engine.Write{{ID: id(n), Row: r}}, hour)
			require.NoError(t, err)
		}
	}
	putContents(t, b, hour, 0, "a")
	putContents(t, b, hour, 5, "b")
	require.NoError(t, redisstore.Client(b).Set(t.Context(), redisstore.Keys(b, "s")+"stray", "x", 0).Err())
	require.NoError(t, b.Delete(t.Context(), "s"))
	require.Empty(t, remains(t, b, string(content("a").Data), content("a").Handle, "{s:"+base64.RawURLEncoding.EncodeToString([]byte("s"))+"}"))
	at, _, err := b.Find(t.Context(), "s2", message.ID{}, []message.ID{id(3)}, hour)
	require.NoError(t, err)
	require.Zero(t, at, "another scope keeps what it has")
	require.NoError(t, b.Delete(t.Context(), "s2"))
	require.Len(t, allKeys(t, b), 1, "the version")
}

// remains returns what is found of some texts in the keys of the test and their values.
func remains(t *testing.T, b engine.Backend, texts ...string) (found []string) {
	t.Helper()
	var all strings.Builder
	for _, key := range allKeys(t, b) {
		all.WriteString(key + "\n" + value(t, redisstore.Client(b), key) + "\n")
	}
	for _, s := range texts {
		for _, form := range []string{s, hex.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte(s))} {
			if strings.Contains(all.String(), form) {
				found = append(found, s)
			}
		}
	}
	return found
}

func value(t *testing.T, c redis.UniversalClient, key string) string {
	t.Helper()
	ctx := context.Background()
	kind, err := c.Type(ctx, key).Result()
	require.NoError(t, err)
	switch kind {
	case "hash":
		all, err := c.HGetAll(ctx, key).Result()
		require.NoError(t, err)
		return fmt.Sprint(all)
	case "zset":
		all, err := c.ZRange(ctx, key, 0, -1).Result()
		require.NoError(t, err)
		return fmt.Sprint(all)
	case "string":
		return c.Get(ctx, key).Val()
	}
	t.Fatalf("key %q has type %s", key, kind)
	return ""
}
