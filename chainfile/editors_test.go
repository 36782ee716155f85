package chainfile_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/sqlstore"
)

func TestMicrocompactErrors(t *testing.T) {
	t.Parallel()
	const use = "chain:\n  - use: microcompact\n    "
	for text, want := range map[string]string{
		"limit: 0":                         `c:3:12: chain[0].limit is 0, want a whole number, 1 or more, or off`,
		"limit: {result: 5}":               `c:3:13: chain[0].limit.result is no key here (did you mean results?); the keys here are results, arguments, text`,
		"fresh_share: 25":                  `c:3:18: chain[0].fresh_share is 25, want a number above 0 and at most 1, or off`,
		"batch: 5":                         `c:3:12: chain[0].batch is 5, want a map with results or tokens`,
		"batch: {tokens: -1}":              `c:3:21: chain[0].batch.tokens is -1, want a whole number, 0 or more`,
		"protect: Skill":                   `c:3:14: chain[0].protect is the text "Skill", want a list of tools, as [one, another]`,
		"keep: 5":                          `c:3:5: chain[0].keep is no key here; the keys here are use, trigger, keep_rounds, limit, protect, batch, digest, fresh_share, fresh_tokens, min_calls, strict`,
		"limit: off\n    fresh_share: off": `c:3:12: chain[0].limit cannot be: nothing could ever be shortened: want a limit for results, arguments or text, or a fresh_share`,
	} {
		_, err := chainfile.Parse("c", []byte(use+text))
		require.EqualError(t, err, want, "%s", text)
	}
}

func TestTrimErrors(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"strategy: oldset":              `c:1:31: chain[0].strategy is "oldset" (did you mean oldest?), want hybrid, middle or oldest`,
		"strategy: 5":                   `c:1:31: chain[0].strategy is 5, want hybrid, middle or oldest`,
		"target: 0.9":                   `c:1:29: chain[0].target cannot be: target is 0.9 of the room and threshold 0.9, want a target below the threshold, or messages would go on each call`,
		"warning: 0.95":                 `c:1:30: chain[0].warning cannot be: warning is 0.95 of the room and threshold 0.9, want a warning no later than the threshold`,
		"target_tokens: 0":              `c:1:36: chain[0].target_tokens is 0, want a whole number, 1 or more`,
		"target: 0.5, target_tokens: 1": `c:1:29: chain[0].target cannot be: target and target_tokens are given, want one of them`,
		"interval: 5":                   `c:1:31: chain[0].interval is 5, want a length of time, as 5s or 1m30s`,
		"interval: -5s":                 `c:1:31: chain[0].interval is the text "-5s", want a length of time, as 5s or 1m30s`,
		"note: ' '":                     `c:1:27: chain[0].note cannot be: note is " ", want some text, or "" for no note`,
		"keep: 5":                       `c:1:21: chain[0].keep is no key here; the keys here are use, for, strategy, trigger, warning, threshold, target, target_tokens`,
	} {
		_, err := chainfile.Parse("c", []byte("chain: [{use: trim, "+entry+"}]"))
		require.Error(t, err, entry)
		require.Contains(t, err.Error(), want, entry)
	}
}

const clears = "\nchain: [{use: contextedit, trigger: {tokens: 1}, keep: 2}]"

func open(t *testing.T, text string) *chainfile.File {
	t.Helper()
	f, err := chainfile.Parse("c", []byte(text))
	require.NoError(t, err)
	end, err := f.Open(t.Context(), engine.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, end()) })
	return f
}

// Two programs that read one file share the edits and the contents in its database, if their scope is the same.
func TestDatabase(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "laconic.db")
	keys := fmt.Sprintf("journal: '%s'\narchive: '%s'\n", url, url)
	views := map[string]*middleware.Request{}
	for _, scope := range []string{"acme", "globex"} {
		for _, program := range []string{"first", "second"} {
			f := open(t, keys+"scope: "+scope+clears)
			sent, events, err := middleware.Apply(t.Context(), f.With(middleware.Env{}), &middleware.Request{Messages: conversation()})
			require.NoError(t, err)
			if program == "second" {
				require.Empty(t, events, "the edits are there")
				require.NoError(t, testkit.Same(views[scope].Messages, sent.Messages))
				handles := cleared(t, f, middleware.Env{})
				c, err := f.Archive.Get(t.Context(), handles[0])
				require.NoError(t, err)
				require.Len(t, c.Data, 400)
			}
			views[scope] = sent
		}
	}
	require.Error(t, testkit.Same(views["acme"].Messages, views["globex"].Messages), "handles of another scope")
}

func TestDatabaseErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"journal: 5":             "c:1:10: journal is 5, want text: put it in quotes",
		"journal: mysql://a:s@h": "c:1:10: journal names a database for which the program has no driver (it has postgres, postgresql",
	} {
		_, err := chainfile.Parse("c", []byte(in+clears))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "a:s@")
	}
	missing := filepath.Join(t.TempDir(), "no", "folder", "x.db")
	for in, want := range map[string]string{
		"journal: 'sqlite:" + missing + "'":                             "c:1:10: journal cannot be opened: ",
		"journal: postgres://u:sec%72et@127.0.0.1:99999/d":              "c:1:10: journal cannot be opened: ",
		"journal: memory\narchive: 'postgres://u:secret@127.0.0.1:1/d'": "c:2:10: archive cannot be opened: ",
	} {
		f, err := chainfile.Parse("c", []byte(in+clears))
		require.NoError(t, err)
		_, err = f.Open(t.Context(), engine.Options{})
		require.ErrorContains(t, err, want, in)
		require.ErrorAs(t, err, new(*chainfile.Error))
		require.ErrorContains(t, err, "want memory, sqlite:PATH, postgres://…, redis://…")
		require.NotContains(t, err.Error(), "secret")
		require.NotContains(t, err.Error(), "sec%72et")
	}
}

// The conversation of a file is that of requests without one.
func TestConversation(t *testing.T) {
	t.Parallel()
	f, err := chainfile.Parse("c", []byte("conversation: session 7\nchain: [{use: contextedit}]"))
	require.NoError(t, err)
	for own, want := range map[string]string{"": "session 7", "session 8": "session 8"} {
		req := &middleware.Request{Messages: []message.Message{message.User("Hi")}, Conversation: own}
		sent, _, err := middleware.Apply(t.Context(), f.With(middleware.Env{}), req)
		require.NoError(t, err)
		require.Equal(t, want, sent.Conversation)
	}
}

// cleared returns the handles that the file's chain puts into a conversation.
func cleared(t *testing.T, f *chainfile.File, env middleware.Env) (handles []store.Handle) {
	t.Helper()
	sent, _, err := middleware.Apply(t.Context(), f.With(env), &middleware.Request{Messages: conversation()})
	require.NoError(t, err)
	for _, m := range sent.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(message.ToolResult); ok {
				handles = append(handles, archived.In(r.Text)...)
			}
		}
	}
	return handles
}

func TestArchive(t *testing.T) {
	t.Parallel()
	parse := func(where string) *chainfile.File {
		f, err := chainfile.Parse("c", []byte(where+"chain: [{use: contextedit, trigger: {tokens: 1}, keep: 2}]"))
		require.NoError(t, err)
		return f
	}
	none := parse("")
	require.Nil(t, none.Archive)
	handles := cleared(t, none, middleware.Env{})
	require.Empty(t, handles)

	dir := filepath.Join(t.TempDir(), "an archive")
	for name, f := range map[string]*chainfile.File{"memory": parse("archive: memory\n"), "folder": parse("archive: '" + dir + "'\n")} {
		if name == "folder" {
			require.NoDirExists(t, dir, "nothing is opened before it is needed")
		}
		handles = cleared(t, f, middleware.Env{})
		require.Len(t, handles, 8, name)
		for _, h := range handles {
			c, err := f.Archive.Get(t.Context(), h)
			require.NoError(t, err)
			require.Len(t, c.Data, 400)
		}
	}
	again, err := chainfile.Internals(inside.Key{}).Folder(dir).Get(t.Context(), handles[0])
	require.NoError(t, err, "it can be had in another process, too")
	require.Len(t, again.Data, 400)

	own, f := store.NewMemory(0), parse("archive: memory\n")
	handles = cleared(t, f, middleware.Env{Archive: own})
	_, err = own.Get(t.Context(), handles[0])
	require.NoError(t, err, "that of the Env goes before")
}

func TestArchiveErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"archive: ''": `c:1:10: archive is empty, want some text, or leave the key out`,
	} {
		_, err := chainfile.Parse("c", []byte(in+"\nchain: [{use: contextedit}]"))
		require.Error(t, err)
		require.True(t, strings.HasPrefix(err.Error(), want), "want %s\ngot  %s", want, err)
	}
}
