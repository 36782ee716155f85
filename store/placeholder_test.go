package store_test

import (
	"strconv"
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

// Asked sees what a call of the recall tool asks for, also where an agent has put
// that into the one text that it gives to tools.
func TestAsked(t *testing.T) {
	t.Parallel()
	h := store.HandleOf("", store.Content{Data: "a"})
	for arguments, asks := range map[string]bool{
		`{"handle":"reocvrpknqqn"}`:                             true,
		`{"handle":"reocvrpknqqn","from":3}`:                    true,
		`{"__arg1":"reocvrpknqqn"}`:                             true,
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
