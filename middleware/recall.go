package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// found is what the journal had for a history.
type found struct {
	at    int   // position of the entry behind the leading system messages; -1: none
	entry Entry // as it was in the journal
	all   list  // its edits and those that it builds on

	unkept list // what the chain uses instead since the journal could not be written; nil: nothing
	list   list // what holds for the history
}

// recall asks the journal which edits the history has. Only positions that are
// new, or at which this chain has put something since, are asked for. A
// journal that fails does not fail the call: it goes on with what is known.
func (c *chain) recall(ctx context.Context, req *Request, cl *call) error {
	t := cl.track
	known := t.asked
	if t.found.at >= known {
		t.found, known = found{at: -1}, 0
	}
	from, made := c.memo.since(t.seen, cl.ids)
	f, err := c.latest(ctx, cl, t.found, min(from, max(known-1, 0)))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.tell(ctx, req, Event{Kind: JournalFailed, By: "middleware", Err: err, Why: "the call goes on with the edits that are known"})
	} else {
		t.asked, t.seen = len(cl.ids), made
	}
	if !t.stillHolds(f, &cl.guard) {
		f.list = f.known().holding(cl)
	}
	t.wholes, t.question = len(cl.guard.whole), cl.guard.lastUser
	if sameSlice(f.list, t.found.list) || slices.EqualFunc(f.list, t.found.list, sameEdit) {
		f.list = t.found.list
	} else {
		t.shape, t.shaped = shape{}, false
	}
	t.found = f
	return nil
}

// stillHolds reports whether the edits of a track, all of which held, hold for
// what it has grown to as well: nothing was pinned since, no result has come
// late, and the newest question is the same, or stands behind them.
func (t *track) stillHolds(f found, g *guard) bool {
	n := len(t.found.list)
	return t.grown && n > 0 && f.entry.Rev == t.found.entry.Rev && sameSlice(t.found.list, f.known()) &&
		len(g.whole) == t.wholes && !t.late && (g.lastUser == t.question || g.lastUser > t.found.list[n-1].last())
}

// hasResult reports whether a result comes before the model says anything.
func hasResult(msgs []message.Message) bool {
	for i := range msgs {
		switch msgs[i].Role {
		case message.RoleTool:
			return true
		case message.RoleAssistant:
			return false
		case message.RoleSystem, message.RoleUser:
		}
	}
	return false
}

// known returns the edits that the chain goes by.
func (f found) known() list {
	if f.unkept != nil {
		return f.unkept
	}
	return f.all
}

func sameEdit(a, b item) bool { return a.equal(b.Record) }

// latest returns the entry of the last position from the given one on that has
// one that can be trusted, else what was found before.
func (c *chain) latest(ctx context.Context, cl *call, before found, from int) (found, error) {
	var broken error
	for end := len(cl.ids); end > from; {
		at, e, ok, err := c.journal.Latest(ctx, c.scope, cl.ids[from:end])
		switch {
		case err != nil:
			return before, errors.Join(broken, fmt.Errorf("read journal: %w", err))
		case !ok:
			return before, broken
		case at < 0 || at >= end-from:
			return before, errors.Join(broken, fmt.Errorf("read journal: index %d of %d ids", at, end-from))
		}
		at += from
		if at == before.at && e.Rev == before.entry.Rev {
			return before, broken
		}
		all, err := c.load(ctx, cl, e, before)
		if err == nil {
			return found{at: at, entry: e, all: all}, broken
		}
		if ctx.Err() != nil {
			return before, ctx.Err()
		}
		broken = errors.Join(broken, fmt.Errorf("entry of message %d: %w", cl.lead+at, err))
		end = at
	}
	return before, broken
}

// load returns the edits of an entry and of all that it builds on.
func (c *chain) load(ctx context.Context, cl *call, e Entry, before found) (list, error) {
	stack := []Entry{e}
	var base list
	for !e.Base.IsZero() {
		if e.BaseRev == before.entry.Rev {
			base = before.all
			break
		}
		if len(stack) > maxDepth {
			return nil, fmt.Errorf("builds on more than %d entries", maxDepth)
		}
		below, err := c.below(ctx, e)
		if err != nil {
			return nil, err
		}
		e = below
		stack = append(stack, e)
	}
	for _, e := range slices.Backward(stack) {
		newer, err := c.weighAll(cl, e)
		if err != nil {
			return nil, err
		}
		if base, err = base.over(newer); err != nil {
			return nil, err
		}
	}
	return base, nil
}

// below returns the entry that another builds on: it is at its place, or, if a
// newer one is there, under its revision.
func (c *chain) below(ctx context.Context, e Entry) (Entry, error) {
	for _, id := range []message.ID{e.Base, e.BaseRev} {
		_, b, ok, err := c.journal.Latest(ctx, c.scope, []message.ID{id})
		if err != nil {
			return Entry{}, fmt.Errorf("read journal: %w", err)
		}
		if ok && b.Rev == e.BaseRev {
			return b, nil
		}
	}
	return Entry{}, errors.New("builds on an entry that is gone")
}

// weighAll checks an entry that comes from outside and counts its edits.
func (c *chain) weighAll(cl *call, e Entry) (list, error) {
	if err := validate(e.Edits); err != nil {
		return nil, err
	}
	if e.hash() != e.Rev {
		return nil, errors.New("is not what was written")
	}
	out := make(list, len(e.Edits))
	for i, r := range e.Edits {
		out[i] = c.weigh(r, cl)
	}
	return out, nil
}

// weigh counts an edit, if it could hold at all.
func (c *chain) weigh(r *Record, cl *call) item {
	if r.last() >= len(cl.body) {
		return item{Record: r}
	}
	return weigh(c.meter, r, cl.body)
}

// holding leaves out the edits that do not hold for a history. What a fold
// covered comes back in its place.
func (l list) holding(cl *call) list {
	for slices.ContainsFunc(l, func(it item) bool { return !cl.holds(it.Record, l) }) {
		var kept list
		for _, it := range l {
			kept = cl.appendHolding(kept, it, l)
		}
		kept.sort()
		l = kept
	}
	return l
}

func (c *call) appendHolding(kept list, it item, beside list) list {
	if c.holds(it.Record, beside) {
		return append(kept, it)
	}
	for _, r := range it.Under {
		kept = c.appendHolding(kept, c.chain.weigh(r, c), beside)
	}
	return kept
}

// holds reports whether an edit, beside others, was made for these messages,
// covers rounds as wholes, and spares what is protected now: it was made when
// less was pinned, when the newest question was another one, or when the history
// was longer, and the newest round an old one.
func (c *call) holds(r *Record, beside list) bool {
	if r.last() >= len(c.body) || c.ids[r.last()] != r.ID || c.splits(r, beside) {
		return false
	}
	if r.Kind == Rewrite {
		i := r.first()
		return c.spared(i, r.Parts) == nil && c.keepsThinking(i, r.Parts) == nil
	}
	for _, i := range c.guard.within(c.body, r.Runs) {
		if !slices.ContainsFunc(r.Messages, func(m message.Message) bool { return c.standsFor(m, i) }) {
			return false
		}
	}
	return true
}

// splits reports whether a fold covers the call of a result that stands behind
// it, in no fold beside: it was made when the result was missing.
func (c *call) splits(r *Record, beside list) bool {
	if r.Kind != Fold || !hasResult(c.body[r.last()+1:]) {
		return false
	}
	round := r.last()
	for round >= 0 && c.body[round].Role != message.RoleAssistant {
		round--
	}
	if round < 0 || !r.covers(round) {
		return false
	}
	end := r.last() + 1
	for end < len(c.body) && c.body[end].Role != message.RoleAssistant {
		end++
	}
	unit := message.Units(c.body[round:end])[0]
	for i := r.last() + 1; i <= round+unit.Last; i++ {
		if !beside.folds(i) {
			return true
		}
	}
	return false
}

// folds reports whether a fold covers a position.
func (l list) folds(i int) bool {
	return slices.ContainsFunc(l, func(it item) bool { return it.Kind == Fold && it.covers(i) })
}

// covers reports whether a position is one of those that an edit is about.
func (r *Record) covers(i int) bool {
	return slices.ContainsFunc(r.Runs, func(run message.Run) bool { return run.Contains(i) })
}
