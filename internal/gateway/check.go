package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// Check is what was asked by [Gateway.Check], and its error.
type Check struct {
	What string
	Err  error
}

// Check asks all that requests need: the chain with a short conversation, the journal, the archive, and each upstream for
// its root, without a key. Journal and archive get an entry of 64 kB in a scope of its own, which is read and removed again.
func (g *Gateway) Check(ctx context.Context) (all []Check) {
	file, scope := g.File(), "laconic-check-"+rand.Text()
	random := make([]byte, 32<<10) // so that it cannot be compressed much
	rand.Read(random)
	probe := message.User(hex.EncodeToString(random))
	_, _, err := middleware.Apply(ctx, file.With(middleware.Env{}), &middleware.Request{
		Messages: []message.Message{message.User("Is all well?")},
	})
	all = append(all, Check{"chain " + cmp.Or(g.opts.Chain, "preset auto"), err})
	if file.Journal != nil {
		all = append(all, Check{"journal", tryJournal(ctx, file.Journal, scope, probe)})
	}
	if a := g.Archive(scope); a != nil {
		all = append(all, Check{"archive", tryArchive(ctx, a, scope, probe)})
	}
	for _, r := range g.opts.Routes {
		all = append(all, Check{"upstream " + r.Upstream.String(), g.reach(ctx, r)})
	}
	return all
}

// tryJournal writes, reads and removes an entry.
func tryJournal(ctx context.Context, j journal.Journal, scope string, probe message.Message) (err error) {
	ids := message.IDs([]message.Message{probe})
	_, err = j.Find(ctx, scope, ids[0], ids)
	if err != nil {
		return err // it is not connected
	}
	e := journal.Entry{Edits: []*journal.Record{{
		Kind: journal.Fold, Middleware: "check", Runs: []message.Run{{}}, Messages: []message.Message{probe}, HistoryLen: 1,
	}}}
	e.Rev = e.Revision()
	defer func() { err = errors.Join(err, j.Delete(ctx, scope)) }()
	_, err = j.Put(ctx, scope, []journal.Write{{ID: ids[0], First: ids[0], Conversation: ids[0], Entry: e}})
	if err != nil {
		return err
	}
	found, err := j.Find(ctx, scope, ids[0], ids)
	if err == nil && found.At != 0 {
		err = errors.Join(errors.New("an entry that was written is not found"), found.Skipped)
	}
	return err
}

// tryArchive writes, reads and removes a content.
func tryArchive(ctx context.Context, a store.Store, scope string, probe message.Message) error {
	c := store.Content{Data: probe.Text()}
	_, err := a.Get(ctx, a.Handle(c.Hash()))
	if !errors.Is(err, store.ErrNotFound) {
		return err // it is not connected
	}
	h, err := store.Keep(ctx, a, c)
	if err == nil {
		_, err = a.Get(ctx, h)
	}
	if d, ok := a.(interface {
		Delete(ctx context.Context, scope string, conversations ...message.ID) error
	}); ok {
		err = errors.Join(err, d.Delete(ctx, scope))
	}
	return err
}

// reach asks an upstream. Any answer will do: it has a key for nothing.
func (g *Gateway) reach(ctx context.Context, r Route) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, r.Upstream.String(), http.NoBody)
	if err != nil {
		return err
	}
	resp, err := g.upstream.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
