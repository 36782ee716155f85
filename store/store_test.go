package store_test

import (
	"context"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/store"
)

func openDir(tb testing.TB, path string) *store.Dir {
	tb.Helper()
	d, err := store.OpenDir(path)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, d.Close()) })
	return d
}

func put(t require.TestingT, s store.Store, c store.Content) store.Handle {
	h, err := store.Keep(context.Background(), s, c)
	require.NoError(t, err)
	return h
}

func TestContentThatNoStoreTakes(t *testing.T) {
	t.Parallel()
	for _, s := range []store.Store{store.NewMemory(0), openDir(t, t.TempDir())} {
		_, err := store.Keep(t.Context(), s, store.Content{Type: strings.Repeat("a", 1025)})
		require.EqualError(t, err, "store: put: the content's type has 1025 bytes, want at most 1024")
		huge := make([]byte, 256<<20+1) // memory that nobody looks at takes no room
		_, err = store.Keep(t.Context(), s, store.Content{Data: unsafe.String(&huge[0], len(huge))})
		require.EqualError(t, err, "store: put: content too large: 268435457 bytes, want at most 268435456")
	}
}
