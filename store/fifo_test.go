//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/store"
)

// A pipe in place of a file is no content: nobody waits for whoever would write to
// it.
func TestPipeInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path)
	h := put(t, d, twin)
	file := fileOf(t, path)
	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	_, err := d.Get(t.Context(), h)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, h, put(t, d, twin), "the pipe makes way for the file")
	got, err := d.Get(t.Context(), h)
	require.NoError(t, err)
	same(t, twin, got)

	beside := filepath.Join(filepath.Dir(file), store.HandleOf("", store.Content{Data: "pipe"}).String())
	temporary := filepath.Join(path, "tmp", strings.Repeat("a", 24)+".rwpamjydgitc.ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	for _, name := range []string{beside, temporary} {
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		require.NoError(t, os.Chtimes(name, time.Unix(0, 0), time.Unix(0, 0)))
	}
	again := openDir(t, path)
	for _, letter := range []string{"a", "b", "c"} {
		put(t, again, store.Content{Data: letter + string(make([]byte, 900))})
	}
	for _, name := range []string{beside, temporary} {
		_, err := os.Lstat(name)
		require.NoError(t, err, "what is no file of the store is left alone")
	}
}
