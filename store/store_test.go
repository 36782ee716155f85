package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
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

// same requires equal contents without printing megabytes if they are not.
func same(t require.TestingT, want, got store.Content) {
	if got != want {
		require.Failf(t, "not the content byte for byte", "want %.100q, got %.100q", want, got)
	}
}

func put(t require.TestingT, s store.Store, c store.Content) store.Handle {
	h, err := store.Keep(context.Background(), s, c)
	require.NoError(t, err)
	return h
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		for name, c := range map[string]store.Content{
			"empty":          {},
			"empty image":    {Type: "image/png"},
			"text":           {Data: "a\nb\n"},
			"binary":         {Type: "image/png", Data: "\x89PNG\r\n\x1a\n\x00\xff"},
			"control":        {Data: "\x1b[31mred\x1b[0m\r\x00\a\u0085\u202e"},
			"no UTF-8":       {Data: "\xff\xfe\xc3\x28"},
			"like a file":    {Data: "laconic content 1 \"\"\nx"},
			"odd type":       {Type: "a\n\"b\"\x00\xff/../..", Data: "x"},
			"longest type":   {Type: strings.Repeat("\x00", 1024), Data: "x"},
			"several chunks": {Data: strings.Repeat("0123456789abcde\n", 200_000)},
		} {
			t.Run(name, func(t *testing.T) {
				s := open()
				h := put(t, s, c)
				require.Equal(t, store.HandleOf("", c), h, "the handle is that of the content")
				require.Equal(t, h, put(t, s, c), "the same content has the same handle")
				got, err := s.Get(t.Context(), h)
				require.NoError(t, err)
				same(t, c, got)
			})
		}
	})
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		put(t, s, twin)
		for _, h := range []store.Handle{store.HandleOf("", store.Content{Data: "never"}), {}} {
			_, err := s.Get(t.Context(), h)
			require.ErrorIs(t, err, store.ErrNotFound)
			require.ErrorContains(t, err, "store: get "+h.String())
		}
	})
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

func TestCanceled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		h := put(t, s, twin)
		gone := errors.New("the caller has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		_, err := store.Keep(ctx, s, store.Content{Data: "x"})
		require.ErrorIs(t, err, context.Canceled)
		_, err = s.Get(ctx, h)
		require.ErrorIs(t, err, context.Canceled)
		_, err = s.Get(t.Context(), store.HandleOf("", store.Content{Data: "x"}))
		require.ErrorIs(t, err, store.ErrNotFound, "a call that was canceled keeps nothing")
	})
}

// Of two contents with the same handle, the first is kept and the second is an error
// that names the handle.
func TestConflict(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		for _, c := range []struct{ first, second store.Content }{{twin, other}, {other, twin}} {
			h := put(t, s, c.first)
			for range 2 {
				_, err := store.Keep(t.Context(), s, c.second)
				require.ErrorIs(t, err, store.ErrConflict)
				require.EqualError(t, err, "store: put: lmciwdehphqc: another content has this handle")
				require.Equal(t, h, put(t, s, c.first))
				got, err := s.Get(t.Context(), h)
				require.NoError(t, err)
				require.Equal(t, c.first, got)
			}
			require.NotEqual(t, h, put(t, s.Scope("acme"), c.second), "another scope has another handle")
			require.NoError(t, s.Delete(t.Context(), ""))
		}
	})
}

func TestHandleIsWhatPutReturns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		for _, in := range []store.Store{s, s.Scope("acme")} {
			for _, c := range []store.Content{{}, {Data: "x"}, {Type: "image/png", Data: "x"}} {
				told := in.Handle(c.Hash())
				_, err := in.Get(t.Context(), told)
				require.ErrorIs(t, err, store.ErrNotFound, "to tell a handle keeps nothing")
				require.Equal(t, told, put(t, in, c))
			}
		}
		require.NotEqual(t, s.Handle(store.Content{Data: "x"}.Hash()), s.Scope("acme").Handle(store.Content{Data: "x"}.Hash()))
	})
}

func TestScopes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		names := []string{"", "acme", "acme ", "ACME", "../acme", "a/b\x00"}
		handles := map[store.Handle]string{}
		for _, name := range names {
			h := put(t, s.Scope(name), twin)
			require.NotContains(t, handles, h, "the same content has another handle in each scope")
			handles[h] = name
		}
		for h, of := range handles {
			for _, name := range names {
				got, err := s.Scope(name).Get(t.Context(), h)
				if of != name {
					require.ErrorIs(t, err, store.ErrNotFound, "scope %q must not read what is in %q", name, of)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, twin, got)
			}
		}
		require.NoError(t, s.Delete(t.Context(), "acme"))
		require.NoError(t, s.Delete(t.Context(), "acme"), "there is nothing left to delete")
		require.NoError(t, s.Delete(t.Context(), "never used"))
		for h, of := range handles {
			_, err := s.Scope(of).Get(t.Context(), h)
			require.Equal(t, of == "acme", errors.Is(err, store.ErrNotFound), "scope %q after acme is deleted: %v", of, err)
		}
		require.Equal(t, "acme", handles[put(t, s.Scope("acme"), twin)], "a deleted scope can be used again")
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

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				for i := range 40 {
					c := store.Content{Data: strings.Repeat(fmt.Sprint((i+worker)%20), 3000)}
					h, err := store.Keep(context.Background(), s, c)
					if err != nil || h != store.HandleOf("", c) {
						t.Errorf("Put gave %v, %v", h, err)
						return
					}
					if got, err := s.Get(context.Background(), h); err != nil || got != c {
						t.Errorf("Get gave %.20q, %v, want %.20q", got, err, c)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}
