package chainfile

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// MaxSize is how many bytes a chain file may have.
const MaxSize = 64 << 10

// File is a chain as it was written down. Its fields are the caller's to
// change. The middlewares are safe for concurrent use.
type File struct {
	Model   string         // name of the model; "": the file names none
	Window  int            // context size of the model, in tokens; 0: the file gives none
	Reserve int            // of it: kept free for the answer
	Counter tokens.Counter // nil: auto, the counter that a chain uses by itself
	Archive store.Store    // where cleared content is kept, for the chain and for a tool like agent.Recall; nil: the file names none

	// Chain has the middlewares in order, the outermost first: at least one.
	Chain []middleware.Middleware

	// Summarizer is the model that writes the summaries of the entries that say by:
	// model. It may be set as long as no call is made. nil: where there is such an
	// entry, each call fails, and the error says which it is.
	Summarizer middleware.Model
}

// Load reads the chain file at path.
func Load(path string) (*File, error) {
	f, err := os.Open(path) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return nil, fmt.Errorf("chainfile: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("chainfile: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a chain file. The name is what errors call it; nothing is opened.
// What is wrong with the text is an [*Error], about the first place where
// something is wrong.
func Parse(name string, data []byte) (*File, error) {
	root, err := parseYAML(&source{name: name}, data)
	if err != nil {
		return nil, err
	}
	var f File
	if err := root.read(f.keys()); err != nil {
		return nil, err
	}
	if err := f.validate(root); err != nil {
		return nil, err
	}
	return &f, nil
}

// keys are what may stand at the top of a chain file.
func (f *File) keys() []key {
	return []key{
		{"model", text(&f.Model)},
		{"window", whole(&f.Window, 1)},
		{"reserve", whole(&f.Reserve, 0)},
		{"counter", counter(&f.Counter)},
		{"archive", archive(&f.Archive)},
		{"chain", chain(f)},
	}
}

// validate reports what is wrong with values that are right by themselves.
func (f *File) validate(root *node) error {
	reserve := root.value("reserve")
	switch {
	case f.Chain == nil:
		return root.errorf("has no chain: want a list of middlewares under the key chain, as %s", smallest)
	case reserve == nil:
		return nil
	case f.window() == 0:
		return reserve.errorf("needs the key window, the context size of the model in tokens, of which it is a part")
	case f.Reserve >= f.window():
		return reserve.errorf("is %d tokens, want less than the window of %d", f.Reserve, f.window())
	}
	return nil
}

const smallest = "chain: [{use: contextedit}]"

// window is the file's, or that of its model.
func (f *File) window() int {
	m, _ := models.Default().Lookup(f.Model)
	return cmp.Or(f.Window, m.Window)
}

// Budget returns the window and reserve, or nil if the file gives neither. A
// file that gives a reserve alone means that of its model's window.
func (f *File) Budget() *middleware.Budget {
	if f.window() == 0 || f.Window == 0 && f.Reserve == 0 {
		return nil
	}
	return &middleware.Budget{Window: f.window(), Reserve: f.Reserve}
}

// Middleware returns the chain as one middleware with a memory of its own. A
// request that names no model, or has no budget, gets those of the file.
func (f *File) Middleware() middleware.Middleware { return f.With(middleware.Env{}) }

// With is [File.Middleware] with an Env, as to keep the edits in a journal that
// several processes share. The file's counter and archive are
// used if env has none.
func (f *File) With(env middleware.Env) middleware.Middleware {
	if env.Counter == nil {
		env.Counter = f.Counter
	}
	if env.Archive == nil {
		env.Archive = f.Archive
	}
	chain, model, budget := middleware.With(env, f.Chain...), f.Model, f.Budget()
	return func(next middleware.Model) middleware.Model {
		inner := chain(next)
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Model = cmp.Or(r.Model, model)
			r.Budget = cmp.Or(r.Budget, budget)
			return inner(ctx, &r, emit)
		}
	}
}

// chain reads the list of middlewares.
func chain(f *File) value {
	return func(n *node) error {
		if n.shape != aList {
			return n.wrong("a list of middlewares, as [{use: contextedit}]")
		}
		if len(n.items) == 0 {
			return n.errorf("is empty, want at least one middleware, as [{use: contextedit}]")
		}
		for _, entry := range n.items {
			mw, err := entry.middleware(f)
			if err != nil {
				return err
			}
			f.Chain = append(f.Chain, mw)
		}
		return nil
	}
}

// middleware reads one entry of the chain of a file.
func (n *node) middleware(f *File) (middleware.Middleware, error) {
	if n.shape != aMap {
		return nil, n.wrong("a map with the key use, as {use: contextedit}")
	}
	use := n.value("use")
	if use == nil {
		return nil, n.errorf("names no middleware: want the key use, with %s", oneOf(Kinds()))
	}
	var name string
	if err := text(&name)(use); err != nil {
		return nil, err
	}
	k, ok := kinds()[name]
	if !ok {
		return nil, use.errorf("is %q, which is no middleware%s; want %s", name, didYouMean(name, Kinds()), oneOf(Kinds()))
	}
	return k.build(n, f)
}
