package fit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// foldOldest leaves out whole units, oldest first, as many as it must. One note
// stands for all of them, those of earlier folds included.
func (s *sketch) foldOldest(target room) {
	blocks := s.blocks()
	for _, last := range []bool{false, true} {
		for _, b := range blocks {
			if s.fits(target) {
				return
			}
			if b.free && b.last == last {
				s.foldWithNote(b.Run)
			}
		}
	}
}

// foldAll leaves out all that may go.
func (s *sketch) foldAll() {
	for _, b := range s.blocks() {
		if b.free {
			s.foldWithNote(b.Run)
		}
	}
}

// foldWithNote leaves messages out, and notes it if nothing else has.
func (s *sketch) foldWithNote(r message.Run) {
	if !s.noted {
		s.noted = true
		s.total = s.total.plus(s.weigh(s.likelyNote()))
		for i := range s.now {
			if s.isNote(i) {
				s.fold(message.Run{First: i, Last: i})
			}
		}
	}
	s.fold(r)
}

// unnote leaves out the note as well, unless it is all that would be sent beside
// the system messages at the head.
func (s *sketch) unnote() {
	if !slices.ContainsFunc(s.state[message.Leading(s.now):], func(st state) bool { return st != folded }) {
		return
	}
	if s.noted {
		s.noted = false
		s.total = s.total.minus(s.weigh(s.likelyNote()))
	}
	for i := range s.now {
		if s.isNote(i) {
			s.fold(message.Run{First: i, Last: i})
		}
	}
}

// isNote reports whether a message is the note of an earlier fold, and not a
// summary of somebody else that was shortened.
func (s *sketch) isNote(i int) bool {
	e := s.view.Span(i).Edit
	if e == nil || e.By != Name || e.Kind != middleware.Fold || len(e.Messages) != 1 {
		return false
	}
	for len(e.Under) == 1 && slices.Equal(e.Under[0].Runs, e.Runs) { // a fold whose product was rewritten
		if e = e.Under[0]; e.By != Name {
			return s.says(s.view.At(i))
		}
	}
	return true
}

// block is a run of messages that may be folded alone.
type block struct {
	message.Run

	free bool // nothing in it is protected
	last bool // it goes after all others: a summary, a memory, what the host calls critical
}

// blocks cuts the view into blocks: its units, but for those that belong
// together.
func (s *sketch) blocks() []block {
	if s.known != nil {
		return s.known
	}
	blocks := []block{}
	for _, r := range s.joined() {
		b := block{Run: r, free: true}
		for i := r.First; i <= r.Last; i++ {
			h, e := s.now[i].Hints, s.view.Span(i).Edit
			b.free = b.free && s.view.Protected(i) == 0
			b.last = b.last || h.Memory || h.Priority == message.PriorityCritical ||
				e != nil && e.Kind == middleware.Fold && !s.isNote(i)
		}
		if b.Len() > 1 || !s.isNote(r.First) {
			blocks = append(blocks, b)
		}
	}
	s.known = blocks
	return blocks
}

// joined returns the runs of messages that stand or fall together: units, what
// one fold has put, and, where a history is broken, a result with the call that
// it might seem to answer if what lies between were gone.
func (s *sketch) joined() []message.Run {
	var runs []message.Run
	calls := map[string]int{} // where a call of this id was made last
	for _, u := range message.Units(s.view.Messages()) {
		run := u.Run
		run.First = s.reachesBack(run, calls)
		for n := len(runs); n > 0 && runs[n-1].Last >= run.First; n = len(runs) {
			run.First = min(run.First, runs[n-1].First)
			runs = runs[:n-1]
		}
		runs = append(runs, run)
		for c := range s.now[u.First].Calls() {
			calls[c.ID] = u.First
		}
	}
	return runs
}

// reachesBack returns the first message that a unit belongs together with.
func (s *sketch) reachesBack(unit message.Run, calls map[string]int) int {
	first := unit.First
	e := s.view.Span(first).Edit
	if e != nil && e.Kind == middleware.Fold && first > 0 && s.view.Span(first-1).Edit == e {
		first--
	}
	for i := unit.First; i <= unit.Last; i++ {
		for r := range s.now[i].Results() {
			if at, ok := calls[r.CallID]; ok && !hasCall(s.now[unit.First], r.CallID) {
				first = min(first, at)
			}
		}
	}
	return first
}

func hasCall(m message.Message, id string) bool {
	for c := range m.Calls() {
		if c.ID == id {
			return true
		}
	}
	return false
}

// noteUnder returns the note for messages that are kept under a handle.
func (w *words) noteUnder(h store.Handle) message.Message {
	return message.User(store.Placeholder(textOf(w.note.Parts[0]), h))
}

// likelyNote returns a note as long as that of the view will be, give or take a
// token.
func (s *sketch) likelyNote() message.Message {
	if s.keeper == nil {
		return s.note
	}
	return s.noteUnder(likely)
}

// says reports whether a message is the note, with a handle or without.
func (w *words) says(m message.Message) bool {
	if len(m.Parts) != 1 || m.Equal(w.note) {
		return m.Equal(w.note)
	}
	named := store.HandlesIn(textOf(m.Parts[0]))
	return len(named) > 0 && m.Equal(w.noteUnder(named[len(named)-1]))
}
