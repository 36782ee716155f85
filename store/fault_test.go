package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// large takes four writes: the header and three chunks.
var large = Content{Type: "text/plain", Data: strings.Repeat("0123456789abcde\n", 5*chunk/32)}

func openTemp(t *testing.T, opts DirOptions) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := OpenDir(path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, path
}

// same requires equal contents without printing them if they are not.
func same(t *testing.T, want, got Content) {
	t.Helper()
	if got != want {
		require.Failf(t, "not the whole content", "want %d bytes, got %d of type %q", len(want.Data), len(got.Data), got.Type)
	}
}

// record puts a content and returns the steps that it takes.
func record(t *testing.T, c Content) []string {
	t.Helper()
	d, _ := openTemp(t, DirOptions{})
	var steps []string
	d.files.disk.fault = func(step string) error {
		steps = append(steps, step)
		return nil
	}
	_, err := d.Put(t.Context(), c)
	require.NoError(t, err)
	return steps
}

// A content is written out before it has its name, and its name is written out
// before Put returns: so it is whole or not there after the power failed, too.
func TestOrderOfSteps(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"mkdir", "create", "write", "write", "write", "write", "sync",
		"mkdir", "rename", "sync folder", "sync folder",
	}, record(t, large))
}

// A disk that is full or cannot be written to is an error that says so, and
// leaves the whole content or nothing.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	for k, step := range record(t, large) {
		for _, fault := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
			for _, forGood := range []bool{false, true} {
				d, path := openTemp(t, DirOptions{})
				n := 0
				d.files.disk.fault = func(string) error {
					n++
					if n == k+1 || forGood && n > k {
						return fault
					}
					return nil
				}
				h, err := d.Put(t.Context(), large)
				require.ErrorIs(t, err, fault, "step %d, %s", k, step)
				require.ErrorContains(t, err, "store: put: ")
				require.True(t, h.IsZero())

				d.files.disk.fault = nil
				h = HandleOf("", large)
				c, err := d.Get(t.Context(), h)
				if step == "sync folder" {
					require.NoError(t, err)
					same(t, large, c)
				} else {
					require.ErrorIs(t, err, ErrNotFound, "step %d, %s", k, step)
				}
				if left, err := os.ReadDir(filepath.Join(path, tempFolder)); err == nil && !forGood {
					require.Empty(t, left, "step %d, %s: the temporary file is removed", k, step)
				}
				got, err := d.Put(t.Context(), large)
				require.NoError(t, err, "once there is room again")
				require.Equal(t, h, got)
				c, err = d.Get(t.Context(), h)
				require.NoError(t, err)
				same(t, large, c)
			}
		}
	}
}

// Somebody takes the temporary file for left over, or deletes the scope,
// between two steps.
func TestSomebodyRemovesWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	for _, what := range []string{tempFolder, folderOf("")} {
		d, path := openTemp(t, DirOptions{})
		times := 0
		d.files.disk.fault = func(step string) error {
			if step == "rename" && times > 0 {
				times--
				return os.RemoveAll(filepath.Join(path, what))
			}
			return nil
		}
		for times = range 3 {
			h, err := d.Put(t.Context(), Content{Data: strings.Repeat("a", times)})
			require.NoError(t, err, "%s: it is written again", what)
			_, err = d.Get(t.Context(), h)
			require.NoError(t, err)
		}
		times = 3
		_, err := d.Put(t.Context(), large)
		require.ErrorIs(t, err, fs.ErrNotExist, "%s: but not for ever", what)
	}
}

// A folder has filled the disk, and is opened anew with a limit: what is too much
// goes before there is room to write.
func TestLimitForAFullDisk(t *testing.T) {
	t.Parallel()
	all, path := openTemp(t, DirOptions{})
	for _, letter := range []string{"a", "b", "c"} {
		_, err := all.Put(t.Context(), Content{Data: strings.Repeat(letter, 900)})
		require.NoError(t, err)
	}
	contents := func() int {
		entries, err := all.files.entries(t.Context())
		require.NoError(t, err)
		return len(entries)
	}
	for _, limit := range []int64{5000, 2000} {
		d, err := OpenDir(path, DirOptions{Limit: limit})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		d.files.disk.fault = func(step string) error {
			if step == "write" && contents() > 2 {
				return syscall.ENOSPC
			}
			return nil
		}
		h, err := d.Put(t.Context(), Content{Data: "new"})
		if limit == 5000 {
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.Equal(t, 3, contents(), "what the limit allows is not given up")
			continue
		}
		require.NoError(t, err)
		_, err = d.Get(t.Context(), h)
		require.NoError(t, err)
	}
}

func TestEvictionThatFails(t *testing.T) {
	t.Parallel()
	d, _ := openTemp(t, DirOptions{Limit: 1000})
	d.files.disk.fault = func(step string) error {
		if step == "evict" {
			return syscall.EROFS
		}
		return nil
	}
	_, err := d.Put(t.Context(), Content{Data: strings.Repeat("a", 900)})
	require.NoError(t, err)
	for _, c := range []Content{{Data: strings.Repeat("b", 900)}, {Data: "a little one"}} {
		_, err = d.Put(t.Context(), c)
		require.ErrorIs(t, err, syscall.EROFS, "as long as there is too much, each Put says so")
		require.ErrorContains(t, err, "store: put: make room: ")
	}
	d.files.disk.fault = func(step string) error {
		if step == "evict" {
			return errors.Join(d.files.disk.root.RemoveAll(folderOf("")), fs.ErrNotExist)
		}
		return nil
	}
	_, err = d.Put(t.Context(), Content{Data: strings.Repeat("c", 900)})
	require.NoError(t, err, "what another process has removed needs no removing")
}
