package gateway

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	"github.com/laconic-go/laconic/wire"
)

// inStore is what package store gives to packages of this module only.
var inStore = store.Internals(inside.Key{})

// chain is a chain file that was loaded, and what it opened.
type chain struct {
	file     *chainfile.File
	archives func(scope string) store.Store // nil: content is not kept
	rt       http.RoundTripper
	close    func() error
	users    sync.WaitGroup // requests
}

func (c *chain) release() { c.users.Done() }

// end closes a chain after its last request and its last audit.
func (c *chain) end() error {
	c.users.Wait()
	if rt, ok := c.rt.(interface{ Wait() }); ok {
		rt.Wait()
	}
	return c.close()
}

// load reads the chain file. A journal and an archive in memory are those of the chain before.
func (g *Gateway) load(ctx context.Context, before *chain) (*chain, error) {
	file, err := Preset(g.opts.Archive)
	switch {
	case g.opts.Chain != "":
		file, err = chainfile.Load(g.opts.Chain)
	case g.opts.Text != "":
		file, err = chainfile.Parse("", []byte(g.opts.Text))
	}
	if err != nil {
		return nil, err
	}
	end, err := g.open(ctx, file)
	if err != nil {
		return nil, err
	}
	c := &chain{file: file, close: end}
	if file.Journal == nil {
		file.Journal = journal.NewMemory(0)
	}
	_, journalInMemory := journal.InMemory(file.Journal)
	archiveInMemory := inStore.InMemory(file.Archive)
	if outlives := !journalInMemory || file.Archive != nil && !archiveInMemory; g.randomSecret && outlives {
		return nil, errors.Join(errors.New("gateway: the journal or the archive outlives the process, and would not be found again: "+
			"want a secret, of which the names of the scopes are made"), end())
	}
	if file.Archive != nil {
		c.archives = func(scope string) store.Store { return file.In(scope).Archive }
	}
	if before != nil {
		if _, ok := journal.InMemory(before.file.Journal); ok && journalInMemory {
			file.Journal = before.file.Journal
		}
		if archiveInMemory && inStore.InMemory(before.file.Archive) {
			c.archives = before.archives
		}
	}
	c.rt = g.newTransport(c)
	return c, nil
}

// Preset returns the chain file of a gateway without one, with a folder as its archive; "": memory.
func Preset(archive string) (*chainfile.File, error) {
	text := "preset: auto\n"
	if archive != "" {
		text += "archive: " + strconv.Quote(archive) + "\n"
	}
	return chainfile.Parse("", []byte(text))
}

// patience is the time that a database has to open, before the gateway starts without it.
const patience = 3 * time.Second

// open opens the databases of a file. Unless the chain must not fail, those that do not answer are opened later.
func (g *Gateway) open(ctx context.Context, file *chainfile.File) (end func() error, err error) {
	if g.opts.FailClosed {
		return file.Open(ctx, engine.Options{})
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	end, err = file.Open(short, engine.Options{})
	if err != nil {
		end, err = file.Open(ctx, engine.Options{Lazy: true})
	}
	return end, err
}

// newTransport returns the connections to the upstreams through the chain.
func (g *Gateway) newTransport(c *chain) http.RoundTripper {
	opts := wire.Options{
		Env: middleware.Env{
			Journal: c.file.Journal, Counter: c.file.Counter, Protect: c.file.Protect,
		},
		Scope: func(req *http.Request) string { return exchangeOf(req.Context()).scope },
		Budget: func(model string) *middleware.Budget {
			return chainfile.Internals(inside.Key{}).Budget(c.file, model)
		},
		RemoveClientLines: g.opts.RemoveClientLines,

		MaxBody: g.opts.MaxBody,
		Strict:  g.opts.FailClosed,
		Bypass:  func(req *http.Request) bool { return exchangeOf(req.Context()).bypass },
		Audit:   g.opts.Audit,
		Observe: func(ctx context.Context, d wire.Decision) {
			if d.Audit {
				g.audited(ctx, d)
				return
			}
			exchangeOf(ctx).decided(d)
		},
	}
	if c.archives != nil {
		opts.Archive = func(scope string) store.Store { return countedArchive{c.archives(scope), g.metrics} }
	}
	layers := append([]middleware.Middleware{middleware.Observe(g.metrics.event)}, c.file.Chain...)
	chain := middleware.Chain(append(layers, weighed)...)
	if g.opts.Watch != nil {
		chain = g.opts.Watch(chain)
	}
	return wire.Transport(g.upstream, opts, named(c.file), chain)
}

// named sets the name of the conversation, if the client may give one or the file does.
func named(file *chainfile.File) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Conversation = exchangeOf(ctx).conversation
			if r.Conversation == "" {
				r.Conversation = file.Conversation
			}
			return next(ctx, &r, emit)
		}
	}
}

// weighed is the last layer: it notes how many tokens are sent.
func weighed(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if v := req.View(); v != nil {
			exchangeOf(ctx).weigh(v.HistorySize().Tokens, v.Size().Tokens)
		}
		return next(ctx, req, emit)
	}
}

// countedArchive counts the errors of an archive.
type countedArchive struct {
	store.Store

	metrics *metrics
}

// Put implements [store.Store].
func (a countedArchive) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	err := a.Store.Put(ctx, conversation, contents)
	if err != nil {
		exchangeOf(ctx).fails(a.metrics, "archive", err)
	}
	return err
}

// Get implements [store.Store].
func (a countedArchive) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	c, err := a.Store.Get(ctx, h)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		exchangeOf(ctx).fails(a.metrics, "archive", err)
	}
	return c, err
}
