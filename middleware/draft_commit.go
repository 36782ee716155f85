package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// dryRun is carried by the request of a dry run and collects the views that would be
// remembered. It never changes. It is nil in a real call.
type dryRun struct {
	outer *dryRun // the dry run that this one is part of; nil if there is none
	views []*View // one for each history that editors have worked on
}

// add returns the dry run with a view that would be remembered now.
func (d *dryRun) add(v *View) *dryRun {
	if d == nil {
		return nil
	}
	views := slices.Clone(d.views)
	if n := len(views); n > 0 && sameSlice(views[n-1].session.IDs, v.session.IDs) {
		views = views[:n-1]
	}
	return &dryRun{outer: d.outer, views: append(views, v)}
}

// fork returns a chain that stands in for another one: it knows what that one knows, and
// what would have been remembered in this dry run, and what it does has no effect outside
// of it.
func (d *dryRun) fork(c *chain) *chain {
	for _, v := range slices.Backward(d.views) {
		if f := v.session.chain; f.origin == c {
			return f.fork(c)
		}
	}
	if d.outer != nil {
		c = d.outer.fork(c)
	}
	return c.fork(c)
}

func (c *chain) fork(origin *chain) *chain {
	f := &chain{env: c.env, given: c.given, meter: c.meter, encoding: c.encoding, estimates: c.estimates, origin: origin}
	f.env.Journal = &overlay{below: c.env.Journal, top: journal.NewMemory(0)}
	c.writes.mu.Lock()
	f.writes.recent, f.writes.count = slices.Clone(c.writes.recent), c.writes.count
	c.writes.mu.Unlock()
	c.histories.Fork(&f.histories, func(st state) state {
		st.conversation = st.conversation.fork()
		st.result, st.shown = edit.Result{}, false
		return st
	})
	return f
}

// overlay is a journal on top of another one, which it only reads.
type overlay struct {
	below journal.Journal
	top   *journal.Memory
}

// Latest implements [journal.Journal].
func (o *overlay) Latest(ctx context.Context, scope string, ids []message.ID) (at int, e journal.Entry, ok bool, err error) {
	at, e, ok, err = o.top.Latest(ctx, scope, ids)
	if err != nil {
		return 0, journal.Entry{}, false, err
	}
	from := 0
	if ok {
		from = at + 1
	}
	if from == len(ids) {
		return at, e, ok, nil
	}
	k, below, found, err := o.below.Latest(ctx, scope, ids[from:])
	if err != nil || !found {
		return at, e, ok && err == nil, err
	}
	return from + k, below, true, nil
}

// Put implements [journal.Journal].
func (o *overlay) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	_, there, ok, err := o.Latest(ctx, scope, []message.ID{writes[0].ID})
	if err != nil || ok && there.Rev != writes[0].Over {
		return there, err
	}
	own := slices.Clone(writes)
	for i := range own {
		_, mine, _, _ := o.top.Latest(ctx, scope, []message.ID{own[i].ID}) //nolint:errcheck // a Memory does not fail
		own[i].Over = mine.Rev
	}
	return o.top.Put(ctx, scope, own)
}

// Delete implements [journal.Journal]. The journal below keeps its entries.
func (o *overlay) Delete(ctx context.Context, scope string) error { return o.top.Delete(ctx, scope) }

// Commit remembers the edits of the draft as a call would have done, so that the next call
// with the same history, or a grown one, starts with After, and no editor makes them
// again. Attempts of editors without progress count. The chain may be in use meanwhile.
// Observers receive nothing: Events has everything.
//
// It does not matter if the conversation has grown meanwhile. If it has been edited since
// the draft was made, other than inside what the draft folds, the error is of kind
// [Outdated], and the edits made meanwhile stay in force. Edits after the end of the
// drafted history count if this chain made or found them, but not those of calls that are
// still running. Other chains with the same journal find what is committed as they find
// the edits of a call.
//
// What the edits remove is put into the archive first; if that fails, nothing is
// remembered. After an error of the journal or of the context it is unknown what was
// stored, and Commit may be repeated. Once the edits are stored, it does nothing more.
func (d *DraftResult) Commit(ctx context.Context) error {
	for _, v := range d.runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		st, c := v.session.opened.State, v.session.chain.origin
		if st.unsaved != nil || !v.list.Equal(st.list) {
			if err := v.storeIn(ctx, c); err != nil {
				return err
			}
		}
		if err := v.noteIn(c); err != nil {
			return err
		}
	}
	return nil
}

// storeIn writes the edits of a view, which the fork of a chain has made, to the journal of
// the chain itself.
func (v *View) storeIn(ctx context.Context, c *chain) error {
	s, w, st := *v.session, *v, v.session.opened.State
	then := st.stored
	s.chain = c
	st.stored, _ = s.read(ctx, s.IDs, stored{at: -1}, 0) // an error here occurs again when the edits are written
	s.Track = s.opened.With(st)
	w.session = &s
	same := st.at == then.at && st.entry.Rev == then.entry.Rev
	if !same && !v.list.Covers(s.Holding(st.all)) || c.editedAfter(s.IDs, v.list) {
		return errOutdated
	}
	if len(v.removed) > 0 && !v.list.Equal(s.Holding(st.all)) {
		if err := putAll(ctx, v.removed); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("middleware: commit draft: archive what is removed: %w", err)
		}
	}
	kept, err := w.write(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("middleware: commit draft: %w", err)
	case !kept.list.Equal(v.list):
		return errOutdated
	}
	return nil
}

var errOutdated = &Error{
	Kind: Outdated, Op: "middleware",
	Err: errors.New("commit draft: the conversation has been edited since the draft was made; make a new draft"),
}

// editedAfter reports whether a longer history with these first messages has edits of its
// own, and not all of these.
func (c *chain) editedAfter(ids []message.ID, l edit.List) bool {
	for _, t := range c.histories.All() {
		n := len(ids)
		if t.State.at < n || len(t.IDs) < n || n > 0 && t.IDs[n-1] != ids[n-1] {
			continue
		}
		if slices.ContainsFunc(l, func(it edit.Item) bool { return !t.State.list.Has(it) }) {
			return true
		}
	}
	return false
}

// noteIn makes a chain know how the editors succeeded in a draft of it.
func (v *View) noteIn(c *chain) error {
	if len(v.attempts) == 0 {
		return nil
	}
	req := *v.req
	req.Messages = v.session.all
	s, _, err := c.follow(&req)
	if err != nil {
		return err
	}
	c.histories.Publish(s.Track)
	for i := range v.attempts {
		v.attempts[i].note(s.State.conversation)
	}
	return nil
}
