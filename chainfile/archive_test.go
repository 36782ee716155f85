package chainfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// cleared returns the handles that the file's chain puts into a conversation.
func cleared(t *testing.T, f *chainfile.File, env middleware.Env) (handles []store.Handle, events []middleware.Event) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), f.With(env), &middleware.Request{Messages: conversation()})
	require.NoError(t, err)
	for _, m := range sent.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(message.ToolResult); ok {
				handles = append(handles, archived.In(r.Text)...)
			}
		}
	}
	return handles, events
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
	handles, _ := cleared(t, none, middleware.Env{})
	require.Empty(t, handles)

	dir := filepath.Join(t.TempDir(), "an archive")
	for name, f := range map[string]*chainfile.File{"memory": parse("archive: memory\n"), "folder": parse("archive: '" + dir + "'\n")} {
		if name == "folder" {
			require.NoDirExists(t, dir, "nothing is opened before it is needed")
		}
		handles, _ = cleared(t, f, middleware.Env{})
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
	handles, _ = cleared(t, f, middleware.Env{Archive: own})
	_, err = own.Get(t.Context(), handles[0])
	require.NoError(t, err, "that of the Env goes before")
}

// In another scope a file has the contents of that scope alone, and its own when it is asked again.
func TestIn(t *testing.T) {
	t.Parallel()
	const chain = "scope: own\nchain: [{use: contextedit, trigger: {tokens: 1}, keep: 2}]"
	folder := t.TempDir()
	for name, archive := range map[string]string{
		"memory": "memory", "folder": filepath.Join(folder, "archive"), "database": "sqlite:" + filepath.Join(folder, "a.db"),
	} {
		f, err := chainfile.Parse("c", []byte("archive: '"+archive+"'\n"+chain))
		require.NoError(t, err)
		end, err := f.Open(t.Context(), engine.Options{})
		require.NoError(t, err)
		handles, _ := cleared(t, f.In("acme"), middleware.Env{})
		require.NotEmpty(t, handles, name)
		_, err = f.In("acme").Archive.Get(t.Context(), handles[0])
		require.NoError(t, err, name)
		for _, other := range []*chainfile.File{f, f.In(""), f.In("other")} {
			_, err = other.Archive.Get(t.Context(), handles[0])
			require.ErrorIs(t, err, store.ErrNotFound, name)
		}
		handles, _ = cleared(t, f, middleware.Env{})
		_, err = f.In("own").Archive.Get(t.Context(), handles[0])
		require.NoError(t, err, "%s: the file has the scope that it names", name)
		require.NoError(t, end())
	}
	none, err := chainfile.Parse("c", []byte(chain))
	require.NoError(t, err)
	require.Nil(t, none.In("acme").Archive)
}

// A folder that cannot be made is told, and nothing is cleared.
func TestArchiveThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	f := &chainfile.File{Archive: chainfile.Internals(inside.Key{}).Folder(file)}
	parsed, err := chainfile.Parse("c", []byte("chain: [{use: contextedit, trigger: {tokens: 1}}]"))
	require.NoError(t, err)
	f.Chain = parsed.Chain
	handles, events := cleared(t, f, middleware.Env{})
	require.Empty(t, handles)
	require.Len(t, events, 1)
	require.Equal(t, middleware.Failed, events[0].Kind)
	require.Contains(t, events[0].Why, "store: open: ")
	_, err = f.Archive.Get(t.Context(), store.Handle{})
	require.ErrorContains(t, err, "store: open: ")
}

func TestArchiveErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"archive: 5":       `c:1:10: archive is 5, want text: put it in quotes`,
		"archive: true":    `c:1:10: archive is true, want text: put it in quotes`,
		"archive: ''":      `c:1:10: archive is empty, want some text, or leave the key out`,
		"archive: {at: x}": `c:1:10: archive is a map, want text`,
	} {
		_, err := chainfile.Parse("c", []byte(in+"\nchain: [{use: contextedit}]"))
		require.Error(t, err)
		require.True(t, strings.HasPrefix(err.Error(), want), "want %s\ngot  %s", want, err)
	}
}

func TestFolderIsAStore(t *testing.T) {
	t.Parallel()
	middlewaretest.Archive(t, func(t *testing.T) store.Store { return chainfile.Internals(inside.Key{}).Folder(t.TempDir()) })
}
