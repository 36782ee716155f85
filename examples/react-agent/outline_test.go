package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/race"
)

// The outline of a file is the same however it is cut into pages.
func TestUndocumentedInPages(t *testing.T) {
	t.Parallel()
	dirs := []string{nasty(t), ".", "../../message", "../../middleware", "../../react"}
	if race.Enabled {
		dirs = dirs[:2]
	}
	for _, dir := range dirs {
		files, _ := goFiles(t, dir)
		require.NotEmpty(t, files)
		for _, f := range files {
			source := string(readFile(t, dir, f))
			if source == "" {
				continue
			}
			want := bareNames(parse(t, dir, f))
			for _, size := range []int{1, 2, 3, 7, pageSize, 10_000} {
				require.Equal(t, want, inPages(source, size), "%s in pages of %d lines", f, size)
			}
		}
	}
}

func inPages(source string, size int) (names []string) {
	lines := strings.SplitAfter(source, "\n")
	open := ""
	for len(lines) > 0 {
		n := min(size, len(lines))
		var found []string
		found, open = undocumented(open, strings.Join(lines[:n], ""))
		names = append(names, found...)
		lines = lines[n:]
	}
	return names
}

// What is left open at the end of a page is Go source that a reader of the
// notes understands.
func TestRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, rest string }{
		{"package p\n", ""},
		{"// A comment\n", "//x\n"},
		{"// A comment\n\n", ""},
		{"//go:noinline\n", ""},
		{"const (\n\tA = iota\n", "const (\n"},
		{"// Doc.\nconst (\n\tA = iota\n\n\t// Doc.\n", "//x\nconst (\n//x\n"},
		{"func F() {\n\tif true {\n", ""},
	} {
		t.Run(fmt.Sprintf("%q", c.page), func(t *testing.T) {
			t.Parallel()
			_, rest := undocumented("", c.page)
			require.Equal(t, c.rest, rest)
			_, again := undocumented(rest, "")
			require.Equal(t, rest, again, "to be read as what it stands for")
		})
	}
}
