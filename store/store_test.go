package store_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// scopes is what Memory and Dir have in common.
type scopes interface {
	store.Store
	Scope(name string) store.Store
	Delete(ctx context.Context, scope string, conversations ...message.ID) error
}

var (
	_ scopes = (*store.Memory)(nil)
	_ scopes = (*store.Dir)(nil)
)

// each runs a test with every store. open returns an empty one.
func each(t *testing.T, test func(t *testing.T, open func() scopes)) {
	t.Helper()
	t.Run("Memory", func(t *testing.T) {
		t.Parallel()
		test(t, func() scopes { return store.NewMemory(0) })
	})
	t.Run("Dir", func(t *testing.T) {
		t.Parallel()
		test(t, func() scopes { return openDir(t, t.TempDir()) })
	})
}

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
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		_, err := store.Keep(t.Context(), s, store.Content{Type: strings.Repeat("a", 1025)})
		require.EqualError(t, err, "store: put: the content's type has 1025 bytes, want at most 1024")
		huge := make([]byte, 256<<20+1) // memory that nobody looks at takes no room
		_, err = store.Keep(t.Context(), s, store.Content{Data: unsafe.String(&huge[0], len(huge))})
		require.ErrorContains(t, err, "content too large")
		require.EqualError(t, err, "store: put: content too large: 268435457 bytes, want at most 268435456")
	})
}

// Whatever the contents, scopes and order, each store behaves as a map.
func TestAsAMap(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		rapid.Check(t, func(t *rapid.T) {
			s := open()
			type key struct {
				scope string
				h     store.Handle
			}
			kept := map[key]store.Content{}
			scope := rapid.SampledFrom([]string{"", "a", "b"})
			content := rapid.Custom(func(t *rapid.T) store.Content {
				return store.Content{
					Type: rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, "type"),
					Data: string(rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")),
				}
			})
			for range rapid.IntRange(1, 8).Draw(t, "steps") {
				in := scope.Draw(t, "scope")
				if rapid.IntRange(0, 4).Draw(t, "0 deletes") == 0 {
					require.NoError(t, s.Delete(context.Background(), in))
					maps.DeleteFunc(kept, func(k key, _ store.Content) bool { return k.scope == in })
				} else {
					c := content.Draw(t, "content")
					kept[key{in, put(t, s.Scope(in), c)}] = c
				}
				for k, want := range kept {
					for _, in := range []string{"", "a", "b"} {
						got, err := s.Scope(in).Get(context.Background(), k.h)
						if in != k.scope {
							require.ErrorIs(t, err, store.ErrNotFound)
							continue
						}
						require.NoError(t, err)
						require.Equal(t, want, got)
					}
				}
			}
		})
	})
}
