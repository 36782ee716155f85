package redisstore_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/store/redisstore"
)

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
	first := open(1)
	for i := range n {
		scope, e := fmt.Sprint(i%2), journal.Entry{Rev: id(byte(i + 1)), Edits: []*journal.Record{}}
		_, err := first.Journal().Put(ctx, scope, []journal.Write{{ID: e.Rev, Conversation: id(byte(i%3 + 1)), Entry: e}})
		require.NoError(t, err)
		_, err = store.Keep(ctx, first.Archive(scope), store.Content{Data: fmt.Sprint("content ", i)})
		require.NoError(t, err)
	}
	h := first.Archive("1").Handle(store.Content{Data: "content 7"}.Hash())
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
