package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
)

// blocks returns the code of a kind on a page.
func blocks(t *testing.T, page, kind string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	require.NoError(t, err)
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		found = append(found, m[1])
	}
	return found
}

// TestPageOfCommand runs what docs/command.md shows.
func TestPageOfCommand(t *testing.T) {
	t.Parallel()
	chains, conversations := blocks(t, "command.md", "yaml"), blocks(t, "command.md", "json")
	require.Len(t, chains, 1)
	require.Len(t, conversations, 2, "what goes in, and what comes out")
	status, stdout, stderr := exec(t, conversations[0], "apply", "--chain", write(t, chains[0]))
	require.Zero(t, status, stderr)
	require.Equal(t, conversations[1], stdout)
	session := blocks(t, "command.md", "console")
	for _, args := range [][]string{{"count"}, {"count", "--json"}} {
		_, stdout, _ := exec(t, conversations[0], args...)
		require.Contains(t, strings.Join(session, "\n"), "$ laconic "+strings.Join(args, " ")+" conversation.json\n"+stdout)
	}
}

// TestPageOfChainFiles parses what docs/chain-files.md shows.
func TestPageOfChainFiles(t *testing.T) {
	t.Parallel()
	shown := blocks(t, "chain-files.md", "yaml")
	require.Len(t, shown, 2)
	_, err := chainfile.Parse("docs/chain-files.md", []byte(shown[0]))
	require.NoError(t, err)
	for line := range strings.Lines(shown[1]) {
		_, err := chainfile.Parse("docs/chain-files.md", []byte("chain:\n- use: contextedit\n  "+line))
		require.NoError(t, err, line)
	}
}
