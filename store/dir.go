package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Dir is a [Store] of files in a folder. It embeds its scope "". Several processes
// may share the folder. It is safe for concurrent use.
//
// Each content is one file. Its name is the handle, its folder is named by a hash of
// the scope; no name contains a part of a content. A file appears complete and
// synced to disk, or not at all, even if the process is killed. What is read is
// checked against the handle: a damaged file is [ErrDamaged], and the next Put of
// its content replaces it. Links and files of other names or kinds are ignored.
//
// Files have mode 0600, folders 0700. Put needs no memory in addition to its
// argument, Get as much as the content.
type Dir struct {
	root

	files *files
}

// DirOptions are the options of a [Dir]. The zero value sets no limit.
type DirOptions struct {
	// Limit is the number of bytes of files to keep, for all scopes together; 0: no
	// limit. Above it, the contents that were neither put nor read for the longest
	// time are removed. Each further process may exceed it by an eighth.
	Limit int64
}

// OpenDir opens a folder as a store, and creates it if it does not exist. It
// removes temporary files that killed processes left more than an hour ago.
//
// A read-only folder can be opened: Get works and Put returns an error.
func OpenDir(path string, opts DirOptions) (*Dir, error) {
	if opts.Limit < 0 {
		return nil, fmt.Errorf("store: open: DirOptions.Limit is %d, want bytes, or 0 for no limit", opts.Limit)
	}
	if path == "" {
		return nil, errors.New("store: open: the path is empty, want a folder")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	f := &files{disk: disk{root: folder}, limit: opts.Limit}
	f.added.Store(opts.Limit) // existing contents have not been counted
	f.disk.sweep(time.Now())
	return &Dir{root{scope{in: f}}, f}, nil
}

// Close releases the folder. It does not wait for running calls, which may fail.
func (d *Dir) Close() error { return d.files.disk.root.Close() }

// files is the [backend] of a Dir.
type files struct {
	disk  disk
	limit int64

	added    atomic.Int64 // bytes since the contents were last counted
	counting sync.Mutex
}

// put looks before it writes. Another process may write in between; that is the
// same content, or one of the same 52 bits of hash in the same moment.
func (f *files) put(ctx context.Context, scope string, c Content, want sum) (Handle, error) {
	if err := c.check(); err != nil {
		return Handle{}, err
	}
	size := int64(len(header(c.Type)) + len(c.Data))
	if f.limit > 0 && size > f.limit {
		return Handle{}, fmt.Errorf("%w: %d bytes, and this folder keeps %d", ErrTooLarge, size, f.limit)
	}
	h := want.handle()
	f.touch(scope, h) // first, so that it is not evicted while it is read
	_, there, err := f.read(ctx, scope, h, nil)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrDamaged):
		if err := f.writeWithin(ctx, scope, h, c); err != nil {
			return Handle{}, err
		}
		return h, f.bound(ctx, size, scope, h)
	case err != nil:
		return Handle{}, err
	case there != want:
		return Handle{}, fmt.Errorf("%s: %w", h, ErrConflict)
	}
	return h, nil
}

func (f *files) get(ctx context.Context, scope string, h Handle) (Content, error) {
	var data strings.Builder
	contentType, _, err := f.read(ctx, scope, h, &data)
	if err != nil {
		return Content{}, err
	}
	f.touch(scope, h)
	return Content{Type: contentType, Data: data.String()}, nil
}

func (f *files) drop(_ context.Context, scope string) error {
	if err := f.disk.root.RemoveAll(folderOf(scope)); err != nil {
		return err
	}
	return f.disk.syncFolder(".")
}

// read reads the file of a handle, checks it, and appends its data to data unless
// that is nil.
func (f *files) read(ctx context.Context, scope string, h Handle, data *strings.Builder) (string, sum, error) {
	if h.IsZero() {
		return "", sum{}, ErrNotFound
	}
	name := pathOf(scope, h)
	file, size, err := f.disk.open(name)
	if err != nil {
		return "", sum{}, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	contentType, s, err := readFile(ctx, file, size, scope, data)
	if err == nil && s.handle() != h {
		err = fmt.Errorf("%w: it has another hash", ErrDamaged)
	}
	if err != nil {
		return "", sum{}, fmt.Errorf("%s: %w", name, err)
	}
	return contentType, s, nil
}

// writeWithin writes the file of a handle. If that fails, for example because the
// disk is full, and there are more bytes than the limit, it evicts and tries again.
func (f *files) writeWithin(ctx context.Context, scope string, h Handle, c Content) error {
	err := f.write(ctx, scope, h, c)
	if err == nil || f.limit == 0 || ctx.Err() != nil {
		return err
	}
	f.counting.Lock()
	freed, _ := f.evict(ctx, f.limit, "") // err is the error to report
	f.counting.Unlock()
	if freed == 0 {
		return err
	}
	return f.write(ctx, scope, h, c)
}

// write writes the file of a handle. It starts again if another process removes the
// temporary file as left over, or the folder with the whole scope.
func (f *files) write(ctx context.Context, scope string, h Handle, c Content) error {
	const tries = 3
	var err error
	for range tries {
		var temp string
		if temp, err = f.disk.temp(ctx, header(c.Type), c.Data); err == nil {
			if err = f.disk.place(temp, folderOf(scope), h.letters); err == nil {
				return nil
			}
			f.disk.remove(temp)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// touch makes a content the newest if there is a limit. A file that is missing or
// read-only is not an error.
func (f *files) touch(scope string, h Handle) {
	if f.limit > 0 {
		now := time.Now()
		_ = f.disk.root.Chtimes(pathOf(scope, h), now, now)
	}
}

// bound enforces the limit after size bytes were added as one content, which is not
// evicted. Counting reads all folders, so it is done each time an eighth of the
// limit was added, and then makes room for an eighth.
func (f *files) bound(ctx context.Context, size int64, scope string, h Handle) error {
	slack := f.limit / 8
	if f.limit == 0 || f.added.Add(size) <= slack || !f.counting.TryLock() {
		return nil
	}
	defer f.counting.Unlock()
	f.added.Store(0)
	if _, err := f.evict(ctx, f.limit-slack, pathOf(scope, h)); err != nil {
		f.added.Store(f.limit) // the next Put tries again
		return fmt.Errorf("make room: %w", err)
	}
	return nil
}

// evict removes the contents that were used longest ago until at most the given
// number of bytes is left. It does not remove the path keep. It returns the number of
// bytes removed.
func (f *files) evict(ctx context.Context, most int64, keep string) (freed int64, err error) {
	entries, err := f.entries(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, e := range entries {
		total += e.size
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path))
	})
	for _, e := range entries {
		if total-freed <= most {
			break
		}
		if e.path == keep {
			continue
		}
		err := f.disk.step("evict", func() error { return f.disk.root.Remove(e.path) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have removed it
			return freed, err
		}
		freed += e.size
	}
	return freed, nil
}

// entry is the file of a content.
type entry struct {
	path string
	size int64
	used time.Time
}

// entries lists the contents of all scopes, and no other files. Files that another
// process removes during the call may be missing. Handles of more than one word,
// which earlier versions wrote, are included, so that they are evicted too.
func (f *files) entries(ctx context.Context) ([]entry, error) {
	tree := f.disk.root.FS()
	folders, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !folder.IsDir() || len(folder.Name()) != 2*handleLen || !isWords(folder.Name()) {
			continue
		}
		contents, err := fs.ReadDir(tree, folder.Name())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, c := range contents {
			if !isWords(c.Name()) || !c.Type().IsRegular() {
				continue
			}
			if info, err := c.Info(); err == nil {
				all = append(all, entry{folder.Name() + "/" + c.Name(), info.Size(), info.ModTime()})
			}
		}
	}
	return all, nil
}

// folderOf returns the name of a scope's folder: two words of a hash.
func folderOf(scope string) string {
	return sum(sha256.Sum256([]byte("laconic scope 1 " + scope))).words(2)
}

func pathOf(scope string, h Handle) string { return folderOf(scope) + "/" + h.letters }
