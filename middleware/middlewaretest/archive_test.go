package middlewaretest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/store"
)

// folder is a Dir that can be opened again and damaged.
type folder struct {
	*store.Dir

	t    *testing.T
	path string
}

func openFolder(t *testing.T, path string) folder {
	d, err := store.OpenDir(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return folder{Dir: d, t: t, path: path}
}

func (f folder) Reopen() store.Store { return openFolder(f.t, f.path) }

func (f folder) Damage(h store.Handle) error {
	files, err := filepath.Glob(filepath.Join(f.path, "*", h.String()))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("%d files: %w", len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	data[len(data)-1] ^= 1
	return os.WriteFile(files[0], data, 0o600)
}

func TestArchive(t *testing.T) {
	t.Parallel()
	t.Run("Memory", func(t *testing.T) {
		t.Parallel()
		middlewaretest.Archive(t, func(*testing.T) store.Store { return store.NewMemory(0) })
	})
	t.Run("Dir", func(t *testing.T) {
		t.Parallel()
		middlewaretest.Archive(t, func(t *testing.T) store.Store { return openFolder(t, t.TempDir()) })
	})
}

func TestJournal(t *testing.T) {
	t.Parallel()
	middlewaretest.Journal(t, func(*testing.T) journal.Journal { return journal.NewMemory(0) })
}
