package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// files returns the content of each file in a folder by its path.
func files(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(path, name)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return all
}

// fileOf returns the path of the only content in a folder.
func fileOf(t *testing.T, path string) string {
	t.Helper()
	var found []string
	for name := range files(t, path) {
		if filepath.Base(name) != (message.ID{}).String() {
			found = append(found, filepath.Join(path, name))
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// The form of the files is a promise: other versions and programs read them.
func TestDirFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b")
	d := openDir(t, path)
	put(t, d, twin)
	in := d.Scope("../acme")
	contents, err := store.Internals(inside.Key{}).Name(in, message.Message{Parts: []message.Part{message.Media{Type: "image/png", Data: "\x89PNG\n"}}})
	require.NoError(t, err)
	require.NoError(t, in.Put(t.Context(), message.ID{1}, contents))
	require.Equal(t, map[string]string{
		"mtbkuijogprkbhvkrfmpdzxp/lmciwdehphqc":                     "laconic content 1 \"\"\nrecord 2151487002081378",
		"mtbkuijogprkbhvkrfmpdzxp/00000000000000000000000000000000": "\nlmciwdehphqc",
		"rabcftzchmjrqfmwigasywta/fyjstlcdddmw":                     "laconic content 1 \"image/png\"\n\x89PNG\n",
		"rabcftzchmjrqfmwigasywta/01000000000000000000000000000000": "\nfyjstlcdddmw",
	}, files(t, path))
	if runtime.GOOS == "windows" {
		return
	}
	require.NoError(t, filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = fs.ModeDir | 0o700
		}
		require.Equal(t, want, info.Mode(), name)
		return nil
	}))
}

func TestOpenDirErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := store.OpenDir("")
	require.EqualError(t, err, "store: open: the path is empty, want a folder")
	_, err = store.OpenDir(file)
	require.ErrorContains(t, err, "store: open: mkdir "+file)
	_, err = store.OpenDir(filepath.Join(file, "below"))
	require.ErrorContains(t, err, "store: open: mkdir "+file)
}

// A file that is not what was put is an error, and put again it is whole again.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	c := store.Content{Type: "text/csv", Data: strings.Repeat("a,b,c\n", 1000)}
	for name, damage := range map[string]func(data []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"one byte short": func(data []byte) []byte { return data[:len(data)-1] },
		"one byte more":  func(data []byte) []byte { return append(data, 0) },
		"one bit":        func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
		"other version":  func(data []byte) []byte { return []byte(strings.Replace(string(data), "1", "2", 1)) },
		"other content":  func([]byte) []byte { return []byte("laconic content 1 \"\"\nother") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir()
			d := openDir(t, path)
			h := put(t, d, c)
			file := fileOf(t, path)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			whole := string(data)
			require.NoError(t, os.WriteFile(file, damage(data), 0o600))

			got, err := d.Get(t.Context(), h)
			require.ErrorIs(t, err, store.ErrDamaged)
			require.ErrorContains(t, err, h.String()+": content is damaged: ")
			require.Zero(t, got, "a damaged file is an error and not content")

			require.Equal(t, h, put(t, d, c))
			got, err = d.Get(t.Context(), h)
			require.NoError(t, err)
			require.Equal(t, c, got)
			require.Equal(t, whole, files(t, path)[filepath.ToSlash(file[len(path)+1:])])
		})
	}
}

// What others have left in the folder is neither read, nor followed, nor
// removed.
func TestStrangeFiles(t *testing.T) {
	t.Parallel()
	path, outside := t.TempDir(), t.TempDir()
	d := openDir(t, path)
	h := put(t, d, twin)
	file := fileOf(t, path)
	folder := filepath.Dir(file)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)

	secret := filepath.Join(outside, h.String())
	require.NoError(t, os.WriteFile(secret, whole, 0o600))
	require.NoError(t, os.Remove(file))
	for name, link := range map[string]string{"outside": secret, "inside": "other", "nowhere": "nowhere"} {
		t.Run("link "+name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "other"), whole, 0o600))
			require.NoError(t, os.Symlink(link, file))
			_, err := d.Get(t.Context(), h)
			require.ErrorIs(t, err, store.ErrNotFound, "a link is no content, even if it leads to it")
			require.Equal(t, h, put(t, d, twin))
			info, err := os.Lstat(file)
			require.NoError(t, err)
			require.True(t, info.Mode().IsRegular(), "the link has made way for the file")
			require.NoError(t, os.Remove(file))
		})
	}
	left, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, whole, left, "what the link led to is as it was")

	t.Run("folder", func(t *testing.T) {
		require.NoError(t, os.Mkdir(file, 0o700))
		_, err := d.Get(t.Context(), h)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = store.Keep(t.Context(), d, twin)
		require.ErrorContains(t, err, "store: put: rename", "a folder is in the way, and nothing removes it")
		require.NoError(t, os.Remove(file))
	})

	t.Run("odd names", func(t *testing.T) {
		odd := []string{"README", "..a", h.String() + ".bak", strings.ToUpper(h.String()), "rwpamjydgitd", ".hidden", "a b\n", "ä"}
		var all []string
		for _, name := range odd {
			for _, in := range []string{path, folder, filepath.Join(path, "tmp")} {
				all = append(all, filepath.Join(in, name))
				require.NoError(t, os.WriteFile(filepath.Join(in, name), make([]byte, 5000), 0o600))
				require.NoError(t, os.Chtimes(filepath.Join(in, name), time.Unix(0, 0), time.Unix(0, 0)))
			}
		}
		put(t, openDir(t, path), other)
		for _, name := range append(all, secret) {
			require.FileExists(t, name)
		}
	})

	t.Run("scope", func(t *testing.T) {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.Symlink(outside, folder))
		_, err := d.Get(t.Context(), h)
		require.Error(t, err, "no link leads out of the folder")
		_, err = store.Keep(t.Context(), d, other)
		require.Error(t, err)
		require.Len(t, files(t, outside), 1, "nothing was written outside")
		require.NoError(t, d.Delete(t.Context(), ""))
		require.Len(t, files(t, outside), 1, "nothing was removed outside")
		require.Equal(t, h, put(t, d, twin), "the link has gone")
	})
}
