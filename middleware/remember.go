package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
)

// state is what a chain knows of a history in addition to its messages. It is copied with
// the track of the history.
type state struct {
	stored // the newest entry of the journal for this history

	list    edit.List // the edits that hold
	unsaved edit.List // edits that could not be written; they replace those of the entry. nil: none
	before  stored    // the entry under the ID before the newest question, if known

	asked int    // number of IDs for which the journal was read
	seen  uint64 // writes of the chain that are taken into account

	pinned, question int // as they were when list was found to hold

	tokens     calibrate.Tokens
	calibrated int // number of messages that were searched for a reported usage

	result edit.Result // the history with list applied, if shown
	shown  bool

	conversation *conversation
}

// stored is an entry of the journal with all edits that it stands for.
type stored struct {
	at    int // position under whose ID it is kept; -1: there is no entry
	entry journal.Entry
	all   edit.List
}

func newState() state {
	return state{stored: stored{at: -1}, before: stored{at: -1}, conversation: new(conversation)}
}

// known returns the edits that the chain uses.
func (st *state) known() edit.List {
	if st.unsaved != nil {
		return st.unsaved
	}
	return st.all
}

// recall finds the edits that are remembered for the history and hold. The journal is
// read only for IDs that are new, or under which this chain has written since. If the
// journal fails, the call continues with the edits that are known.
func (s *session) recall(ctx context.Context, req *Request, ch history.Change) error {
	st, known := &s.State, s.State.list
	if ch.Copied {
		st.tokens.Cut(ch.Common)
		st.calibrated = st.tokens.At
	}
	if ch.Unlike {
		st.conversation = new(conversation)
	}
	if ch.Copied || ch.NewLead {
		st.result, st.shown = edit.Result{}, false
	}
	if !ch.Grown {
		st.asked = min(st.asked, ch.Common)
		if st.before.at >= ch.Common {
			st.before = stored{at: -1}
		}
		if st.at >= ch.Common {
			st.stored, st.asked = stored{at: -1}, 0
		}
	}
	from, seen := s.chain.writes.since(st.seen, s.IDs)
	found, err := s.read(ctx, s.IDs, st.stored, min(from, max(st.asked-1, 0)))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.chain.report(ctx, req, Event{Kind: JournalFailed, By: "middleware", Err: err, Why: "the call continues with the edits that are known"})
	} else {
		st.asked, st.seen = len(s.IDs), seen
	}
	n := len(known)
	holds := ch.Grown && n > 0 && found.entry.Rev == st.entry.Rev && s.Pinned == st.pinned &&
		(s.LastUser == st.question || s.LastUser > known[n-1].Last()) && !edit.LateResult(s.Body[ch.Common:])
	st.stored, st.pinned, st.question = found, s.Pinned, s.LastUser
	if holds && sameSlice(known, st.known()) {
		return nil
	}
	if st.list = s.Holding(st.known()); st.list.Equal(known) {
		st.list = known
	} else {
		st.result, st.shown = edit.Result{}, false
	}
	return nil
}

// read returns the newest entry that is kept under one of the IDs from the given one on
// and can be trusted, or before if there is none.
func (s *session) read(ctx context.Context, ids []message.ID, before stored, from int) (stored, error) {
	var broken error
	for end := len(ids); end > from; {
		at, e, ok, err := s.chain.latest(ctx, ids[from:end])
		switch {
		case err != nil:
			return before, errors.Join(broken, err)
		case !ok:
			return before, broken
		case at < 0 || at >= end-from:
			return before, errors.Join(broken, fmt.Errorf("read journal: index %d of %d ids", at, end-from))
		}
		at += from
		if at == before.at && e.Rev == before.entry.Rev {
			return before, broken
		}
		all, err := s.expand(ctx, e, before)
		if err == nil {
			return stored{at: at, entry: e, all: all}, broken
		}
		if ctx.Err() != nil {
			return before, ctx.Err()
		}
		broken = errors.Join(broken, fmt.Errorf("entry of message %d: %w", len(s.Lead)+at, err))
		end = at
	}
	return before, broken
}

// expand returns the edits of an entry and of all that it builds on.
func (s *session) expand(ctx context.Context, e journal.Entry, known stored) (edit.List, error) {
	stack := []journal.Entry{e}
	var l edit.List
	for !e.Base.IsZero() {
		if e.BaseRev == known.entry.Rev {
			l = known.all
			break
		}
		if len(stack) > journal.MaxDepth {
			return nil, fmt.Errorf("builds on more than %d entries", journal.MaxDepth)
		}
		base, err := s.chain.base(ctx, e)
		if err != nil {
			return nil, err
		}
		e = base
		stack = append(stack, e)
	}
	for _, e := range slices.Backward(stack) {
		if err := e.Check(); err != nil {
			return nil, err
		}
		var err error
		if l, err = l.Over(s.WeighAll(e.Edits)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// base returns the entry that another one builds on: it is kept under its ID, or under its
// revision if it was replaced.
func (c *chain) base(ctx context.Context, e journal.Entry) (journal.Entry, error) {
	for _, id := range []message.ID{e.Base, e.BaseRev} {
		_, b, ok, err := c.latest(ctx, []message.ID{id})
		if err != nil {
			return journal.Entry{}, err
		}
		if ok && b.Rev == e.BaseRev {
			return b, nil
		}
	}
	return journal.Entry{}, errors.New("builds on an entry that is missing")
}

// latest reads the journal. A panic of the journal is an error.
func (c *chain) latest(ctx context.Context, ids []message.ID) (at int, e journal.Entry, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("journal panicked: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("read journal: %w", err)
		}
	}()
	return c.env.Journal.Latest(ctx, c.env.Scope, ids)
}

// put writes to the journal. A panic of the journal is an error.
func (c *chain) put(ctx context.Context, writes []journal.Write) (winner journal.Entry, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("journal panicked: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("write journal: %w", err)
		}
	}()
	return c.env.Journal.Put(ctx, c.env.Scope, writes)
}

// remember stores the edits that the call has made and how its editors succeeded, and
// returns the view for the model: this one, unless another call on the same history was
// first. If the call is cancelled meanwhile, nothing counts as remembered.
func (v *View) remember(ctx context.Context) (*View, error) {
	if !v.unsaved && len(v.attempts) == 0 {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !v.unsaved {
		return v.noteProgress(ctx), nil
	}
	w, err := v.write(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v.session.chain.report(ctx, v.req, Event{
			Kind: JournalFailed, By: "middleware", Err: err,
			Why: "the edits of this call are kept in memory only",
		})
		st := v.session.State
		st.list, st.unsaved = v.list, v.list
		w = v.publish(st)
	}
	return w.noteProgress(ctx), nil
}

// publish makes a state of the history the newest, and returns the view with it.
func (v *View) publish(st state) *View {
	w, s := *v, *v.session
	st.result, st.shown = v.result, len(st.list) > 0
	s.Track = s.With(st)
	s.chain.histories.Publish(s.Track)
	w.session, w.unsaved = &s, false
	return &w
}

// write puts the edits of the view into the journal, and returns the view of the edits
// that are in the journal then.
func (v *View) write(ctx context.Context) (*View, error) {
	const tries = 4
	s, l := v.session, v.list
	at, base := len(s.IDs)-1, s.State.stored
	before := s.State.before
	for range tries {
		l = l.Reuse(base.all)
		main, ok := s.writeOn(base, at, l)
		if !ok {
			break
		}
		writes := append(make([]journal.Write, 0, 4), main)
		if base.at == at { // entries may build on the one that is replaced
			writes = append(writes, journal.Write{ID: base.entry.Rev, Entry: base.entry})
		}
		var err error
		if writes, before, err = v.writesBefore(ctx, writes, base, l); err != nil {
			return nil, err
		}
		if s.chain.env.HistoryIsView {
			writes = append(writes, v.writeView()...)
		}
		winner, err := s.chain.put(ctx, writes)
		if err != nil {
			return nil, err
		}
		if winner.Rev == main.Entry.Rev {
			s.chain.writes.add(at, s.IDs[at])
			if before.at >= 0 {
				s.chain.writes.add(before.at, s.IDs[before.at])
			}
			base = stored{at: at, entry: main.Entry, all: l}
			break
		}
		all, err := s.expand(ctx, winner, base)
		if err != nil {
			return nil, fmt.Errorf("entry of message %d: %w", len(s.Lead)+at, err)
		}
		conflict := stored{at: at, entry: winner, all: all}
		if !l.Covers(all) || base.entry.Rev == winner.Rev {
			base = conflict
			break
		}
		base = conflict
	}
	st := s.State
	st.stored, st.before, st.unsaved, st.asked, st.list = base, before, nil, len(s.IDs), l
	w := *v
	if !sameSlice(base.all, l) { // the edits of another call are used
		if st.list = s.Holding(base.all); !st.list.Equal(v.list) {
			w.result = s.Apply(s.all, st.list, nil, 0)
		}
	}
	w.list = st.list
	w.measure()
	return w.publish(st), nil
}

// writeOn returns the write of a list at a position, as an entry on top of a base. ok is
// false if the base has it already.
func (s *session) writeOn(base stored, at int, l edit.List) (w journal.Write, ok bool) {
	delta, ok := l.Without(base.all)
	if ok && len(delta) == 0 {
		return journal.Write{}, false
	}
	e := journal.Entry{Edits: l.Records()}
	if ok && base.at >= 0 && base.entry.Depth+1 < journal.MaxDepth {
		e = journal.Entry{Base: s.IDs[base.at], BaseRev: base.entry.Rev, Depth: base.entry.Depth + 1, Edits: delta.Records()}
	}
	e.Rev = e.Sum()
	w = journal.Write{ID: s.IDs[at], Entry: e}
	if base.at == at {
		w.Over = base.entry.Rev
	}
	return w, true
}

// writesBefore adds writes for the edits before the newest question, under the ID of the
// message before it: questions are edited, and hosts insert text into them that is gone
// in the next turn.
func (v *View) writesBefore(ctx context.Context, writes []journal.Write, newest stored, l edit.List) ([]journal.Write, stored, error) {
	s := v.session
	at, base := s.LastUser-1, s.State.before
	if at < 0 {
		return writes, base, nil
	}
	if l = s.Before(at, l); len(l) == 0 {
		return writes, base, nil
	}
	switch {
	case newest.at <= at:
		base = newest
	case base.at != at:
		var err error
		if base, err = s.read(ctx, s.IDs[:at+1], stored{at: -1}, 0); err != nil {
			return nil, base, err
		}
	}
	l = l.Reuse(base.all)
	w, ok := s.writeOn(base, at, l)
	if !ok {
		return writes, base, nil
	}
	writes = append(writes, w)
	if base.at == at {
		writes = append(writes, journal.Write{ID: base.entry.Rev, Entry: base.entry})
	}
	return writes, stored{at: at, entry: w.Entry, all: l}, nil
}

// writeView returns the write of the edits under the ID of the view itself, as edits that
// change nothing: a caller that passes the view back as its history finds there which
// messages were made by an edit.
func (v *View) writeView() []journal.Write {
	lead := len(v.session.Lead)
	body := v.result.Messages[lead:]
	ids := message.IDs(body)
	var records []*journal.Record
	for i := 0; i < len(body); i++ {
		made := v.result.Spans[lead+i].Record
		if made == nil {
			continue
		}
		r := &journal.Record{Middleware: made.Middleware, Kind: made.Kind, HistoryLen: len(body)}
		first := i
		if made.Kind == journal.Rewrite {
			r.Parts = body[i].Parts
		} else {
			i += len(made.Messages) - 1
			r.Messages = made.Messages
		}
		r.Runs, r.ID = []message.Run{{First: first, Last: i}}, ids[i]
		records = append(records, r)
	}
	if len(records) == 0 {
		return nil
	}
	e := journal.Entry{Edits: records}
	e.Rev = e.Sum()
	return []journal.Write{{ID: ids[len(ids)-1], Entry: e}}
}

// writes remembers where this chain has written lately: a history whose IDs were read
// earlier must be read there again. It is safe for concurrent use.
type writes struct {
	mu     sync.Mutex
	recent []written // the newest last
	count  uint64    // of all writes
}

type written struct {
	at int // position
	id message.ID
}

func (w *writes) add(at int, id message.ID) {
	const most = 64
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.recent) == most {
		w.recent = slices.Delete(w.recent, 0, 1)
	}
	w.recent = append(w.recent, written{at, id})
	w.count++
}

// since returns the smallest position of the history under which the chain has written
// after the first seen writes, or the length of the history, and the number of all writes.
func (w *writes) since(seen uint64, ids []message.ID) (from int, count uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := w.count - seen
	if fresh > uint64(len(w.recent)) {
		return 0, w.count
	}
	from = len(ids)
	for _, p := range w.recent[len(w.recent)-int(fresh):] {
		if p.at < from && ids[p.at] == p.id {
			from = p.at
		}
	}
	return from, w.count
}
