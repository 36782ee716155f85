package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/soak"
)

func TestMain(m *testing.M) {
	soak.Checks(30)
	os.Exit(m.Run())
}

var large = Content{Type: "text/plain", Data: strings.Repeat("0123456789abcde\n", 1000)}

func openTemp(t *testing.T) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := OpenDir(path)
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

// record puts the large content and returns the steps that it takes.
func record(t *testing.T) []string {
	t.Helper()
	d, _ := openTemp(t)
	var steps []string
	d.disk.fault = func(step string) error {
		steps = append(steps, step)
		return nil
	}
	_, err := Keep(t.Context(), d, large)
	require.NoError(t, err)
	return steps
}

// A content is listed before it is written, so that it can be deleted. It is written out
// before it has its name, and its name is written out before Put returns: so it is whole or
// not there after the power failed, too.
func TestOrderOfSteps(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"mkdir", "list", "sync folder", "sync folder",
		"mkdir", "create", "write", "sync", "rename", "sync folder",
	}, record(t))
}

// A disk that is full or cannot be written to is an error that says so, and
// leaves the whole content or nothing. If no step works any more, it is left as by a process that was killed.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	steps := record(t)
	for k, step := range steps {
		for f, fault := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
			if (k+f)%soak.Nth(3, 1) > 0 { // another one at each step
				continue
			}
			for _, forGood := range []bool{false, true} {
				d, path := openTemp(t)
				n := 0
				d.disk.fault = func(string) error {
					n++
					if n == k+1 || forGood && n > k {
						return fault
					}
					return nil
				}
				h, err := Keep(t.Context(), d, large)
				require.ErrorIs(t, err, fault, "step %d, %s", k, step)
				require.ErrorContains(t, err, "store: put: ")
				require.True(t, h.IsZero())

				d.disk.fault = nil
				h = HandleOf("", large)
				c, err := d.Get(t.Context(), h)
				if k > slices.Index(steps, "rename") {
					require.NoError(t, err)
					same(t, large, c)
				} else {
					require.ErrorIs(t, err, ErrNotFound, "step %d, %s", k, step)
				}
				left, _ := os.ReadDir(filepath.Join(path, tempFolder))
				if !forGood {
					require.Empty(t, left, "step %d, %s: the temporary file is removed", k, step)
				}
				for _, e := range left {
					require.NoError(t, os.Chtimes(filepath.Join(path, tempFolder, e.Name()), time.Time{}, time.Now().Add(-2*tempAge)))
				}
				again, err := OpenDir(path)
				require.NoError(t, err)
				require.NoError(t, again.Close())
				left, _ = os.ReadDir(filepath.Join(path, tempFolder))
				require.Empty(t, left, "step %d, %s: what a killed process left goes in the end", k, step)
				got, err := Keep(t.Context(), d, large)
				require.NoError(t, err, "once there is room again")
				require.Equal(t, h, got)
				c, err = d.Get(t.Context(), h)
				require.NoError(t, err)
				same(t, large, c)
			}
		}
	}
}
