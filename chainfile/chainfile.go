// Package chainfile reads chains of middlewares from configuration.
//
//	model: claude-sonnet-5-5
//	window: 200000
//	reserve: 8000
//	chain:
//	  - use: contextedit
//	    trigger: [{tokens: 100000}, {fraction: 0.75, rounds: 10}]
//	    keep: 5
//	    exclude_tools: [db_query]
//
// A chain file is YAML or JSON. [File.With] returns it as one middleware:
//
//	file, err := chainfile.Load("chain.yaml")
//	if err != nil { … }
//	model := file.With(middleware.Env{})(provider)
//
// The keys of a middleware are the names of its options in snake case. An option that is left out has its
// default. Reading is strict: an unknown key, a wrong type or an impossible value is an [*Error] with the place
// and what is allowed there. A chain file uses the maps, lists and plain values of YAML; anchors, aliases, tags
// and a second document are errors. The page docs/chain-files.md lists all keys.
package chainfile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"

	"github.com/laconic-go/laconic"
	"github.com/laconic-go/laconic/internal/similar"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

const (
	maxSize  = 64 << 10 // bytes of a chain file
	smallest = "chain: [{use: contextedit}]"
)

// File is the content of a chain file. The caller may change its fields before With. The middlewares are safe for
// concurrent use.
type File struct {
	Model        string         // name of the model; "": not given
	Conversation string         // name of the conversation of requests that have none; "": not given
	Window       int            // context size of the model, in tokens; 0: not given
	Reserve      int            // tokens of the window that are kept free for the answer
	Counter      tokens.Counter // nil: auto, the chain's default counter
	Scope        string         // tenant and purpose, for the journal and an archive in a database
	Protect      []string       // tools whose calls and results no middleware changes
	Instructions []string       // tools whose results are instructions; see middleware.Env
	Asking       []string       // tools that ask the user; see middleware.Env

	// Journal remembers edits, and Archive keeps cleared content, for the chain and for a tool like agent.Recall. nil: not
	// given, or in a database that Open opens.
	Journal journal.Journal
	Archive store.Store

	Breakpoints bool // sets Env.Breakpoints: marks for the provider's cache

	// Chain has at least one middleware, the outermost first.
	Chain []middleware.Middleware

	// Summarizer is the model that writes the summaries of entries with by: model. It may be set until the first
	// call. If it is nil and there is such an entry, each call returns an error that names the entry.
	Summarizer middleware.Model

	archives  func(scope string) store.Store // the scopes of Archive; nil: not given
	databases []database                     // not open yet
}

// Load reads the chain file at path.
func Load(path string) (*File, error) {
	data, err := os.ReadFile(path) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return nil, fmt.Errorf("chainfile: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a chain file from data. The name is used in errors; Parse opens no file. If the text is wrong, the
// error is an [*Error] about its first wrong place.
func Parse(name string, data []byte) (*File, error) {
	src := &source{name: name}
	var f File
	if root, ok := src.parse(data); ok {
		f.read(root)
	}
	if src.first != nil {
		return nil, src.first
	}
	return &f, nil
}

// presets are the chains that the key preset names.
func presets() map[string][]middleware.Middleware {
	return map[string][]middleware.Middleware{
		"auto": {laconic.Auto()},
		"economy": {
			microcompact.New(microcompact.Options{
				Trigger: trigger.Economy(trigger.EconomyOptions{}), KeepRounds: 6,
				Limit: microcompact.Limits{Results: 400, Arguments: 600}, Digest: 120,
			}),
			fit.New(fit.Options{}),
		},
	}
}

// readPreset sets the chain to a preset, and an archive if there is none.
func (f *File) readPreset(n node) {
	all := presets()
	chain, ok := all[n.text()]
	if !ok {
		n.failf("is %q, want %s", short(n.raw()), oneOf(slices.Sorted(maps.Keys(all))))
		return
	}
	f.Chain = chain
	if f.archives == nil {
		f.keepIn(store.NewMemory(0).Scope)
	}
}

// keys are the top-level keys of a chain file.
func (f *File) keys() []key {
	return []key{
		{"model", set(&f.Model, node.text)},
		{"window", set(&f.Window, whole(1))},
		{"reserve", set(&f.Reserve, whole(0))},
		{"counter", set(&f.Counter, node.counter)},
		{"journal", f.readJournal},
		{"archive", f.readArchive},
		{"scope", set(&f.Scope, node.text)},
		{"conversation", set(&f.Conversation, node.text)},
		{"protect", set(&f.Protect, texts("tool names"))},
		{"instructions", set(&f.Instructions, texts("tool names"))},
		{"asking", set(&f.Asking, texts("tool names"))},
		{"breakpoints", set(&f.Breakpoints, node.yesNo)},
		{"preset", f.readPreset},
		{"chain", f.readChain},
	}
}

func (f *File) read(root node) {
	root.read(f.keys())
	if f.archives != nil {
		f.Archive = f.archives(f.Scope)
	}
	_, both := root.value("chain")
	if preset, ok := root.value("preset"); ok && both {
		preset.failf("stands for a chain, and there is one: want one of the two")
	}
	if f.Chain == nil {
		root.failf("has no chain: want a list of middlewares under the key chain, as %s, or preset: auto", smallest)
	}
	reserve, ok := root.value("reserve")
	switch {
	case !ok:
	case f.window() == 0:
		unknown := f.unknownModel(models.Default())
		if unknown != "" {
			unknown = "; " + unknown
		}
		reserve.failf("needs the key window, the context size of the model in tokens, of which it is a part%s", unknown)
	case f.Reserve >= f.window():
		reserve.failf("is %d tokens, want less than the window of %d", f.Reserve, f.window())
	}
}

// readChain reads the list of middlewares.
func (f *File) readChain(n node) {
	if n.kind() != aList {
		n.wrong("a list of middlewares, as [{use: contextedit}]")
	}
	entries := n.items()
	if len(entries) == 0 {
		n.failf("is empty, want at least one middleware, as [{use: contextedit}]")
	}
	for _, entry := range entries {
		if mw := f.readEntry(entry); mw != nil {
			f.Chain = append(f.Chain, mw)
		}
	}
}

// readEntry reads one entry of the chain; nil after an error.
func (f *File) readEntry(entry node) middleware.Middleware {
	if entry.kind() != aMap {
		entry.wrong("a map with the key use, as {use: contextedit}")
		return nil
	}
	names := slices.Sorted(maps.Keys(optionKeys()))
	use, ok := entry.value("use")
	if !ok {
		entry.failf("names no middleware: want the key use, with %s", oneOf(names))
		return nil
	}
	name := use.text()
	if !slices.Contains(names, name) {
		use.failf("is %q, which is no middleware%s; want %s", name, didYouMean(name, names), oneOf(names))
		return nil
	}
	return f.build(name, entry)
}

// window returns the window of the file, or that of its model; 0 if neither is known.
func (f *File) window() int {
	return cmp.Or(f.Window, models.Default().Of(f.Model).Window)
}

// budget returns the window and reserve for a model, or nil if the file gives neither. A reserve alone is a part of the
// model's window.
func (f *File) budget(model string) *middleware.Budget {
	window := f.Window
	if window == 0 && f.Reserve > 0 {
		window = models.Default().Of(model).Window
	}
	if window == 0 {
		return nil
	}
	return &middleware.Budget{Window: window, Reserve: f.Reserve}
}

// unknownModel returns what is wrong with the name of the model, or "". A model of the user's own that is not in the table
// needs a window, and a name that is unlike those in the table.
func (f *File) unknownModel(table *models.Table) string {
	_, known := table.Lookup(f.Model)
	if f.Model == "" || known {
		return ""
	}
	var names []string
	for m := range table.All() {
		names = append(names, m.Name)
	}
	names = similar.To(f.Model, max(2, len(f.Model)/2), names)
	switch {
	case len(names) == 0 && f.Window > 0:
		return ""
	case len(names) == 0:
		return fmt.Sprintf("model %q is not in the table of models: give its window", f.Model)
	}
	return fmt.Sprintf("model %q is not in the table of models, so its window and prices are unknown; the most similar names are %s",
		f.Model, list(names))
}

// warn returns a middleware that reports a warning about the model of the file, once.
func (f *File) warn(why string) middleware.Middleware {
	model := f.Model
	var told atomic.Bool
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if req.Model == model && !told.Load() {
				told.Store(req.Report(ctx, middleware.Event{Kind: middleware.Misconfigured, By: "chainfile", Why: why}))
			}
			return next(ctx, req, emit)
		}
	}
}

// With returns the chain as one middleware with its own memory. A request without a model or a budget gets those
// of the file. The file's counter, journal, scope and archive are used if env has none, its lists of tools are
// added, and its breakpoints are set.
func (f *File) With(env middleware.Env) middleware.Middleware {
	if env.Counter == nil {
		env.Counter = f.Counter
	}
	unopened := f.unopened(env)
	if env.Journal == nil {
		env.Journal = f.Journal
	}
	if env.Archive == nil {
		env.Archive = f.Archive
	}
	env.Scope = cmp.Or(env.Scope, f.Scope)
	env.Protect = slices.Concat(env.Protect, f.Protect)
	if env.Instructions == nil {
		env.Instructions = f.Instructions
	}
	env.Asking = slices.Concat(env.Asking, f.Asking)
	env.Breakpoints = env.Breakpoints || f.Breakpoints
	layers := f.Chain
	if warning := f.unknownModel(cmp.Or(env.Models, models.Default())); warning != "" {
		layers = append([]middleware.Middleware{f.warn(warning)}, layers...)
	}
	chain, file := middleware.With(env, layers...), *f
	return func(next middleware.Model) middleware.Model {
		inner := chain(next)
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if unopened != nil {
				return nil, unopened
			}
			r := *req
			r.Model, r.Conversation = cmp.Or(r.Model, file.Model), cmp.Or(r.Conversation, file.Conversation)
			if r.Budget == nil {
				r.Budget = file.budget(r.Model)
			}
			return inner(ctx, &r, emit)
		}
	}
}

// counters are the counters of a chain file that are not encodings of package bpe.
var counters = map[string]tokens.Counter{
	"auto":     nil,
	"estimate": tokens.Estimate{},
	"chars4":   tokens.Chars4,
	"cjk15":    tokens.CJK15,
	"cautious": tokens.Cautious,
}

// counterOf returns the counter of this name. For auto it is nil, which means the chain's default counter.
// The error of an unknown name lists all names.
func counterOf(name string) (tokens.Counter, error) {
	if c, ok := counters[name]; ok {
		return c, nil
	}
	if slices.Contains(bpe.Encodings(), name) {
		return bpe.Encoding(name), nil
	}
	return nil, fmt.Errorf("%q is no counter%s; want %s", name, didYouMean(name, counterNames()), oneOf(counterNames()))
}

func counterNames() []string {
	return slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(counters)), bpe.Encodings())))
}

func (n node) counter() tokens.Counter {
	c, err := counterOf(n.text())
	if err != nil {
		n.failf("%v", err)
	}
	return c
}
