package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

const talk = `{"messages": [
	{"role": "user", "content": "Why does the nightly build fail?"},
	{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}]},
	{"role": "tool", "tool_call_id": "c1", "content": "step 14: the linker ran out of memory; exit status 2, as on all nights of this week"},
	{"role": "assistant", "content": "The linker has too little memory."},
	{"role": "user", "content": "How much does it need?"}]}`

// inDatabase returns the path of a database, and a chain file that uses it in a scope.
func inDatabase(t *testing.T, scope string) (path, chain string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "laconic.db")
	return path, chainIn(t, path, scope)
}

func chainIn(t *testing.T, path, scope string) string {
	t.Helper()
	return write(t, "journal: 'sqlite:"+path+"'\narchive: 'sqlite:"+path+"'\nscope: "+scope+
		"\nchain: [{use: contextedit, trigger: {tokens: 50}, keep: none}]")
}

func TestJournal(t *testing.T) {
	t.Parallel()
	path, acme := inDatabase(t, "acme")
	url := "sqlite:" + path
	globex := chainIn(t, path, "globex")
	for _, chain := range []string{acme, globex} {
		status, _, stderr := exec(t, talk, "apply", "--chain", chain)
		require.Zero(t, status, stderr)
	}
	run := func(args ...string) string {
		status, stdout, stderr := exec(t, "", append([]string{"journal"}, args...)...)
		require.Zero(t, status, stderr)
		return stdout
	}
	require.Regexp(t, `^scope +conversation +entries +contents +bytes +last used\n"acme" +[0-9a-f]{32} +1 +1 +\d+ +20.*Z\n"globex" .*\n$`, run("ls", url))
	require.NotContains(t, run("ls", "--scope", "acme", url), "globex")
	require.Equal(t, "nothing is kept\n", run("ls", "--older-than", "1h", url))
	require.Equal(t, "nothing is kept\n", run("ls", "--conversation", "none", url))
	require.Regexp(t, `^{"scope":"acme","conversation":".*"middleware":"contextedit".*}\n$`, run("show", url, "--scope", "acme"))
	status, stdout, stderr := exec(t, "", "journal", "show", "--conversation", "none", url)
	require.Zero(t, status, stderr)
	require.Empty(t, stdout, "what is written is JSON")
	require.Equal(t, "laconic: journal: no conversation matches; laconic journal ls lists what is kept\n", stderr)
	require.Equal(t, "removed 0 conversations\n", run("rm", "--older-than", "1h", url))
	require.Equal(t, "removed 0 rows that nobody has used\n", run("vacuum", "--older-than", "1h", url))

	status, _, stderr = exec(t, talk, "apply", "--chain", acme, "--conversation", "session 7")
	require.Zero(t, status, stderr)
	require.Equal(t, "removed 0 conversations\n", run("rm", "--name", "session 8", url))
	require.Equal(t, "nothing is kept\n", run("ls", "--name", "session 7", url), "the edits of this very history are those of the one without a name")
	longer := strings.Replace(talk, "\"How much does it need?\"}", "\"How much does it need?\"},\n\t"+
		"{\"role\": \"assistant\", \"content\": \"4 GB.\"},\n\t{\"role\": \"user\", \"content\": \"Thanks.\"}", 1)
	require.NotEqual(t, talk, longer)
	status, _, stderr = exec(t, longer, "apply", "--chain", acme, "--conversation", "session 7")
	require.Zero(t, status, stderr)
	require.Contains(t, run("ls", "--name", "session 7", url), journal.NameOf("session 7").String())
	require.Equal(t, "removed 1 conversation\n", run("rm", "--name", "session 7", url))

	require.Equal(t, "removed 1 conversation\n", run("rm", "--scope", "acme", url))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(kept), "acme", "no byte of the scope remains in the file")
	require.Contains(t, string(kept), "globex")
	status, _, stderr = exec(t, "", "journal", "rm", url)
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "removes everything: want one of them, or --all")
	require.Contains(t, run("ls", url), "globex", "nothing was removed")
	require.Equal(t, "removed 1 conversation\n", run("rm", "--all", url))
	require.Equal(t, "nothing is kept\n", run("ls", url))
}

// TestJournalReseal encrypts what was plain, changes the key, and turns encryption off.
func TestJournalReseal(t *testing.T) {
	t.Parallel()
	path, chain := inDatabase(t, "globex")
	first, second, url := write(t, strings.Repeat("01", 32)+"\n"), write(t, strings.Repeat("02", 32)), "sqlite:"+path
	status, before, stderr := exec(t, talk, "apply", "--chain", chain)
	require.Zero(t, status, stderr)
	run := func(args ...string) (stdout, stderr string) {
		_, stdout, stderr = exec(t, "", append([]string{"journal"}, args...)...)
		return stdout, stderr
	}
	shown, _ := run("show", url)
	for _, keys := range [][]string{{first, "none"}, {second, first}, {"none", second}} {
		stdout, stderr := run("reseal", "--key", keys[0], "--key", keys[1], url)
		require.Equal(t, "2 rows, 2 written\n", stdout, stderr)
		stdout, _ = run("reseal", "--key", keys[0], "--key", keys[1], url)
		require.Equal(t, "2 rows, 0 written\n", stdout, "they have the new key already")
		stdout, stderr = run("show", "--key", keys[0], url)
		require.Equal(t, shown, stdout, stderr)
		_, stderr = run("reseal", "--key", keys[1], url)
		require.Contains(t, stderr, "2 rows, 0 written: 2 cannot be read with these keys, and stayed as they are")
	}
	status, after, stderr := exec(t, talk, "apply", "--chain", chain)
	require.Zero(t, status, stderr)
	prefix, _, _ := strings.Cut(before, "],\"report\"")
	require.True(t, strings.HasPrefix(after, prefix))
}

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

// A program has made its history with or without the names of tools in results, and has written it as chat completions, which
// do not have them. A message was pinned when there were no results, so the journal has an entry for either.
func TestHistoryOfAProgram(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"read_log", ""} {
		url := "sqlite:" + filepath.Join(t.TempDir(), "laconic.db")
		db, err := engine.Open(t.Context(), url, engine.Options{})
		require.NoError(t, err)
		env := middleware.Env{Journal: db.Journal()}
		chain := middleware.With(env, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(500), Keep: 1}))
		history := []message.Message{message.User("Why does the nightly build fail?")}
		require.NoError(t, steps.Pin(t.Context(), env, history, message.IDs(history)[0]))
		for i := range 3 {
			id := fmt.Sprint("call", i)
			history = append(history, message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: "{}"}),
				message.Result(id, name, strings.Repeat("ok ", 500)))
		}
		_, _, err = middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history})
		require.NoError(t, err)
		require.NoError(t, db.Close())
		body, err := (&openai.Conversation{}).Body(history, nil)
		require.NoError(t, err)

		in := func(args ...string) (int, string, string) {
			return exec(t, string(body), append(args, "--journal", url)...)
		}
		status, listed, stderr := in("history")
		require.Zero(t, status, stderr)
		require.Contains(t, listed, "cleared 2 results", "results named %q", name)
		require.Contains(t, listed, "pin")
		status, undone, stderr := in("undo")
		require.Zero(t, status, stderr)
		require.Contains(t, undone, "undo of contextedit: ", "results named %q", name)

		const want = "nothing is kept of this conversation in the scope \"acme\": check --scope"
		status, listed, stderr = in("history", "--scope", "acme")
		require.Zero(t, status, stderr)
		require.Contains(t, listed, want)
		status, listed, stderr = in("history", "--scope", "acme", "--json")
		require.Zero(t, status, stderr)
		require.Empty(t, listed, "what is written is JSON")
		require.Contains(t, stderr, want)
		for _, redo := range []string{"--redo=false", "--redo"} {
			status, _, stderr = in("undo", "--scope", "acme", redo)
			require.Equal(t, 1, status)
			require.Contains(t, stderr, want)
		}
	}
}
