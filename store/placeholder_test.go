package store_test

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	h := store.HandleOf("", store.Content{Data: "x"})
	const letters = "recall "
	for text, want := range map[string]string{
		"[cleared]":              "[cleared: " + letters + h.String() + "]",
		"[cleared: out of room]": "[cleared: out of room; " + letters + h.String() + "]",
		"[It was left out.]":     "[It was left out. To read it: " + letters + h.String() + "]",
		"[Note: it is gone.]":    "[Note: it is gone. To read it: " + letters + h.String() + "]",
		"[a: b] (gone)":          "[a: b] (gone) [" + letters + h.String() + "]",
		"cleared":                "cleared [" + letters + h.String() + "]",
		"":                       "[" + letters + h.String() + "]",
	} {
		got := store.Placeholder(text, h)
		require.Equal(t, want, got)
		require.Equal(t, []store.Handle{h}, store.HandlesIn(got))
		require.Equal(t, text, store.Placeholder(text, store.Handle{}), "no handle, nothing to say")

		hashed, found := store.Hashed(got)
		require.Equal(t, strings.Replace(got, h.String(), "hash="+hex.EncodeToString([]byte(h.String())), 1), hashed)
		require.Equal(t, []store.Handle{h}, found)
		require.Equal(t, []store.Handle{h}, store.HandlesIn(hashed))
		require.Equal(t, got, store.Unhashed(hashed))
		again, found := store.Hashed(hashed)
		require.Equal(t, hashed, again)
		require.Equal(t, []store.Handle{h}, found)
	}
	two := store.Placeholder("[a]", h) + " recall abc " + store.Placeholder("b", h)
	require.Equal(t, []store.Handle{h, h}, store.HandlesIn(two), "what is no handle does not count")
	for n := range len(letters + h.String()) {
		require.Empty(t, store.HandlesIn((letters + h.String())[:n]), "a text that was cut off")
	}
	for i := range 100 { // which have all letters among them
		h := store.HandleOf("", store.Content{Data: strconv.Itoa(i)})
		require.Equal(t, []store.Handle{h}, store.HandlesIn(store.Placeholder("[cleared]", h)))
	}
}

// A hash is the hexadecimal form of a handle that could have been made, and nothing else.
func TestFromHash(t *testing.T) {
	t.Parallel()
	h := store.HandleOf("", store.Content{Data: "x"})
	require.Len(t, h.Hash(), 24)
	require.Equal(t, h, store.FromHash(h.Hash()))
	require.Equal(t, h, store.FromHash("hash="+h.Hash()))
	require.Empty(t, store.Handle{}.Hash())
	wrong := []byte(h.String())
	wrong[0] = 'a' + (wrong[0]-'a'+1)%26
	for _, text := range []string{
		"", "hash=", h.String(), h.Hash()[:23], h.Hash()[:22], h.Hash() + "61", hex.EncodeToString(wrong),
		"hash=hash=" + h.Hash(), strings.Repeat("00", 12), strings.Repeat("zz", 12),
	} {
		require.Zero(t, store.FromHash(text), text)
		require.Empty(t, store.HandlesIn("recall "+text[:min(len(text), 29)]+"x"), text)
	}
	const plain = "recall it, recall hash=12, recall abcdefghijkl, hash=" // no handle
	text, found := store.Hashed(plain)
	require.Equal(t, plain, text)
	require.Equal(t, plain, store.Unhashed(plain))
	require.Empty(t, found)
}

// Asked sees what a call of the recall tool asks for, also where an agent has put
// that into the one text that it gives to tools.
func TestAsked(t *testing.T) {
	t.Parallel()
	h := store.HandleOf("", store.Content{Data: "a"})
	for arguments, asks := range map[string]bool{
		`{"handle":"reocvrpknqqn"}`:                             true,
		`{"handle":"reocvrpknqqn","from":3}`:                    true,
		`{"__arg1":"reocvrpknqqn"}`:                             true,
		`{"handle":"72656f637672706b6e71716e"}`:                 true,
		`{"handle":"hash=72656f637672706b6e71716e"}`:            true,
		`{"__arg1":"hash=72656f637672706b6e71716e"}`:            true,
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
		require.Equal(t, want, store.Asked(message.ToolCall{Name: store.RecallTool, Arguments: arguments}), arguments)
		require.Zero(t, store.Asked(message.ToolCall{Name: "look", Arguments: arguments}), "another tool asks for nothing")
	}
}
