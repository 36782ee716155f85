package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// bound keeps the contents within the limit, after one of so many bytes was
// added. To count them takes a look at each file, so it is done once in a
// while, and then makes room for the while to come.
func (d *Dir) bound(ctx context.Context, size int64, scope string, h Handle) error {
	slack := d.limit / 8
	if d.limit == 0 || d.added.Add(size) <= slack || !d.counting.TryLock() {
		return nil
	}
	defer d.counting.Unlock()
	d.added.Store(0)
	if _, err := d.evict(ctx, d.limit-slack, folderOf(scope)+"/"+h.letters); err != nil {
		d.added.Store(d.limit) // the next one tries again
		return fmt.Errorf("make room: %w", err)
	}
	return nil
}

// entry is a content's file.
type entry struct {
	name string
	size int64
	used time.Time
}

// evict removes the contents that were used longest ago, all but one, until at
// most so many bytes are left. It returns how many bytes have gone.
func (d *Dir) evict(ctx context.Context, most int64, keep string) (freed int64, err error) {
	entries, err := d.entries(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, e := range entries {
		total += e.size
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name))
	})
	for _, e := range entries {
		if total-freed <= most {
			break
		}
		if e.name == keep {
			continue
		}
		err := d.disk.step("evict", func() error { return d.disk.root.Remove(e.name) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may be at it as well
			return freed, err
		}
		freed += e.size
	}
	return freed, nil
}

// entries lists the contents of all scopes, and nothing else that may lie
// there. What another process removes meanwhile is left out.
func (d *Dir) entries(ctx context.Context) ([]entry, error) {
	files := d.disk.root.FS()
	folders, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !folder.IsDir() || !isFolder(folder.Name()) {
			continue
		}
		contents, err := fs.ReadDir(files, folder.Name())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, c := range contents {
			_, err := ParseHandle(c.Name())
			if err != nil || !c.Type().IsRegular() {
				continue
			}
			if info, err := c.Info(); err == nil {
				all = append(all, entry{folder.Name() + "/" + c.Name(), info.Size(), info.ModTime()})
			}
		}
	}
	return all, nil
}

// isFolder reports whether a name is one that folderOf makes.
func isFolder(name string) bool {
	_, err := ParseHandle(name)
	return err == nil && len(name) == 2*wordLen
}
