package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
		require.Equal(t, text, store.Placeholder(text, store.Handle{}), "no handle, nothing to say")
	}
}
