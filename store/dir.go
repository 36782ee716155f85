package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
)

// Dir is a [Store] of files in a folder, without a limit. Several processes may share the
// folder. It is safe for concurrent use.
//
// Each content is one file. Its name is the handle, its folder is named by a hash of
// the scope; no name contains a part of a content. A file appears complete and
// synced to disk, or not at all, even if the process is killed. What is read is
// checked against the handle: a damaged file is [ErrDamaged], and the next Put of
// its content replaces it. Links and files of other names or kinds are ignored.
// For each conversation there is a file that lists the handles of its contents.
//
// Files have mode 0600, folders 0700.
type Dir struct {
	Store // its scope ""

	disk *disk
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
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	d := &disk{root: root}
	_ = d.sweep(func(_ string, age time.Duration) bool { return age > tempAge }) // the folder may be read-only
	return &Dir{Store: newDirScope(d, ""), disk: d}, nil
}

// Scope returns one scope as a store. Scope("") has the contents of [OpenDir].
func (d *Dir) Scope(name string) Store { return newDirScope(d.disk, name) }

// Close releases the folder. It does not wait for running calls, which may fail.
func (d *Dir) Close() error { return d.disk.root.Close() }

// Delete removes all contents of a scope or, if conversations are named, those that belong
// to no other conversation; the zero ID is that of contents without a conversation. What
// killed processes left of them is removed, too. If Delete fails or is interrupted, some
// may remain, and Delete can be called again. Contents that are put during the call may be
// kept or removed.
func (d *Dir) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	s := newDirScope(d.disk, scope)
	var err error
	if len(conversations) == 0 {
		err = d.disk.sweep(func(name string, _ time.Duration) bool { return strings.HasPrefix(name, s.folder+".") })
		err = errors.Join(err, d.disk.root.RemoveAll(s.folder), d.disk.syncFolder("."))
	} else {
		err = s.forget(ctx, conversations)
	}
	if err != nil {
		return fmt.Errorf("store: delete: %w", err)
	}
	return nil
}

// dirScope is one scope of a Dir.
type dirScope struct {
	keys   scope
	folder string
	disk   *disk
}

func newDirScope(d *disk, name string) *dirScope {
	hash := sha256.Sum256([]byte("laconic scope 1 " + name))
	first, second := word(hash, 0), word(hash, 1)
	return &dirScope{keys: newScope(nil, name), folder: string(first[:]) + string(second[:]), disk: d}
}

// Handle implements [Store].
func (s *dirScope) Handle(h message.ContentHash) Handle { return s.keys.Handle(h) }

// Put implements [Store].
func (s *dirScope) Put(ctx context.Context, conversation message.ID, contents []Named) error {
	if err := s.put(ctx, conversation, contents); err != nil {
		return fmt.Errorf("store: put: %w", err)
	}
	return nil
}

// put lists the handles first: no file is forgotten by Delete, whenever the process ends.
func (s *dirScope) put(ctx context.Context, conversation message.ID, contents []Named) error {
	all, err := once(contents)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || len(all) == 0 {
		return err
	}
	if err := s.disk.list(s.folder, conversation.String(), all); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(all))
	limit := make(chan struct{}, 8) // writes at the same time
	for i, n := range all {
		limit <- struct{}{}
		wg.Go(func() {
			if !n.alone() {
				errs[i] = s.write(ctx, n)
			}
			<-limit
		})
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), s.disk.syncFolder(s.folder))
}

// write writes the file of a content unless it is there.
// Another process may write in between: the same content, or one of the same 52 bits of
// hash in the same moment.
func (s *dirScope) write(ctx context.Context, n *Named) error {
	c, err := s.read(ctx, n.Handle)
	switch {
	case err == nil && c == n.Content:
		return nil
	case err == nil:
		return conflict(n.Handle)
	case !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotFound):
		return err
	}
	temp, err := s.disk.temp(s.folder+"."+n.Handle.String(), header(n.Content.Type), n.Content.Data)
	if err != nil {
		return err
	}
	err = s.disk.step("rename", func() error { return s.disk.root.Rename(temp, s.pathOf(n.Handle)) })
	if err != nil {
		_ = s.disk.remove(temp)
	}
	return err
}

// Get implements [Store].
func (s *dirScope) Get(ctx context.Context, h Handle) (Content, error) {
	c, err := s.read(ctx, h)
	if err != nil {
		return Content{}, fmt.Errorf("store: get %s: %w", h, err)
	}
	return c, nil
}

// read reads the file of a handle and checks it.
func (s *dirScope) read(ctx context.Context, h Handle) (Content, error) {
	if h.IsZero() {
		return Content{}, ErrNotFound
	}
	if err := ctx.Err(); err != nil {
		return Content{}, err
	}
	text, err := s.disk.read(s.pathOf(h))
	if err != nil {
		return Content{}, err
	}
	c, err := parse(text)
	if err == nil && s.Handle(c.Hash()) != h {
		err = fmt.Errorf("%w: it has another hash", ErrDamaged)
	}
	if err != nil {
		return Content{}, fmt.Errorf("%s: %w", s.pathOf(h), err)
	}
	return c, nil
}

func (s *dirScope) pathOf(h Handle) string { return s.folder + "/" + h.String() }

// forget removes the contents of conversations, and their lists after that.
func (s *dirScope) forget(ctx context.Context, conversations []message.ID) error {
	gone, lists, err := s.owned(conversations)
	if err != nil || len(lists) == 0 {
		return err
	}
	err = s.disk.sweep(func(name string, _ time.Duration) bool {
		h, err := ParseHandle(strings.TrimPrefix(name[:strings.LastIndex(name, ".")], s.folder+"."))
		return err == nil && gone[h]
	})
	if err != nil {
		return err
	}
	for h := range gone {
		if err := errors.Join(ctx.Err(), s.disk.remove(s.pathOf(h))); err != nil {
			return err
		}
	}
	if err := s.disk.syncFolder(s.folder); err != nil {
		return err
	}
	for _, list := range lists {
		if err := s.disk.remove(list); err != nil {
			return err
		}
	}
	return s.disk.syncFolder(s.folder)
}

// owned returns the handles that are only in the lists of some conversations, and these
// lists.
func (s *dirScope) owned(conversations []message.ID) (only map[Handle]bool, lists []string, err error) {
	entries, err := fs.ReadDir(s.disk.root.FS(), s.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	only, kept := map[Handle]bool{}, map[Handle]bool{}
	for _, e := range entries {
		var id message.ID
		if id.UnmarshalText([]byte(e.Name())) != nil {
			continue
		}
		list, into := s.folder+"/"+e.Name(), kept
		if slices.Contains(conversations, id) {
			into = only
			lists = append(lists, list)
		}
		handles, err := s.disk.listed(list)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(into, handles)
	}
	maps.DeleteFunc(only, func(h Handle, _ bool) bool { return kept[h] })
	return only, lists, nil
}
