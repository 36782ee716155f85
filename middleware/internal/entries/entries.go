// Package entries reads and writes what a journal has for one history: the newest valid
// entry, with all entries that it builds on, and new entries on top of it. It knows nothing
// of requests and chains.
//
// All positions count from the first message after the leading system messages.
package entries

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Log is the journal of one history. It is safe for concurrent use.
type Log struct {
	*edit.History

	Journal journal.Journal
	Scope   string
	Recent  *Recent // what the chain has written
}

// Stored is an entry of the journal with all edits that it stands for.
type Stored struct {
	At    int // position under whose ID it is kept; -1: there is no entry
	Entry journal.Entry
	All   edit.List
}

// None is no entry.
func None() Stored { return Stored{At: -1} }

// Read returns the newest valid entry under one of the first IDs, from the given one on, or
// the one known before. Entries that cannot be read are skipped, and the error names them.
func (l Log) Read(ctx context.Context, ids []message.ID, before Stored, from int) (Stored, error) {
	var broken error
	for end := len(ids); end > from; {
		at, e, ok, err := l.latest(ctx, ids[from:end])
		switch {
		case err != nil:
			return before, errors.Join(broken, err)
		case !ok:
			return before, broken
		case at < 0 || at >= end-from:
			return before, errors.Join(broken, fmt.Errorf("read journal: index %d of %d ids", at, end-from))
		}
		at += from
		if at == before.At && e.Rev == before.Entry.Rev {
			return before, broken
		}
		all, err := l.expand(ctx, e, before)
		if err == nil {
			return Stored{At: at, Entry: e, All: all}, broken
		}
		if ctx.Err() != nil {
			return before, ctx.Err()
		}
		broken = errors.Join(broken, l.wrong(at, err))
		end = at
	}
	return before, broken
}

func (l Log) wrong(at int, err error) error {
	return fmt.Errorf("entry of message %d: %w", len(l.Lead)+at, err)
}

// expand returns the edits of an entry and of all that it builds on.
func (l Log) expand(ctx context.Context, e journal.Entry, known Stored) (edit.List, error) {
	stack := []journal.Entry{e}
	var all edit.List
	for !e.Base.IsZero() {
		if e.BaseRev == known.Entry.Rev {
			all = known.All
			break
		}
		if len(stack) > journal.MaxDepth {
			return nil, fmt.Errorf("builds on more than %d entries", journal.MaxDepth)
		}
		base, err := l.base(ctx, e)
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
		if all, err = all.Over(l.WeighAll(e.Edits)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// base returns the entry that another one builds on. It is kept under its ID, or under its
// revision if it was replaced.
func (l Log) base(ctx context.Context, e journal.Entry) (journal.Entry, error) {
	for _, id := range []message.ID{e.Base, e.BaseRev} {
		_, b, ok, err := l.latest(ctx, []message.ID{id})
		if err != nil {
			return journal.Entry{}, err
		}
		if ok && b.Rev == e.BaseRev {
			return b, nil
		}
	}
	return journal.Entry{}, errors.New("builds on an entry that is missing")
}

func (l Log) latest(ctx context.Context, ids []message.ID) (at int, e journal.Entry, ok bool, err error) {
	defer caught("read journal", &err)
	return l.Journal.Latest(ctx, l.Scope, ids)
}

func (l Log) put(ctx context.Context, writes []journal.Write) (winner journal.Entry, err error) {
	defer caught("write journal", &err)
	return l.Journal.Put(ctx, l.Scope, writes)
}

// caught makes a panic of the journal an error, and names what was done. It is deferred.
func caught(what string, err *error) { //nolint:gocritic // a deferred function sets the error of its caller
	if r := recover(); r != nil {
		*err = fmt.Errorf("journal panicked: %v\n%s", r, debug.Stack())
	}
	if *err != nil {
		*err = fmt.Errorf("%s: %w", what, *err)
	}
}

// Write writes a list of edits under the newest ID, on top of what is stored there or before,
// and those before the newest question under the ID of the message before it: questions are
// edited, and hosts insert text into them that is gone in the next turn. more are written
// with them. It returns what is stored then, which is the work of another writer if that was
// first, and the list with the records of the journal in place of equal ones.
func (l Log) Write(
	ctx context.Context, base, before Stored, all edit.List, more []journal.Write,
) (Stored, Stored, edit.List, error) {
	const tries = 4
	at, known := len(l.IDs)-1, before
	for range tries {
		if len(base.All) > 0 {
			all = all.Reuse(base.All)
		}
		writes, early, err := l.batch(ctx, base, known, all)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return base, before, nil, err
		}
		if before = early; len(writes) == 0 {
			break
		}
		winner, err := l.put(ctx, append(writes, more...))
		if err != nil {
			return base, before, nil, err
		}
		if winner.Rev == writes[0].Entry.Rev {
			l.Recent.add(l.IDs, at, before.At)
			base = Stored{At: at, Entry: winner, All: all}
			break
		}
		theirs, err := l.expand(ctx, winner, base)
		if err != nil {
			return base, before, nil, l.wrong(at, err)
		}
		final := !all.Covers(theirs) || base.Entry.Rev == winner.Rev
		if base = (Stored{At: at, Entry: winner, All: theirs}); final {
			break
		}
	}
	return base, before, all, nil
}

// batch returns the writes for a list of edits, as a change to those of a base, and what is
// stored before the newest question then.
func (l Log) batch(ctx context.Context, base, before Stored, all edit.List) ([]journal.Write, Stored, error) {
	at := len(l.IDs) - 1
	main, ok := l.on(base, at, all)
	if !ok {
		return nil, before, nil
	}
	writes := appendWrite(make([]journal.Write, 0, 4), main, at, base)
	question := l.LastUser - 1
	if question < 0 {
		return writes, before, nil
	}
	some := l.Before(question, all)
	if len(some) == 0 {
		return writes, before, nil
	}
	switch {
	case base.At <= question:
		before = base
	case before.At != question:
		var err error
		if before, err = l.Read(ctx, l.IDs[:question+1], None(), 0); err != nil {
			return nil, before, err
		}
	}
	w := journal.Write{ID: l.IDs[question], Entry: main.Entry}
	switch same := before.At == base.At && some[len(some)-1].Record == all[len(all)-1].Record; { // then it is the same entry
	case same && before.At == question:
		w.Over = before.Entry.Rev
	case !same:
		some = some.Reuse(before.All)
		if w, ok = l.on(before, question, some); !ok {
			return writes, before, nil
		}
	}
	return appendWrite(writes, w, question, before), Stored{At: question, Entry: w.Entry, All: some}, nil
}

// appendWrite appends a write at a position, and one of the entry that it replaces, since
// others may build on that.
func appendWrite(writes []journal.Write, w journal.Write, at int, base Stored) []journal.Write {
	if writes = append(writes, w); base.At == at {
		writes = append(writes, journal.Write{ID: base.Entry.Rev, Entry: base.Entry})
	}
	return writes
}

// on returns the write of a list at a position, as an entry on top of a base. ok is false if
// the base has it already.
func (l Log) on(base Stored, at int, all edit.List) (w journal.Write, ok bool) {
	delta, ok := all.Without(base.All)
	if ok && len(delta) == 0 {
		return journal.Write{}, false
	}
	e := journal.Entry{Edits: all.Records()}
	if ok && base.At >= 0 && base.Entry.Depth+1 < journal.MaxDepth {
		e = journal.Entry{Base: l.IDs[base.At], BaseRev: base.Entry.Rev, Depth: base.Entry.Depth + 1, Edits: delta.Records()}
	}
	e.Rev = e.Sum()
	w = journal.Write{ID: l.IDs[at], Entry: e}
	if base.At == at {
		w.Over = base.Entry.Rev
	}
	return w, true
}

// Recent has the places where a chain has written lately, which must be read again. It
// is safe for concurrent use.
type Recent struct {
	mu     sync.Mutex
	recent []written // the newest last
	count  uint64    // of all writes
}

type written struct {
	at int // position
	id message.ID
}

// add notes writes at positions of a history; negative ones are ignored.
func (r *Recent) add(ids []message.ID, positions ...int) {
	const most = 64
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range positions {
		if at < 0 {
			continue
		}
		if len(r.recent) == most {
			r.recent = slices.Delete(r.recent, 0, 1)
		}
		r.recent = append(r.recent, written{at, ids[at]})
		r.count++
	}
}

// Fork makes another one know the same.
func (r *Recent) Fork(to *Recent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	to.recent, to.count = slices.Clone(r.recent), r.count
}

// Since returns the smallest position of the history under which the chain has written
// after the first seen writes, or the length of the history, and the number of all writes.
func (r *Recent) Since(seen uint64, ids []message.ID) (from int, count uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.count - seen
	if fresh > uint64(len(r.recent)) {
		return 0, r.count
	}
	from = len(ids)
	for _, p := range r.recent[len(r.recent)-int(fresh):] {
		if p.at < from && ids[p.at] == p.id {
			from = p.at
		}
	}
	return from, r.count
}

// Overlay is a journal on top of another one, which it only reads.
type Overlay struct {
	Below journal.Journal
	Top   *journal.Memory
}

// Latest implements [journal.Journal].
func (o *Overlay) Latest(ctx context.Context, scope string, ids []message.ID) (at int, e journal.Entry, ok bool, err error) {
	at, e, ok, err = o.Top.Latest(ctx, scope, ids)
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
	k, below, found, err := o.Below.Latest(ctx, scope, ids[from:])
	if err != nil || !found {
		return at, e, ok && err == nil, err
	}
	return from + k, below, true, nil
}

// Put implements [journal.Journal].
func (o *Overlay) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	own := make([]journal.Write, 0, len(writes))
	for i, w := range writes {
		_, there, ok, err := o.Latest(ctx, scope, []message.ID{w.ID})
		switch {
		case err != nil, i == 0 && ok && there.Rev != w.Over:
			return there, err
		case ok && there.Rev != w.Over:
			continue
		}
		_, mine, _, _ := o.Top.Latest(ctx, scope, []message.ID{w.ID})
		w.Over = mine.Rev
		own = append(own, w)
	}
	return o.Top.Put(ctx, scope, own)
}

// Delete implements [journal.Journal]. The journal below keeps its entries.
func (o *Overlay) Delete(ctx context.Context, scope string) error { return o.Top.Delete(ctx, scope) }
