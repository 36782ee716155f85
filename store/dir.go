package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Dir is a [Store] of files in a folder, without a limit. It embeds its scope "". Several
// processes may share the folder. It is safe for concurrent use.
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

// OpenDir opens a folder as a store, and creates it if it does not exist. It
// removes temporary files that killed processes left more than an hour ago.
//
// A read-only folder can be opened: Get works and Put returns an error.
func OpenDir(path string) (*Dir, error) {
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
	f := &files{disk: disk{root: folder}}
	f.disk.sweep(time.Now())
	return &Dir{root{scope{in: f}}, f}, nil
}

// Close releases the folder. It does not wait for running calls, which may fail.
func (d *Dir) Close() error { return d.files.disk.root.Close() }

// files is the [backend] of a Dir.
type files struct{ disk disk }

// put looks before it writes. Another process may write in between; that is the
// same content, or one of the same 52 bits of hash in the same moment.
func (f *files) put(ctx context.Context, scope string, c Content, want sum) (Handle, error) {
	if err := c.check(); err != nil {
		return Handle{}, err
	}
	h := want.handle()
	_, there, err := f.read(ctx, scope, h, nil)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrDamaged):
		err = f.write(ctx, scope, h, c)
	case err == nil && there != want:
		err = fmt.Errorf("%s: %w", h, ErrConflict)
	}
	if err != nil {
		return Handle{}, err
	}
	return h, nil
}

func (f *files) get(ctx context.Context, scope string, h Handle) (Content, error) {
	var data strings.Builder
	contentType, _, err := f.read(ctx, scope, h, &data)
	if err != nil {
		return Content{}, err
	}
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

// write writes the file of a handle.
func (f *files) write(ctx context.Context, scope string, h Handle, c Content) error {
	temp, err := f.disk.temp(ctx, header(c.Type), c.Data)
	if err != nil {
		return err
	}
	if err := f.disk.place(temp, folderOf(scope), h.letters); err != nil {
		f.disk.remove(temp)
		return err
	}
	return nil
}

// folderOf returns the name of a scope's folder: two words of a hash.
func folderOf(scope string) string {
	return sum(sha256.Sum256([]byte("laconic scope 1 " + scope))).words(2)
}

func pathOf(scope string, h Handle) string { return folderOf(scope) + "/" + h.letters }
