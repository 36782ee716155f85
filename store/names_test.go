package store_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

func TestHandleIsWhatPutReturns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		for _, in := range []store.Store{s, s.Scope("acme")} {
			for _, c := range []store.Content{{}, {Data: "x"}, {Type: "image/png", Data: "x"}} {
				told := in.Handle(c)
				_, err := in.Get(t.Context(), told)
				require.ErrorIs(t, err, store.ErrNotFound, "to tell a handle keeps nothing")
				require.Equal(t, told, put(t, in, c))
			}
		}
		require.NotEqual(t, s.Handle(store.Content{Data: "x"}), s.Scope("acme").Handle(store.Content{Data: "x"}))
	})
}

func TestNamesLearn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		names := store.NamesOf(s)
		news, err := names.Learn(twin, put(t, s, twin))
		require.NoError(t, err)
		require.False(t, news, "it was foretold")
		longer := put(t, s, other)
		require.NotEqual(t, longer, names.Handle(other), "want two contents with the same letters")
		news, err = names.Learn(other, longer)
		require.NoError(t, err)
		require.True(t, news)
		require.Equal(t, longer, names.Handle(other))
		news, err = names.Learn(other, longer)
		require.NoError(t, err)
		require.False(t, news, "it is known by now")
		_, err = names.Learn(other, put(t, s, store.Content{Data: "x"}))
		require.ErrorContains(t, err, "want always the same")
	})
}

func TestNamedIsPutAsIfByTheStore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		for _, in := range []store.Store{s, s.Scope("acme")} {
			names := store.NamesOf(in)
			for _, c := range []store.Content{{}, twin, {Type: "image/png", Data: strings.Repeat("x", 10_000)}} {
				named := names.Name(c)
				require.Equal(t, in.Handle(c), named.Handle(), "what the store tells")
				require.Equal(t, c, named.Content())
				_, err := in.Get(t.Context(), named.Handle())
				require.ErrorIs(t, err, store.ErrNotFound, "to name a content keeps nothing")
				for range 2 {
					h, err := named.Put(t.Context())
					require.NoError(t, err)
					require.Equal(t, named.Handle(), h)
				}
				got, err := in.Get(t.Context(), named.Handle())
				require.NoError(t, err)
				same(t, c, got)
			}
		}
	})
}

func TestNamedLearns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func() scopes) {
		s := open()
		names := store.NamesOf(s)
		late := names.Name(other)
		require.Equal(t, put(t, s, twin), late.Handle(), "want two contents with the same letters")
		h, err := late.Put(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, late.Handle(), h, "another content has the handle that was told")
		again := names.Name(other)
		require.Equal(t, h, again.Handle(), "the names know by now")
		h, err = again.Put(t.Context())
		require.NoError(t, err)
		require.Equal(t, again.Handle(), h)
	})
}

// counting has a store of this package inside.
type counting struct {
	*store.Memory

	puts int
}

func (c *counting) Put(ctx context.Context, content store.Content) (store.Handle, error) {
	c.puts++
	return c.Memory.Put(ctx, content)
}

func TestNamedIsPutByTheStoreItself(t *testing.T) {
	t.Parallel()
	s := &counting{Memory: store.NewMemory(0)}
	h, err := store.NamesOf(s).Name(twin).Put(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.Handle(twin), h)
	require.Equal(t, 1, s.puts, "want the Put of the store that was given, not of the one inside")
}

func TestNamedByNobody(t *testing.T) {
	t.Parallel()
	_, err := new(store.Named).Put(t.Context())
	require.ErrorContains(t, err, "want what Names.Name returns")
}

func TestNamedTooLarge(t *testing.T) {
	t.Parallel()
	_, err := store.NamesOf(store.NewMemory(1000)).Name(store.Content{Data: strings.Repeat("x", 2000)}).Put(t.Context())
	require.ErrorIs(t, err, store.ErrTooLarge)
}

// A medium whose letters are those of another content has its longer handle in
// the text around it as well.
func TestPutPartsOfTwins(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	put(t, s, twin)
	h, err := store.PutParts(t.Context(), s, []message.Part{message.Text{Text: "see"}, message.Media{Type: other.Type, Data: other.Data}})
	require.NoError(t, err)
	c, err := s.Get(t.Context(), h)
	require.NoError(t, err)
	named := store.HandlesIn(c.Data)
	require.Len(t, named, 1)
	got, err := s.Get(t.Context(), named[0])
	require.NoError(t, err)
	same(t, other, got)
}

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	h := store.NewMemory(0).Handle(store.Content{Data: "x"})
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
	require.Empty(t, store.HandlesIn("recall"))
	for i := range 100 { // which have all letters among them
		h := store.Handles("", store.Content{Data: strconv.Itoa(i)})[0]
		require.Equal(t, []store.Handle{h}, store.HandlesIn(store.Placeholder("[cleared]", h)))
	}
}

// Asked sees what a call of the recall tool asks for, also where an agent has put
// that into the one text that it gives to tools.
func TestAsked(t *testing.T) {
	t.Parallel()
	h := store.Handles("", store.Content{Data: "a"})[0]
	for arguments, asks := range map[string]bool{
		`{"handle":"sjvmlcvlrtil"}`:                             true,
		`{"handle":"sjvmlcvlrtil","from":3}`:                    true,
		`{"__arg1":"sjvmlcvlrtil"}`:                             true,
		`{"__arg1":"{\"handle\":\"sjvmlcvlrtil\",\"from\":3}"}`: true,
		`{"__arg1":"sjvmlcvlrtil","from":"3"}`:                  false,
		`{"__arg1":"{\"__arg1\":\"sjvmlcvlrtil\"}"}`:            false,
		`{"__arg1":"sjvmlcvlrtia"}`:                             false,
		`{"handle":"mistyped"}`:                                 false,
		`{"query":"sjvmlcvlrtil"}`:                              false,
		`{"handle":"sjvmlcvlrtil","depth":3}`:                   false,
		`{"cleared":"recall sjvmlcvlrtil"}`:                     false,
		`{"__arg1":3}`:                                          false,
		`{}`:                                                    false,
		`sjvmlcvlrtil`:                                          false,
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
