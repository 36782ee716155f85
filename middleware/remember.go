package middleware

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// remember stores the edits and the attempts of the call, and returns the view for the
// model: this one, unless another call on the same history was first.
func remember(ctx context.Context, v *View) (*View, error) {
	unsaved := v.unsaved && len(v.list) > 0
	switch {
	case !unsaved && len(v.attempts) == 0:
		return v, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !unsaved:
		return noteProgress(ctx, v), nil
	}
	w, err := write(ctx, v)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v.session.chain.report(ctx, v.req, Event{
			Kind: Failed, By: "middleware", Err: err,
			Why: "the edits of this call are kept in memory only",
		})
		st := v.session.State
		st.list, st.unsaved = v.list, v.list
		w = publish(v, st)
	}
	if len(w.attempts) > 0 {
		w = noteProgress(ctx, w)
	}
	return w, nil
}

// publish makes a state of the history the newest, and returns the view with it.
func publish(v *View, st state) *View {
	w, s := *v, *v.session
	st.result, st.shown, st.once = v.result, len(st.list) > 0, holdsOnce(st.list)
	s.Track = s.With(st)
	s.chain.histories.Publish(s.Track)
	w.session, w.unsaved = &s, false
	return &w
}

// write puts the edits of the view into the journal, and returns the view of the edits
// that are in the journal then.
func write(ctx context.Context, v *View) (*View, error) {
	const tries = 4
	s, l := v.session, v.list
	at, base := len(s.IDs)-1, s.State.stored
	before := s.State.before
	for range tries {
		if len(base.all) > 0 {
			l = l.Reuse(base.all)
		}
		writes, early, err := batch(ctx, v, base, l)
		if err != nil || ctx.Err() != nil {
			return nil, cmp.Or(err, ctx.Err())
		}
		if before = early; len(writes) == 0 {
			break
		}
		winner, err := s.put(ctx, writes)
		if err != nil {
			return nil, err
		}
		if winner.Rev == writes[0].Entry.Rev {
			s.chain.writes.add(s.IDs, at, before.at)
			base = stored{at: at, entry: winner, all: l}
			break
		}
		all, err := s.expand(ctx, winner, base)
		if err != nil {
			return nil, fmt.Errorf("entry of message %d: %w", len(s.Lead)+at, err)
		}
		conflict := stored{at: at, entry: winner, all: all}
		final := !l.Covers(all) || base.entry.Rev == winner.Rev
		if base = conflict; final {
			break
		}
	}
	return withStored(v, base, before, l), nil
}

// batch returns the writes for a list of edits, as a change to those of a base, and what is
// stored before the newest question then.
func batch(ctx context.Context, v *View, base stored, l edit.List) (writes []journal.Write, before stored, err error) {
	s := v.session
	at := len(s.IDs) - 1
	main, ok := s.writeOn(base, at, l)
	if !ok {
		return nil, s.State.before, nil
	}
	writes = append(make([]journal.Write, 0, 4), main)
	if base.at == at { // entries may build on the one that is replaced
		writes = append(writes, journal.Write{ID: base.entry.Rev, Entry: base.entry})
	}
	if writes, before, err = writesBefore(ctx, v, writes, base, l); err != nil {
		return nil, before, err
	}
	if s.chain.env.HistoryIsView {
		writes = append(writes, writeView(v)...)
	}
	return writes, before, nil
}

// withStored returns the view of the edits that are in the journal now: those of the view,
// in l, unless another call was first.
func withStored(v *View, base, before stored, l edit.List) *View {
	s := v.session
	st := s.State
	st.stored, st.before, st.unsaved, st.asked, st.list = base, before, nil, len(s.IDs), l
	w := *v
	if !sameSlice(base.all, l) { // the edits of another call are used
		if st.list = s.Holding(base.all, s.window); !st.list.Equal(v.list) {
			w.result = s.Apply(s.all, st.list, nil, 0)
			w.list = st.list
			w.measure()
		}
	}
	w.list = st.list
	return publish(&w, st)
}

// writesBefore adds writes for the edits before the newest question, under the ID of the
// message before it: questions are edited, and hosts insert text into them that is gone
// in the next turn.
func writesBefore(ctx context.Context, v *View, writes []journal.Write, newest stored, all edit.List) ([]journal.Write, stored, error) {
	s := v.session
	at, base := s.LastUser-1, s.State.before
	if at < 0 {
		return writes, base, nil
	}
	l := s.Before(at, all)
	if len(l) == 0 {
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
	w := journal.Write{ID: s.IDs[at], Entry: writes[0].Entry}
	switch same := base.at == newest.at && l[len(l)-1].Record == all[len(all)-1].Record; { // then it is the same entry
	case same && base.at == at:
		w.Over = base.entry.Rev
	case !same:
		var ok bool
		l = l.Reuse(base.all)
		if w, ok = s.writeOn(base, at, l); !ok {
			return writes, base, nil
		}
	}
	writes = append(writes, w)
	if base.at == at {
		writes = append(writes, journal.Write{ID: base.entry.Rev, Entry: base.entry})
	}
	return writes, stored{at: at, entry: w.Entry, all: l}, nil
}

// writeView returns the write of the edits under the ID of the view itself, as edits that
// change nothing, for a caller that passes the view back as its history.
func writeView(v *View) []journal.Write {
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

// writes has the places where this chain has written lately, which must be read again. It
// is safe for concurrent use.
type writes struct {
	mu     sync.Mutex
	recent []written // the newest last
	count  uint64    // of all writes
}

type written struct {
	at int // position
	id message.ID
}

// add notes writes at positions of a history; negative ones are ignored.
func (w *writes) add(ids []message.ID, positions ...int) {
	const most = 64
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range positions {
		if at < 0 {
			continue
		}
		if len(w.recent) == most {
			w.recent = slices.Delete(w.recent, 0, 1)
		}
		w.recent = append(w.recent, written{at, ids[at]})
		w.count++
	}
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
