package chainfile

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
)

// inMemory is the value of the keys journal and archive for what ends with the process.
const inMemory = "memory"

// urls begins with a scheme of at least two letters: C:\archive is a folder.
var urls = regexp.MustCompile(`^[a-z][a-z0-9+.-]+:`)

// database is the value of a key that names one, until [File.Open].
type database struct {
	url string
	key node
	use func(e *engine.Engine) // sets the field of the file
}

// readJournal reads the word memory or the URL of a database.
func (f *File) readJournal(n node) {
	where := n.text()
	switch {
	case where == inMemory:
		f.Journal = journal.NewMemory(0)
	case urls.MatchString(where):
		f.await(n, func(e *engine.Engine) { f.Journal = e.Journal() })
	case where != "":
		n.failf("is neither %s nor the URL of a database, want %s", inMemory, forms)
	}
}

// readArchive reads the word memory, the URL of a database, or the path of a folder.
func (f *File) readArchive(n node) {
	where := n.text()
	switch {
	case where == inMemory:
		f.archives = store.NewMemory(0).Scope
	case urls.MatchString(where):
		f.await(n, func(e *engine.Engine) { f.keepIn(e.Archive) })
	case where != "":
		f.archives = folders(where)
	}
}

// keepIn sets the archive to the scope of the file of what has several.
func (f *File) keepIn(archives func(scope string) store.Store) {
	f.archives, f.Archive = archives, archives(f.Scope)
}

// In returns a copy of the file for another scope, such as a tenant: the archive that the file names is that scope of it, the
// journal is the same. Scopes share no edit and no content. Call it after Open, and before setting Archive.
func (f *File) In(scope string) *File {
	other := *f
	other.Scope = scope
	if f.archives != nil {
		other.Archive = f.archives(scope)
	}
	return &other
}

const forms = inMemory + ", sqlite:PATH, postgres://…, redis://…"

// await notes a database that Open opens. A scheme without a driver is an error of the file.
func (f *File) await(n node, use func(*engine.Engine)) {
	url := n.raw()
	known := engine.Internals(inside.Key{}).Schemes()
	if scheme, _, _ := strings.Cut(url, ":"); !slices.Contains(known, scheme) {
		has := "none"
		if len(known) > 0 {
			has = list(known)
		}
		n.failf("names a database for which the program has no driver (it has %s), want %s", has, forms)
		return
	}
	f.databases = append(f.databases, database{url: url, key: n, use: use})
}

// Open opens the databases that the keys journal and archive name, and must be called before With if there are any. If both
// keys have the same URL, they share one [engine.Engine]. end closes all of them; it is never nil. If one cannot be opened,
// all are closed, and the error wraps an [*Error] that names the key and the place. It has no password.
func (f *File) Open(ctx context.Context, o engine.Options) (end func() error, err error) {
	opened := map[string]*engine.Engine{}
	end = sync.OnceValue(func() error {
		var all []error
		for _, e := range opened {
			all = append(all, e.Close())
		}
		return errors.Join(all...)
	})
	for _, d := range f.databases {
		e := opened[d.url]
		if e == nil {
			e, err = engine.Open(ctx, d.url, o)
			if err != nil {
				return func() error { return nil }, errors.Join(d.key.errorf("cannot be opened: %v; want %s", err, forms), end())
			}
			opened[d.url] = e
		}
		d.use(e)
	}
	f.databases = nil
	return end, nil
}

// folder is a scope of a folder that is opened when it is needed.
type folder struct {
	scope string
	open  func() (*store.Dir, error)
}

// folders returns the scopes of a folder. It is created and opened by the first Put or Get. If that fails, so does each
// call.
func folders(path string) func(scope string) store.Store {
	open := sync.OnceValues(func() (*store.Dir, error) { return store.OpenDir(path) })
	return func(scope string) store.Store {
		return folder{scope, open}
	}
}

// Handle implements [store.Store].
func (f folder) Handle(h message.ContentHash) store.Handle { return store.HandleIn(nil, f.scope, h) }

// Put implements [store.Store].
func (f folder) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	dir, err := f.open()
	if err != nil {
		return err
	}
	return dir.Scope(f.scope).Put(ctx, conversation, contents)
}

// Get implements [store.Store].
func (f folder) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	dir, err := f.open()
	if err != nil {
		return store.Content{}, err
	}
	return dir.Scope(f.scope).Get(ctx, h)
}

// Delete removes contents as [store.Dir.Delete].
func (f folder) Delete(ctx context.Context, scope string, conversations ...message.ID) error {
	dir, err := f.open()
	if err != nil {
		return err
	}
	return dir.Delete(ctx, scope, conversations...)
}

// unopened returns the error of each call if a database that is used has not been opened.
func (f *File) unopened(env middleware.Env) error {
	for _, d := range f.databases {
		if d.key.path == "journal" && env.Journal == nil || d.key.path == "archive" && env.Archive == nil {
			err := d.key.errorf("names a database that is not open: call File.Open before File.With")
			return &middleware.Error{Kind: middleware.Invalid, Op: "chainfile", Err: err}
		}
	}
	return nil
}
