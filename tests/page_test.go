package tests

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updatePages = flag.Bool("update", false, "write anew what pages in docs show")

// shows makes sure that the block of a page behind <!-- name --> is what it should
// be, or makes it so with -update.
func shows(t *testing.T, page, name, want string) {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	fence := "<!-- " + name + " -->\n```\n"
	before, rest, ok := strings.Cut(string(data), fence)
	require.True(t, ok, "%s has no block %s", page, name)
	shown, behind, ok := strings.Cut(rest, "```\n")
	require.True(t, ok, "the block %s of %s has no end", name, page)
	if *updatePages {
		require.NoError(t, os.WriteFile(page, []byte(before+fence+want+"```\n"+behind), 0o600))
		return
	}
	require.Equal(t, want, shown, "%s shows what is no longer so; run: go test ./tests -run %s -update", page, t.Name())
}

// chainFilesOn returns the chain files that a page shows.
func chainFilesOn(t *testing.T, page string) []string {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	var files []string
	for _, block := range strings.Split(string(data), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```\n")
		files = append(files, text)
	}
	return files
}
