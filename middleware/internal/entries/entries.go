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

	"github.com/laconic-go/laconic/internal/guard"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// Log is the journal of one history. It is safe for concurrent use.
type Log struct {
	*edit.History

	Journal journal.Journal
	Scope   string
	Shared  bool // others may write to the journal, too

	Conversation message.ID // to which what is written belongs
	Name         message.ID // the same, if that has a name; else zero
}

// Open returns the journal of a history as the chains have it that use that journal. The tokens of its edits mean nothing.
func Open(j journal.Journal, scope string, msgs []message.Message) (Log, error) {
	if j == nil {
		return Log{}, errors.New("Env.Journal is nil, want the journal of the chain")
	}
	lead := message.Leading(msgs)
	given := history.Given{Lead: msgs[:lead], Body: msgs[lead:]}
	meter := tokens.Meter{Counter: tokens.Chars4}
	t, _, err := new(history.Cache[struct{}]).Follow(given, meter, func() (none struct{}) { return none })
	switch {
	case err != nil:
		return Log{}, err
	case len(t.IDs) == 0:
		return Log{}, errors.New("the history has only system messages")
	}
	return Log{History: &t.History, Journal: j, Scope: scope, Shared: true}.own(message.ID{}), nil
}

// Borrows reports whether the newest entry belongs to another conversation with the same messages, and was found before
// the newest one: it is to be written for this conversation, too, since it may be deleted with the other one.
func (l Log) Borrows(k Known) bool {
	return l.Shared && k.At >= 0 && k.At < len(l.IDs)-1 && k.Entry.Conversation != l.Name
}

// Known is what is known of the journal for one history; before the first read, it has [None].
type Known struct {
	Stored // the newest entry

	Skipped error // what the newest read could not read, and left out
	Gone    bool  // the newest read has found nothing of what was known

	tried bool // the journal was asked
}

// Cut forgets what is not known of a history that has only some first messages in common.
func (k *Known) Cut(common int) {
	if k.At >= common {
		k.Stored = None
	}
}

// Stored is an entry of the journal with all edits that it represents.
type Stored struct {
	At    int // position under whose ID it is kept; -1: there is no entry
	Entry journal.Entry
	All   edit.List
	Steps []journal.Step // that have led to it, as far as they are kept, oldest first

	Pins   []message.ID  // messages of the history that a person has pinned, in its order
	pinned journal.Entry // of the pins of all histories that begin with the same message
}

// None is no entry.
var None = Stored{At: -1}

// Refresh returns what is known after a read of the journal, from the newest known entry on: those before it do not matter. That
// one is read in each call, since another call may have written in its place, or a person may have undone an edit.
//
// The first read may take longer and is repeated once if it fails: without the edits that were
// sent before, the provider reads the whole prompt again.
func (l Log) Refresh(ctx context.Context, k Known) (Known, error) {
	var err error
	before, from, first := k.Stored, max(k.At, 0), !k.tried && l.Shared
	k.tried = true
	if first {
		ctx = guard.Patient(ctx)
	}
	k.Stored, k.Skipped, err = l.Read(ctx, l.IDs, before, from)
	if err != nil && first && ctx.Err() == nil {
		k.Stored, k.Skipped, err = l.Read(ctx, l.IDs, before, from)
	}
	if err == nil {
		k.Gone = before.At >= 0 && k.At < 0
	}
	return k, err
}

// Read returns the newest valid entry under one of the first IDs, from the given one on, or
// the one known before, with the pins. Entries that cannot be read are skipped, and broken names them.
//
// Pins have an ID of their own, which comes last: only where there are some, a second find looks for the entry.
func (l Log) Read(ctx context.Context, ids []message.ID, before Stored, from int) (_ Stored, broken, err error) {
	wanted, pins := ids[from:], journal.Entry{}
	if l.Shared && len(l.IDs) > 0 {
		wanted = append(slices.Clip(wanted), pinsOf(l.IDs[0])) // found at position len(ids)
	}
	for len(wanted) > 0 {
		found, err := l.find(ctx, wanted)
		broken = errors.Join(broken, found.Skipped)
		switch {
		case err != nil:
			return before, broken, err
		case found.At < 0 || len(found.Entries) == 0:
			if before.At >= from && l.Shared { // the journal has lost it
				before = None
			}
			return l.withPins(before, pins), broken, nil
		case found.At >= len(wanted):
			return before, broken, fmt.Errorf("read journal: index %d of %d ids", found.At, len(wanted))
		}
		wanted = wanted[:found.At]
		end, newest := from+found.At, found.Entries[0]
		switch {
		case end == len(ids):
			err = newest.Validate()
			pins = newest
		case end == before.At && newest.Rev == before.Entry.Rev:
			return l.withPins(before, pins), broken, nil
		default:
			var is Stored
			is, err = l.expand(found.Entries, before)
			if err == nil {
				is.At = end
				return l.withPins(is, pins), broken, nil
			}
		}
		if err != nil {
			broken = errors.Join(broken, fmt.Errorf("entry of message %d: %w", len(l.Lead)+end, err))
		}
	}
	return l.withPins(before, pins), broken, nil
}

// withPins returns what is stored with the pins of an entry.
func (l Log) withPins(s Stored, e journal.Entry) Stored {
	s.pinned, s.Pins = e, nil
	pinned := make(map[message.ID]bool, len(e.Pins))
	for _, id := range e.Pins {
		pinned[id] = true
	}
	for _, id := range l.IDs {
		if pinned[id] {
			s.Pins = append(s.Pins, id)
		}
	}
	return s
}

// expand returns an entry with the edits of all that it builds on.
func (l Log) expand(found []journal.Entry, known Stored) (Stored, error) {
	s := Stored{}
	for i := range found {
		base := found[i].Base
		switch {
		case base.IsZero():
			found = found[:i+1]
		case base == known.Entry.Rev:
			found, s = found[:i+1], known
		case i == journal.MaxDepth:
			return s, fmt.Errorf("builds on more than %d entries", journal.MaxDepth)
		case i+1 == len(found) || found[i+1].Rev != base:
			return s, errors.New("builds on an entry that is missing")
		default:
			continue
		}
		break
	}
	for _, e := range slices.Backward(found) {
		if err := e.Validate(); err != nil {
			return s, err
		}
		all, err := s.All.Over(l.WeighAll(e.Edits))
		if err != nil {
			return s, err
		}
		s = s.with(e, all)
	}
	return s, nil
}

// with returns what is stored when an entry is written that builds on this one, or on none.
func (s Stored) with(e journal.Entry, all edit.List) Stored {
	s.Entry, s.All = e, all
	if e.Base.IsZero() {
		s.Steps = e.Steps
	} else {
		s.Steps = append(slices.Clip(s.Steps), e.Steps...)
	}
	return s
}

func (l Log) find(ctx context.Context, ids []message.ID) (found journal.Found, err error) {
	defer caught("read journal", &err)
	return l.Journal.Find(ctx, l.Scope, l.IDs[0], ids)
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

// Write writes edits, the thinking of their entry and the steps that lead to them from what is known, under the newest ID, and the
// edits before the newest question under the ID of the message before it: questions are edited, and hosts insert text into them that
// is missing in the next turn. more are written with them. It returns what is known then, which is the work of another writer if
// that was first, and the list with the records of the journal in place of equal ones.
func (l Log) Write(ctx context.Context, known Known, want Stored, more []journal.Write) (Known, edit.List, error) {
	at, made := len(l.IDs)-1, want.Steps
	for range tries {
		want.All = want.All.Reuse(known.All)
		want.Steps = named(made, known.Entry.Rev)
		writes, err := l.batch(ctx, known, want)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return known, nil, err
		}
		if len(writes) == 0 {
			return known, want.All, nil
		}
		winner, err := l.put(ctx, append(writes, more...))
		if err != nil {
			return known, nil, err
		}
		if winner.Rev == writes[0].Entry.Rev {
			known.Stored = known.with(writes[0].Entry, want.All)
			known.At = at
			return known, want.All, nil
		}
		before, from := known.Stored, at
		if winner.Rev.IsZero() { // the base has expired, or a person has amended it: what is known may be missing
			before = None
			from = 0
		}
		theirs, broken, err := l.readOthers(ctx, known.Stored, before, from)
		if err != nil {
			return known, nil, err
		}
		known.Skipped = errors.Join(known.Skipped, broken)
		same := theirs.At == known.At && theirs.Entry.Rev == known.Entry.Rev
		known.Stored = theirs
		if !same && !want.All.Equal(theirs.All) {
			return known, want.All, nil
		}
		want.Entry.Thinking = again(want.Entry.Thinking, theirs.Entry.Thinking)
	}
	return known, nil, ErrFirst
}

// again returns what is to be written of thinking after another request with the same history.
func again(t, other *journal.Thinking) *journal.Thinking {
	if t == nil || other == nil {
		return t
	}
	own := *t
	own.Again = true
	return &own
}

const tries = 4

// ErrFirst is the error of a write if others write all the time.
var ErrFirst = fmt.Errorf("write journal: another writer was first %d times", tries)

// readOthers reads what another writer has written. It is an error if the journal has lost what was known: the next call
// finds out what that means.
func (l Log) readOthers(ctx context.Context, known, before Stored, from int) (Stored, error, error) {
	theirs, broken, err := l.Read(ctx, l.IDs, before, from)
	if err == nil && known.At >= 0 && theirs.At < 0 && l.Shared {
		err = errors.New("write journal: it has lost what was written before")
	}
	return theirs, broken, err
}

// batch returns the writes of [Log.Write], as a change to what is known. The edits before the newest question are under the ID
// before it, too, so that a fork there has them. What is there is read: another fork may have written it, and what a person has
// undone there stays undone, also if this history still has it.
func (l Log) batch(ctx context.Context, known Known, want Stored) ([]journal.Write, error) {
	at := len(l.IDs) - 1
	main, ok := l.on(known.Stored, at, want)
	if !ok {
		return nil, nil
	}
	if known.At >= 0 && known.At < at {
		main.Head = journal.Head{ID: l.IDs[known.At], Rev: known.Entry.Rev}
	}
	writes := append(make([]journal.Write, 0, 3), main)
	question := l.LastUser - 1
	if question < 0 {
		return writes, nil
	}
	some := l.Before(question, want.All)
	if len(some) == 0 {
		return writes, nil
	}
	early := known.Stored
	if known.At > question {
		var err error
		early, _, err = l.Read(ctx, l.IDs[:question+1], None, 0)
		if err != nil {
			return nil, err
		}
		some = early.withoutUndone(some, append(slices.Clip(known.Steps), upTo(at, want.Steps)...))
		if len(some) == 0 {
			return writes, nil
		}
	}
	w := journal.Write{ID: l.IDs[question], First: l.IDs[0], Conversation: l.Conversation, Entry: main.Entry}
	same := early.At == known.At && some[len(some)-1].Record == want.All[len(want.All)-1].Record // then it is the same entry
	switch {
	case same && early.At == question:
		w.Over = early.Entry.Rev
	case !same:
		want.All = some.Reuse(early.All)
		w, ok = l.on(early, question, want)
		if !ok {
			return writes, nil
		}
	}
	return append(writes, w), nil
}

// on returns the write at a position, as an entry on top of a base. ok is false if the base has all of it already. An entry of another
// conversation is no base.
func (l Log) on(base Stored, at int, want Stored) (w journal.Write, ok bool) {
	delta, ok := want.All.Without(base.All)
	thinking := want.Entry.Thinking
	own := base.Entry.Conversation == l.Name
	if ok && len(delta) == 0 && (own || base.At == at) && (thinking == nil || thinking.Equal(base.Entry.Thinking)) {
		return journal.Write{}, false
	}
	e := journal.Entry{Edits: want.All.Records(), Thinking: thinking, Conversation: l.Name, Steps: upTo(at, want.Steps)}
	_, dry := l.Journal.(*Overlay)
	if ok && own && base.At >= 0 && base.Entry.Depth+1 < journal.MaxDepth && !dry {
		e.Base = base.Entry.Rev
		e.Depth = base.Entry.Depth + 1
		e.Edits = delta.Records()
	} else {
		e.Steps = l.latest(append(slices.Clip(base.Steps), e.Steps...))
	}
	e.Rev = e.Revision()
	w = journal.Write{ID: l.IDs[at], First: l.IDs[0], Conversation: l.Conversation, Entry: e}
	if base.At == at {
		w.Over = base.Entry.Rev
	}
	return w, true
}
