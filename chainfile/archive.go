package chainfile

import (
	"context"
	"sync"

	"github.com/laconic-go/laconic/store"
)

// inMemory is what a chain file says for an archive that lasts as long as the
// process.
const inMemory = "memory"

// archive reads where cleared content is kept into a variable.
func archive(dst *store.Store) value { //nolint:gocritic // ptrToRefParam: it is written to
	return func(n *node) error {
		var where string
		if err := text(&where)(n); err != nil {
			return err
		}
		if where == inMemory {
			*dst = store.NewMemory(0)
		} else {
			*dst = Folder(where)
		}
		return nil
	}
}

// Folder returns a folder as a store that is made and opened when something is put
// or asked for: what the key archive means if it is a path. If that fails, so does
// Put, and it is tried again the next time.
func Folder(path string) store.Store { return &folder{path: path} }

// folder is a store that is opened when it is needed.
type folder struct {
	path string

	mu  sync.Mutex
	dir *store.Dir
}

func (f *folder) open() (*store.Dir, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir == nil {
		dir, err := store.OpenDir(f.path, store.DirOptions{})
		if err != nil {
			return nil, err
		}
		f.dir = dir
	}
	return f.dir, nil
}

// Put implements [store.Store].
func (f *folder) Put(ctx context.Context, c store.Content) (store.Handle, error) {
	dir, err := f.open()
	if err != nil {
		return store.Handle{}, err
	}
	return dir.Put(ctx, c)
}

// Get implements [store.Store].
func (f *folder) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	dir, err := f.open()
	if err != nil {
		return store.Content{}, err
	}
	return dir.Get(ctx, h)
}

// Handle implements [store.Store].
func (f *folder) Handle(c store.Content) store.Handle { return store.HandleOf("", c) }
