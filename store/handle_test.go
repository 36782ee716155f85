package store_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/store"
)

// Two contents with the same handle, found by a search of 2^26 hashes.
var (
	twin  = store.Content{Data: "record 2151487002081378"}
	other = store.Content{Data: "record 2846628441870815"}
)

// Handles stand in placeholders and journals, so they are the same in each
// version.
func TestHandlesAreAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope   string
		content store.Content
		want    string
	}{
		{"", store.Content{}, "oinbjxwveqci"},
		{"", store.Content{Data: "a"}, "reocvrpknqqn"},
		{"acme", store.Content{Type: "image/png", Data: "\x89PNG"}, "vzxsgsdwosuh"},
		{"", twin, "lmciwdehphqc"},
		{"", other, "lmciwdehphqc"},
	} {
		require.Equal(t, c.want, store.HandleOf(c.scope, c.content).String(), "scope %q, content %q", c.scope, c.content)
	}
}

func TestParseHandle(t *testing.T) {
	t.Parallel()
	h, err := store.ParseHandle("rwpamjydgitc")
	require.NoError(t, err)
	require.Equal(t, "rwpamjydgitc", h.String())
	const want = ", want 12 letters a to z as in the placeholder"
	for text, problem := range map[string]string{
		"":                                "is empty",
		"rwpamjydgit":                     "is 11 long",
		strings.Repeat("rwpamjydgitc", 5): "is 60 long",
		"rwpamjydgitd":                    "is mistyped: its last letter does not fit the others",
		"rwpamjydgitcdrsvpxhbwfgw":        "is 24 long", // earlier versions had such handles
		"RWPAMJYDGITC":                    "has other characters than the letters a to z",
		"[rwpamjydgitc]":                  "has other characters than the letters a to z",
		"rwpamjydgitс":                    "has other characters than the letters a to z", // the last letter is Cyrillic
	} {
		_, err := store.ParseHandle(text)
		shown := strconv.Quote(text)
		if len(text) > 40 {
			shown = strconv.Quote(text[:40]) + "…"
		}
		require.EqualError(t, err, "store: handle "+shown+" "+problem+want)
	}
}

// A model that copies a handle wrongly by one letter is told so.
func TestOneWrongLetterIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := store.HandleOf("", store.Content{Data: rapid.String().Draw(t, "data")})
		b := []byte(h.String())
		i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		b[i] = 'a' + (b[i]-'a'+byte(rapid.IntRange(1, 25).Draw(t, "by")))%26
		_, err := store.ParseHandle(string(b))
		require.ErrorContains(t, err, "is mistyped", "%s for %s", b, h)
	})
}

// Whatever a model gives as a handle is one that a store could have made, or an
// error that says what is wrong.
func FuzzParseHandle(f *testing.F) {
	for _, seed := range []string{"", "rwpamjydgitc", "rwpamjydgitd", "../../passwd", strings.Repeat("aaaaaaaaaaaa", 4), "rwpamjydgitс", "a\xff"} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^[a-z]{12}$`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := store.ParseHandle(text)
		if err != nil {
			require.True(t, h.IsZero())
			require.ErrorContains(t, err, "store: handle ")
			require.Less(t, len(err.Error()), 400)
			return
		}
		require.Regexp(t, form, text, "nothing else is a handle")
		require.Equal(t, text, h.String())
	})
}

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	h := store.HandleOf("", store.Content{Data: "x"})
	const letters = "recall "
	for text, want := range map[string]string{
		"[cleared]":              "[cleared: " + letters + h.String() + "]",
		"[cleared: out of room]": "[cleared: out of room; " + letters + h.String() + "]",
		"[It was left out.]":     "[It was left out. To read it: " + letters + h.String() + "]",
		"[a: b] (gone)":          "[a: b] (gone) [" + letters + h.String() + "]",
		"cleared":                "cleared [" + letters + h.String() + "]",
		"":                       "[" + letters + h.String() + "]",
	} {
		got := store.Placeholder(text, h)
		require.Equal(t, want, got)
		require.Equal(t, text, store.Placeholder(text, store.Handle{}), "no handle, nothing to say")
	}
}
