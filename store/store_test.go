package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
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

func TestMemoryForgetsTheOldest(t *testing.T) {
	t.Parallel()
	m := store.NewMemory(10_000)
	content := func(i int) store.Content { return store.Content{Data: strings.Repeat(strconv.Itoa(i), 2_000)} }
	var handles []store.Handle
	for i := range 4 {
		handles = append(handles, put(t, m, content(i)))
	}
	require.Equal(t, 4*2_300, store.BytesOf(m))
	has := func() (kept []int) {
		for i, h := range handles {
			if _, err := m.Get(t.Context(), h); err == nil {
				kept = append(kept, i)
			} else {
				require.ErrorIs(t, err, store.ErrNotFound, "what was given up is not found")
			}
		}
		return kept
	}
	require.Equal(t, []int{0, 1, 2, 3}, has())

	put(t, m, content(0)) // put again
	_, err := m.Get(t.Context(), handles[1])
	require.NoError(t, err) // read
	handles = append(handles, put(t, m.Scope("a"), content(4)))
	_, err = m.Get(t.Context(), handles[2])
	require.ErrorIs(t, err, store.ErrNotFound, "2 was neither put nor read for longest")
	require.Equal(t, []int{0, 1, 3}, has(), "4 is in another scope")

	handles = append(handles, put(t, m, store.Content{Data: strings.Repeat("5", 9_700)}))
	require.Equal(t, []int{5}, has(), "one that fills the memory drives out the others")
	require.Equal(t, 10_000, store.BytesOf(m))
	_, err = store.Keep(t.Context(), m, store.Content{Data: strings.Repeat("6", 9_701)})
	require.ErrorContains(t, err, "content too large")
	require.EqualError(t, err, "store: put: content too large: 10001 bytes, and this memory keeps 10000")
	require.Equal(t, []int{5}, has(), "what is too large drives out nothing")

	require.NoError(t, m.Delete(t.Context(), ""))
	require.Zero(t, store.BytesOf(m))
}

// What a content takes beside its data counts as well: contents without any cannot
// fill the memory.
func TestMemoryCountsAllThatItKeeps(t *testing.T) {
	t.Parallel()
	m := store.NewMemory(5_000)
	put(t, m, store.Content{})
	empty := store.BytesOf(m)
	require.Positive(t, empty)
	put(t, m.Scope(strings.Repeat("s", 700)), store.Content{Type: strings.Repeat("t", 900)})
	require.Equal(t, 2*empty+700+900, store.BytesOf(m))
	for i := range 100 {
		put(t, m.Scope(strconv.Itoa(i)), store.Content{})
		require.LessOrEqual(t, store.BytesOf(m), 5_000)
	}
}

// engine is a store that can be given a fault.
type engine struct {
	*store.Memory

	calls atomic.Int32
	fault func() error
}

func (e *engine) step() error {
	e.calls.Add(1)
	if e.fault == nil {
		return nil
	}
	return e.fault()
}

func (e *engine) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	if err := e.step(); err != nil {
		return err
	}
	return e.Memory.Put(ctx, conversation, contents)
}

func (e *engine) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	if err := e.step(); err != nil {
		return store.Content{}, err
	}
	return e.Memory.Get(ctx, h)
}

func TestGuardIsAStore(t *testing.T) {
	t.Parallel()
	middlewaretest.Archive(t, func(*testing.T) store.Store {
		return store.Guard(store.NewMemory(0), store.Limits{Timeout: time.Minute})
	})
	require.PanicsWithValue(t, "store: Guard: a limit is negative in {Timeout:0s Failures:-1 Pause:0s}, want 0 for the default, or more",
		func() { store.Guard(store.NewMemory(0), store.Limits{Failures: -1}) })
}

func TestGuardGivesUp(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		fault func() error
		want  string
		takes time.Duration // of the first three calls
	}{
		"hangs":  {func() error { <-time.After(time.Hour); return nil }, "no answer within 1s: context deadline exceeded", 3 * time.Second},
		"down":   {func() error { return errors.New("connection refused") }, "connection refused", 0},
		"panics": {func() error { panic("no connection") }, "panicked: no connection\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &engine{Memory: store.NewMemory(0)}
				s := store.Guard(e, store.Limits{})
				h := put(t, s, twin)
				e.calls.Store(0)
				e.fault = fault.fault
				start := time.Now()
				for range 10 {
					_, err := s.Get(t.Context(), h)
					require.ErrorContains(t, err, fault.want)
					_, err = store.Keep(t.Context(), s, twin)
					require.ErrorContains(t, err, fault.want)
				}
				require.Equal(t, fault.takes, time.Since(start))
				require.Equal(t, int32(3), e.calls.Load(), "the other calls are not made")
				_, err := s.Get(t.Context(), h)
				require.ErrorContains(t, err, "not called for 1s, since 3 calls in a row have failed; the last one: ")

				<-time.After(5 * time.Second)
				_, err = s.Get(t.Context(), h)
				require.ErrorContains(t, err, fault.want, "one call tries it again")
				require.Equal(t, int32(4), e.calls.Load())
				<-time.After(2 * time.Hour) // until the calls that hang have returned
				e.fault = nil
				c, err := s.Get(t.Context(), h)
				require.NoError(t, err)
				same(t, twin, c)
				require.Equal(t, h, put(t, s, twin), "all calls are made again")
			})
		})
	}
}

// An answer of a store that works is no failure.
func TestGuardKnowsAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []error{store.ErrNotFound, store.ErrConflict, store.ErrDamaged} {
		e := &engine{Memory: store.NewMemory(0), fault: func() error { return fmt.Errorf("get: %w", answer) }}
		s := store.Guard(e, store.Limits{Failures: 1, Pause: time.Hour})
		for range 5 {
			_, err := s.Get(t.Context(), store.HandleOf("", twin))
			require.EqualError(t, err, "get: "+answer.Error())
		}
		require.Equal(t, int32(5), e.calls.Load())
	}
}

var image = message.Media{Type: "image/png", Data: "\x89PNG", Name: "a plan.png"}

func TestNameOfParts(t *testing.T) {
	t.Parallel()
	pieces := func(parts ...message.Part) (all []message.Part) {
		for _, p := range parts {
			res := message.ToolResult{CallID: "c1", Name: "look"}
			if text, ok := p.(message.Text); ok {
				res.Text = text.Text
			} else {
				res.Content = p
			}
			all = append(all, res)
		}
		return all
	}
	imageHandle := store.HandleOf("", store.Content{Type: image.Type, Data: image.Data}).String()
	for name, c := range map[string]struct {
		parts []message.Part
		want  store.Content
	}{
		"text":                    {[]message.Part{message.Text{Text: "a\r\n\x00"}}, store.Content{Data: "a\r\n\x00"}},
		"thinking":                {[]message.Part{message.Thinking{Text: "hm", Signature: "s"}}, store.Content{Data: "hm"}},
		"call":                    {[]message.Part{message.ToolCall{ID: "c1", Name: "write", Arguments: `{"a": 1}`}}, store.Content{Data: `{"a": 1}`}},
		"result":                  {pieces(message.Text{Text: "42"}), store.Content{Data: "42"}},
		"image":                   {[]message.Part{image}, store.Content{Type: "image/png", Data: "\x89PNG"}},
		"result that is an image": {pieces(image), store.Content{Type: "image/png", Data: "\x89PNG"}},
		"opaque":                  {[]message.Part{message.Opaque{Kind: "search", Data: `{"q": 1}`}}, store.Content{Data: `{"q": 1}`}},
		"image elsewhere": {
			[]message.Part{message.Media{Type: "image/png", URL: "https://example.com/a.png"}},
			store.Content{Data: "[image/png: https://example.com/a.png]"},
		},
		"nothing": {nil, store.Content{}},
		"texts":   {[]message.Part{message.Text{Text: "a"}, message.Text{Text: "b"}}, store.Content{Data: "a\n\nb"}},
		"result of several pieces": {
			pieces(message.Text{Text: "before"}, image, message.Opaque{Kind: "k", Data: "d"}, message.Text{Text: "behind"}),
			store.Content{Data: "[result look]\n\nbefore\n\n[image/png a plan.png, 4 bytes: recall " + imageHandle + "]\n\n[k]\nd\n\nbehind"},
		},
		"result with a text beside its image": {
			[]message.Part{message.ToolResult{CallID: "c1", Name: "look", Text: "as asked", Content: image}},
			store.Content{Data: "[result look]\n\nas asked\n\n[image/png a plan.png, 4 bytes: recall " + imageHandle + "]"},
		},
		"two results": {
			[]message.Part{message.ToolResult{CallID: "c1", Text: "a"}, message.ToolResult{CallID: "c2", Name: "b", Text: "no", Error: true}},
			store.Content{Data: "[result]\n\na\n\n[error b]\n\nno"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := store.NewMemory(0)
			contents, err := store.Internals(inside.Key{}).Name(s, message.Message{Parts: c.parts})
			require.NoError(t, err)
			h := putAll(t, s, contents)
			got, err := s.Get(t.Context(), h)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			again, err := store.Internals(inside.Key{}).Name(s, message.Message{Parts: c.parts})
			require.NoError(t, err)
			require.Equal(t, h, putAll(t, s, again))
		})
	}
}

// What stands in a transcript can be read as well, down to the bytes of a
// picture.
func TestNameOfMessages(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	contents, err := store.Internals(inside.Key{}).Name(s, []message.Message{
		{Role: message.RoleUser, Name: "ann", Parts: []message.Part{message.Text{Text: "look"}, image}},
		message.Assistant(
			message.Thinking{Text: "hm"}, message.Thinking{Signature: "sealed"},
			message.ToolCall{ID: "c1", Name: "look", Arguments: `{"at": "plan"}`},
		),
		message.Result("c1", "look", "a house"),
	}...)
	require.NoError(t, err)
	require.Len(t, contents, 2)
	c, err := s.Get(t.Context(), putAll(t, s, contents))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(c.Data, "recall ")
	handle, _, _ := strings.Cut(rest, "]")
	require.Equal(t, strings.Join([]string{
		"[user] ann", "look", "[image/png a plan.png, 4 bytes: recall " + handle + "]",
		"[assistant]", "[thinking]\nhm", "[calls look]\n{\"at\": \"plan\"}",
		"[tool]", "[result look]", "a house",
	}, "\n\n"), c.Data)
	parsed, err := store.ParseHandle(handle)
	require.NoError(t, err)
	c, err = s.Get(t.Context(), parsed)
	require.NoError(t, err)
	require.Equal(t, store.Content{Type: image.Type, Data: image.Data}, c)
}

// putAll puts contents and returns the handle of the last.
func putAll(t require.TestingT, s store.Store, contents []store.Named) store.Handle {
	require.NoError(t, s.Put(context.Background(), message.ID{}, contents))
	return contents[len(contents)-1].Handle
}
