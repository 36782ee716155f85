package archived_test

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

func handleOf(c store.Content) store.Handle { return store.HandleIn(nil, "", c.Hash()) }

// In finds what Placeholder writes, in both forms.
func TestIn(t *testing.T) {
	t.Parallel()
	h := handleOf(store.Content{Data: "x"})
	const letters = "recall "
	for _, text := range []string{"[cleared]", "[cleared: out of room]", "[It was left out.]", "[a: b] (gone)", "cleared", ""} {
		got := store.Placeholder(text, h)
		require.Equal(t, []store.Handle{h}, archived.In(got))

		hashed, found := archived.Hashed(got)
		require.Equal(t, strings.Replace(got, h.String(), "hash="+hex.EncodeToString([]byte(h.String())), 1), hashed)
		require.Equal(t, []store.Handle{h}, found)
		require.Equal(t, []store.Handle{h}, archived.In(hashed))
		require.Equal(t, got, archived.Unhashed(hashed))
		again, found := archived.Hashed(hashed)
		require.Equal(t, hashed, again)
		require.Equal(t, []store.Handle{h}, found)
	}
	two := store.Placeholder("[a]", h) + " recall abc " + store.Placeholder("b", h)
	require.Equal(t, []store.Handle{h, h}, archived.In(two), "what is no handle does not count")
	for n := range len(letters + h.String()) {
		require.Empty(t, archived.In((letters + h.String())[:n]), "a text that was cut off")
	}
	for i := range 100 { // which have all letters among them
		h := handleOf(store.Content{Data: strconv.Itoa(i)})
		require.Equal(t, []store.Handle{h}, archived.In(store.Placeholder("[cleared]", h)))
	}
}

// A hash is the hexadecimal form of a handle that could have been made, and nothing else.
func TestFromHash(t *testing.T) {
	t.Parallel()
	h := handleOf(store.Content{Data: "x"})
	require.Len(t, archived.Hash(h), 24)
	require.Equal(t, h, archived.FromHash(archived.Hash(h)))
	require.Equal(t, h, archived.FromHash("hash="+archived.Hash(h)))
	require.Empty(t, archived.Hash(store.Handle{}))
	wrong := []byte(h.String())
	wrong[0] = 'a' + (wrong[0]-'a'+1)%26
	for _, text := range []string{
		"", "hash=", h.String(), archived.Hash(h)[:23], archived.Hash(h)[:22], archived.Hash(h) + "61", hex.EncodeToString(wrong),
		"hash=hash=" + archived.Hash(h), strings.Repeat("00", 12), strings.Repeat("zz", 12),
	} {
		require.Zero(t, archived.FromHash(text), text)
		require.Empty(t, archived.In("recall "+text[:min(len(text), 29)]+"x"), text)
	}
	const plain = "recall it, recall hash=12, recall abcdefghijkl, hash=" // no handle
	text, found := archived.Hashed(plain)
	require.Equal(t, plain, text)
	require.Equal(t, plain, archived.Unhashed(plain))
	require.Empty(t, found)
}

// Asked sees what a call of the recall tool asks for, also where an agent has put
// that into the one text that it gives to tools.
func TestAsked(t *testing.T) {
	t.Parallel()
	h := handleOf(store.Content{Data: "a"})
	for arguments, asks := range map[string]bool{
		`{"handle":"reocvrpknqqn"}`:                             true,
		`{"handle":"reocvrpknqqn","from":3}`:                    true,
		`{"__arg1":"reocvrpknqqn"}`:                             true,
		`{"handle":"72656f637672706b6e71716e"}`:                 true,
		`{"handle":"hash=72656f637672706b6e71716e"}`:            true,
		`{"__arg1":"hash=72656f637672706b6e71716e"}`:            true,
		`{"handle":"REOCVRPKNQQN"}`:                             true,
		`{"handle":"recall reocvrpknqqn"}`:                      true,
		`{"handle":"Recall hash=72656F637672706B6E71716E"}`:     true,
		`{"__arg1":"recall reocvrpknqqn"}`:                      true,
		`{"handle":"recallreocvrpknqqn"}`:                       false,
		`{"handle":"recall"}`:                                   false,
		`{"handle":"72656f637672706b6e71716f"}`:                 false,
		`{"__arg1":"{\"handle\":\"reocvrpknqqn\",\"from\":3}"}`: true,
		`{"__arg1":"reocvrpknqqn","from":"3"}`:                  false,
		`{"__arg1":"{\"__arg1\":\"reocvrpknqqn\"}"}`:            false,
		`{"__arg1":"sjvmlcvlrtia"}`:                             false,
		`{"handle":"mistyped"}`:                                 false,
		`{"query":"reocvrpknqqn"}`:                              false,
		`{"handle":"reocvrpknqqn","depth":3}`:                   false,
		`{"cleared":"recall reocvrpknqqn"}`:                     false,
		`{"__arg1":3}`:                                          false,
		`{}`:                                                    false,
		`reocvrpknqqn`:                                          false,
		``:                                                      false,
	} {
		want := store.Handle{}
		if asks {
			want = h
		}
		require.Equal(t, want, archived.Asked(message.ToolCall{Name: store.RecallTool, Arguments: arguments}), arguments)
		require.Zero(t, archived.Asked(message.ToolCall{Name: "look", Arguments: arguments}), "another tool asks for nothing")
	}
}
