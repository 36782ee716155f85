package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// commit keeps the edits that the call has made, and what its editors have tried,
// and returns the view that the model gets: this one, unless another call on the
// same history was quicker. If the call is cancelled meanwhile, either both have
// been kept or neither.
func (v *View) commit(ctx context.Context) (*View, error) {
	if !v.edited && len(v.attempts) == 0 {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !v.edited {
		return v.note(ctx), nil
	}
	w, f, err := v.write(ctx)
	late := err != nil && ctx.Err() != nil
	if late && f.at < 0 {
		return nil, ctx.Err()
	}
	if err != nil && !late {
		c := v.call
		c.chain.tell(ctx, v.req, Event{
			Kind: JournalFailed, By: "middleware", Err: err,
			Why: "the edits of this call are kept in memory only",
		})
		f = c.track.found
		f.list, f.unkept = w.list, w.list
	}
	w.publish(f)
	if w = w.note(ctx); late {
		return nil, ctx.Err()
	}
	return w, nil
}

// write puts the edits into the journal, and returns what is there then, with
// the view of that. If that fails, it may have been put at the end of the history
// already; where not, nothing is returned as found.
func (v *View) write(ctx context.Context) (*View, found, error) {
	c := v.call
	got, err := v.put(ctx, c.track.found, len(c.ids)-1, v.list)
	if err != nil {
		return v, found{at: -1}, err
	}
	v, got = v.settle(got)
	if err := v.putBefore(ctx, c.guard.lastUser-1); err != nil {
		return v, got, err
	}
	if c.chain.adopts {
		err = v.putAdopted(ctx)
	}
	return v, got, err
}

// settle returns the view of what the journal has now.
func (v *View) settle(f found) (*View, found) {
	f.list = f.all.holding(v.call)
	w := *v
	w.edited = false
	if !slices.EqualFunc(f.list, v.list, sameEdit) {
		w.list = f.list
		w.shape = f.list.apply(v.call)
	}
	return &w, f
}

// publish replaces the track by one with these edits.
func (v *View) publish(f found) {
	t := *v.call.track
	t.parent = v.call.track
	t.found = f
	t.shape, t.shaped = v.shape, len(f.list) > 0
	v.call.chain.memo.publish(&t)
}

// put keeps a list of edits under the ID of a position, told as a change to
// those of an earlier entry. If another call was quicker there, its edits are
// overwritten if these cover them, and else returned.
func (v *View) put(ctx context.Context, base found, at int, l list) (found, error) {
	const tries = 4
	c := v.call
	for range tries {
		l = l.as(base.all)
		e, ok := c.entry(base, l)
		if !ok {
			return base, nil
		}
		over := Rev{}
		if base.at == at {
			over = base.entry.Rev
			if _, err := c.chain.journal.Put(ctx, c.chain.scope, over, Rev{}, base.entry); err != nil {
				return found{}, fmt.Errorf("write journal: %w", err)
			}
		}
		winner, err := c.chain.journal.Put(ctx, c.chain.scope, c.ids[at], over, e)
		if err != nil {
			return found{}, fmt.Errorf("write journal: %w", err)
		}
		if winner.Rev == e.Rev {
			c.chain.memo.note(at, c.ids[at])
			return found{at: at, entry: e, all: l}, nil
		}
		all, err := c.chain.load(ctx, c, winner, base)
		if err != nil {
			return found{}, fmt.Errorf("entry of message %d: %w", c.lead+at, err)
		}
		theirs := found{at: at, entry: winner, all: all}
		if !l.covers(all) || base.entry.Rev == winner.Rev {
			return theirs, nil
		}
		base = theirs
	}
	return base, nil
}

// entry tells a list as an entry on top of a base. It is not ok if there is
// nothing to tell.
func (c *call) entry(base found, l list) (e Entry, ok bool) {
	delta, ok := l.without(base.all)
	if ok && len(delta) == 0 {
		return Entry{}, false
	}
	if !ok || base.at < 0 || base.entry.Depth+1 >= maxDepth {
		e = Entry{Edits: l.records()}
	} else {
		e = Entry{Base: c.ids[base.at], BaseRev: base.entry.Rev, Depth: base.entry.Depth + 1, Edits: delta.records()}
	}
	e.Rev = e.hash()
	return e, true
}

// covers reports whether each edit of the other list is in this one as well, or
// inside a larger fold of it.
func (l list) covers(other list) bool {
	var folds list
	for _, it := range l {
		if it.Kind == Fold {
			folds = append(folds, it)
		}
	}
	return !slices.ContainsFunc(other, func(o item) bool { return !l.has(o) && !folds.swallow(o) })
}

func (l list) swallow(o item) bool {
	return slices.ContainsFunc(l, func(f item) bool {
		covered, _ := cover(f.Runs, o.Runs)
		return covered && !slices.Equal(f.Runs, o.Runs)
	})
}

// putBefore keeps the edits also under the ID of the message before the newest
// question, as far as they lie before it: questions are edited, and hosts put
// things into them that are gone in the next turn.
func (v *View) putBefore(ctx context.Context, at int) error {
	c := v.call
	if at < 0 || at == len(c.ids)-1 {
		return nil
	}
	l := c.before(at, v.list)
	if len(l) == 0 {
		return nil
	}
	base := c.track.found
	if base.at > at {
		earlier := *c
		earlier.ids = c.ids[:at+1]
		var err error
		if base, err = c.chain.latest(ctx, &earlier, found{at: -1}, 0); err != nil {
			return err
		}
	}
	_, err := v.put(ctx, base, at, l)
	return err
}

// putAdopted keeps the edits under the ID that the view itself has, as edits
// that change nothing: a caller that passes the view back as its history finds
// there which messages are products of an edit.
func (v *View) putAdopted(ctx context.Context) error {
	c := v.call
	body := v.msgs[c.lead:]
	adopted := *c
	adopted.body, adopted.ids = body, message.IDs(body)
	var l list
	for i := 0; i < len(body); i++ {
		s := v.spans[c.lead+i]
		if s.rec == nil {
			continue
		}
		r := &Record{By: s.rec.By, Kind: s.rec.Kind, Made: len(body)}
		first := i
		if s.rec.Kind == Rewrite {
			r.Parts = body[i].Parts
		} else {
			i += len(s.rec.Messages) - 1
			r.Messages = s.rec.Messages
		}
		r.Runs = []message.Run{{First: first, Last: i}}
		r.ID = adopted.ids[i]
		l = append(l, item{Record: r, tokens: v.toks[c.lead+i]})
	}
	w := *v
	w.call = &adopted
	_, err := w.put(ctx, found{at: -1}, len(body)-1, l)
	return err
}
