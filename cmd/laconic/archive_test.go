package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/store"
)

// TestApplyArchives applies a chain with an archive: another process finds what was
// cleared by what stands in the output.
func TestApplyArchives(t *testing.T) {
	t.Parallel()
	const said = "step 14: the linker ran out of memory; exit status 2, as on all nights of this week"
	const in = `{"messages": [
		{"role": "user", "content": "Why does the nightly build fail?"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}]},
		{"role": "tool", "tool_call_id": "c1", "content": "` + said + `"},
		{"role": "assistant", "content": "The linker has too little memory."},
		{"role": "user", "content": "How much does it need?"}]}`
	dir := filepath.Join(t.TempDir(), "archive")
	chain := "chain: [{use: contextedit, trigger: {tokens: 1}, keep: none}]"
	for name, args := range map[string][]string{
		"by flag": {"apply", "--chain", write(t, chain), "--archive", dir},
		"by file": {"apply", "--chain", write(t, "archive: '"+dir+"'\n"+chain)},
	} {
		status, stdout, stderr := exec(t, in, args...)
		require.Zero(t, status, "%s: %s", name, stderr)
		require.Empty(t, stderr, name)
		handles := archived.In(stdout)
		require.NotEmpty(t, handles, "%s: %s", name, stdout)
		archive, err := store.OpenDir(dir)
		require.NoError(t, err)
		c, err := archive.Get(t.Context(), handles[0])
		require.NoError(t, err)
		require.Equal(t, said, c.Data, name)
		require.NoError(t, archive.Close())
		require.NoError(t, os.RemoveAll(dir))
	}

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	status, stdout, stderr := exec(t, in, "apply", "--chain", write(t, chain), "--archive", file)
	require.Zero(t, status, stderr)
	require.Contains(t, stderr, "laconic: apply: contextedit made no edit: archive what is removed: store: open: ", "who looks at the terminal alone")
	require.Contains(t, stdout, said, "what cannot be kept stays")
	require.Contains(t, stdout, "store: open: ", "and the report says why")

	// fit edits all the same, and says so.
	long := strings.ReplaceAll(in, said, strings.Repeat(said+"; ", 200))
	status, stdout, stderr = exec(t, long, "apply", "--chain", write(t, "window: 1000\nchain: [{use: fit}]"), "--archive", file)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, `"by":"fit"`)
	require.Contains(t, stderr, "laconic: apply: fit: what is removed now is not kept: archive what is removed: store: open: ")
	require.NotContains(t, stderr, "no edit")
}
