package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHistoryAndUndo lists an edit that a chain has made, takes it back and makes it again.
func TestHistoryAndUndo(t *testing.T) {
	t.Parallel()
	path, chain := inDatabase(t, "acme")
	in := func(args ...string) (int, string, string) {
		return exec(t, talk, append(args, "--scope", "acme", "--journal", "sqlite:"+path)...)
	}
	status, _, stderr := in("history")
	require.Equal(t, 1, status, "the database is not made: %s", stderr)
	status, cleared, stderr := exec(t, talk, "apply", "--chain", chain)
	require.Zero(t, status, stderr)

	good := func(args ...string) string {
		status, out, stderr := in(args...)
		require.Zero(t, status, stderr)
		return out
	}
	require.Contains(t, good("history"), "contextedit  trigger")
	require.Contains(t, good("undo"), "undo of contextedit: ")
	listed := good("history")
	require.Contains(t, listed, "edit (undone)")
	require.Contains(t, listed, "undo  ")
	status, whole, stderr := exec(t, talk, "apply", "--chain", chain)
	require.Zero(t, status, stderr)
	require.NotEqual(t, cleared, whole)
	require.Contains(t, whole, "the linker ran out of memory", "the editor waits for the next question")
	require.Contains(t, good("undo", "--redo"), "redo of contextedit: ")
	lines := strings.Split(strings.TrimSpace(good("history", "--json")), "\n")
	require.Len(t, lines, 3)
	require.Contains(t, lines[2], `"kind":"edit","by":"contextedit","actor":"trigger"`)
	require.Contains(t, lines[2], `"dollars":0`)

	status, _, stderr = in("undo", "--redo")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "nothing to take back or to make again")
	status, _, stderr = exec(t, talk, "undo", filepath.Join(t.TempDir(), "missing"))
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "--journal is missing")
}
