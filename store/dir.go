package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Dir is a [Store] of files in a folder, and its scope "". Any number of
// processes may share the folder. It is safe for concurrent use.
//
// Each content is a file that is named by its handle, in a folder that is named
// by a hash of the scope; no name comes from a content. A file appears whole
// and written out, or not at all, whenever a process is killed. What is read is
// checked against the handle: a damaged file is [ErrDamaged], and put again it
// is whole again. Links and files of other names or kinds are left alone.
//
// Files have mode 0600, folders 0700. Put needs no more memory than its
// argument, Get as much as the content.
type Dir struct {
	disk  disk
	limit int64

	added    atomic.Int64 // bytes since the contents were last counted
	counting sync.Mutex
}

// DirOptions are the options of a [Dir]. The zero value bounds nothing.
type DirOptions struct {
	// Limit is how many bytes of files to keep, of all scopes together; 0:
	// any number. When there are more, those go that were neither put nor read
	// for longest. Each further process may exceed it by an eighth.
	Limit int64
}

// OpenDir opens a folder as a store and makes it if there is none. It removes
// the temporary files of processes that were killed more than an hour ago.
//
// A folder that cannot be written to can be read: Get works and Put says what
// is wrong.
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
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	d := &Dir{disk: disk{root: root}, limit: opts.Limit}
	d.added.Store(opts.Limit) // what is there was never counted
	d.disk.sweep(time.Now())
	return d, nil
}

// Close releases the folder. It waits for nothing: calls that run may fail.
func (d *Dir) Close() error { return d.disk.root.Close() }

// Scope returns the contents of one scope as a store. "" is the Dir itself.
func (d *Dir) Scope(name string) Store { return scoped{d, name} }

// Put implements [Store]. A content that is there is not written again.
func (d *Dir) Put(ctx context.Context, c Content) (Handle, error) { return d.Scope("").Put(ctx, c) }

// Get implements [Store].
func (d *Dir) Get(ctx context.Context, h Handle) (Content, error) { return d.Scope("").Get(ctx, h) }

// Handle implements [Store].
func (d *Dir) Handle(c Content) Handle { return shortest("", c) }

// Delete removes all contents of a scope. If it fails or is killed, some may be
// left. What is put meanwhile may go or stay.
func (d *Dir) Delete(_ context.Context, scope string) error {
	err := d.disk.root.RemoveAll(folderOf(scope))
	if err == nil {
		err = d.disk.syncFolder(".")
	}
	if err != nil {
		return fmt.Errorf("store: delete: %w", err)
	}
	return nil
}

// folderOf is the name of a scope's folder: two words like those of a handle.
func folderOf(scope string) string {
	return sum(sha256.Sum256([]byte("laconic scope 1 " + scope))).letters(2)
}

// put looks before it writes, and another process may write in between. That
// matters only if it writes another content with the same letters at that very
// moment.
func (d *Dir) put(ctx context.Context, scope string, c Content, want sum) (Handle, error) {
	if err := c.check(); err != nil {
		return Handle{}, err
	}
	size := int64(len(header(c.Type)) + len(c.Data))
	if d.limit > 0 && size > d.limit {
		return Handle{}, fmt.Errorf("%w: %d bytes, and this folder keeps %d", ErrTooLarge, size, d.limit)
	}
	for h := range want.handles() {
		d.touch(scope, h) // first, so that it does not go while it is looked at
		_, there, err := d.read(ctx, scope, h, nil)
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrDamaged):
			if err := d.writeWithin(ctx, scope, h, c); err != nil {
				return Handle{}, err
			}
			return h, d.bound(ctx, size, scope, h)
		case err != nil:
			return Handle{}, err
		case there == want:
			return h, nil
		}
	}
	return Handle{}, errors.New("all handles of the content are those of others")
}

func (d *Dir) get(ctx context.Context, scope string, h Handle) (Content, error) {
	var data strings.Builder
	contentType, _, err := d.read(ctx, scope, h, &data)
	if err != nil {
		return Content{}, err
	}
	d.touch(scope, h)
	return Content{Type: contentType, Data: data.String()}, nil
}

// read reads the file of a handle and makes sure that it is whole.
func (d *Dir) read(ctx context.Context, scope string, h Handle, data *strings.Builder) (string, sum, error) {
	if h.IsZero() {
		return "", sum{}, ErrNotFound
	}
	name := folderOf(scope) + "/" + h.letters
	f, size, err := d.disk.open(name)
	if err != nil {
		return "", sum{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	contentType, s, err := readFile(ctx, f, size, scope, data)
	if err == nil && !s.has(h) {
		err = fmt.Errorf("%w: it has another hash", ErrDamaged)
	}
	if err != nil {
		return "", sum{}, fmt.Errorf("%s: %w", name, err)
	}
	return contentType, s, nil
}

// writeWithin makes the file of a handle. If that fails, as on a full disk, and
// there is more than the limit allows, as since it was lowered, that goes first.
func (d *Dir) writeWithin(ctx context.Context, scope string, h Handle, c Content) error {
	err := d.write(ctx, scope, h, c)
	if err == nil || d.limit == 0 || ctx.Err() != nil {
		return err
	}
	d.counting.Lock()
	freed, _ := d.evict(ctx, d.limit, "") // what is wrong with the folder is in the other error
	d.counting.Unlock()
	if freed == 0 {
		return err
	}
	return d.write(ctx, scope, h, c)
}

// write makes the file of a handle. It begins anew if somebody removes its
// temporary file, as one that seems to be left over, or the folder, with all
// contents of the scope.
func (d *Dir) write(ctx context.Context, scope string, h Handle, c Content) error {
	const tries = 3
	var err error
	for range tries {
		var temp string
		if temp, err = d.disk.temp(ctx, header(c.Type), c.Data); err == nil {
			if err = d.disk.place(temp, folderOf(scope), h.letters); err == nil {
				return nil
			}
			d.disk.remove(temp)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// touch makes a content the newest, where that counts. A file that is not there
// or may not be changed is no obstacle.
func (d *Dir) touch(scope string, h Handle) {
	if d.limit > 0 {
		now := time.Now()
		_ = d.disk.root.Chtimes(folderOf(scope)+"/"+h.letters, now, now)
	}
}
