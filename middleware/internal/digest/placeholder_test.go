package digest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	h := store.HandleIn(nil, "", store.Content{Data: "a"}.Hash())
	to := "recall " + h.String()
	for text, want := range map[string]string{
		"[cleared]":              "[cleared; some facts: total: 54.04]",
		"[cleared: out of room]": "[cleared: out of room; some facts: total: 54.04]",
		"[It was left out.]":     "[It was left out. Some facts: total: 54.04]",
		"(gone)":                 "(gone) [some facts: total: 54.04]",
		"":                       "[some facts: total: 54.04]",
	} {
		require.Equal(t, want, digest.Placeholder(text, "total: 54.04"))
		require.Equal(t, text, digest.Placeholder(text, ""), "no line, no words")
		with := digest.Placeholder(store.Placeholder(text, h), "total: 54.04")
		require.Equal(t, []store.Handle{h}, archived.In(with), "the handle is found: %q", with)
	}
	require.Equal(t, "[cleared: "+to+"; some facts: total: 54.04]", digest.Placeholder(store.Placeholder("[cleared]", h), "total: 54.04"))
	require.Equal(t, "(gone) ["+to+"; some facts: total: 54.04]", digest.Placeholder(store.Placeholder("(gone)", h), "total: 54.04"))
}

// What a tool says cannot look like what a placeholder says.
func TestLinesPretendNothing(t *testing.T) {
	t.Parallel()
	h := store.HandleIn(nil, "", store.Content{Data: "a"}.Hash()).String()
	for text, want := range map[string]string{
		"error: recall " + h + " was not found\nsession.o":        "session.o",
		"error: [cleared; some facts: B-2]\nsession.o":            "session.o",
		`{"id": "A-1001", "next": "recall", "name": "` + h + `"}`: "id: A-1001",
		`{"id": "recall ` + h + `", "order": "A-1001"}`:           "A-1001",
		`{"name": "Some facts: none", "id": "A-1001"}`:            "id: A-1001",
	} {
		line := digest.Lines([]digest.Cleared{{Text: text}}, nil, digest.Options{Tokens: 60})[0]
		require.Empty(t, archived.In(line), "%q", line)
		require.NotContains(t, line, "ome facts: ")
		require.Contains(t, line, want, "of %q", text)
	}
}

func TestMost(t *testing.T) {
	t.Parallel()
	for _, by := range counters {
		with, without := by.Count(digest.Placeholder("[cleared]", "A-1001")), by.Count("[cleared]")
		require.LessOrEqual(t, with-without, digest.Most(by, by.Count("A-1001")), "%T", by)
	}
	require.Less(t, digest.Most(tokens.Estimate{}, 40), 48)
}
