package fit

import (
	"slices"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// shrink makes a sketch fit into the room, and reports whether it does, or makes it as small as possible
// if the attempt is one for the least. What is larger than the room by itself is cut first. Then the steps follow, the
// mildest first, each until a share of the room is filled.
func (s *sketch) shrink(r room, share float64) bool {
	if s.least {
		s.shrinkAll()
		return true
	}
	s.keepLimits(share)
	s.cutOversized(r)
	s.cutFixed(r, share)
	fixed := s.fixedAlone()
	target := s.target(r, share, s.charged(fixed.tokens), fixed.bytes)
	s.dropLargest(r, target)
	for _, apply := range steps {
		if s.fits(r) {
			return true
		}
		s.apply(apply, target)
	}
	if !s.fits(r) {
		s.leaveNoFacts()
	}
	if !s.fits(r) {
		s.foldOldest(target)
	}
	if !s.fits(r) && !s.margin {
		s.dropNote()
	}
	return s.fits(r)
}

// shrinkAll makes a sketch as small as possible.
func (s *sketch) shrinkAll() {
	s.foldOldest(room{})
	for _, step := range steps {
		s.apply(step, room{})
	}
	for _, unit := range units {
		s.level(s.fixed(s, unit), unit, 0)
	}
	s.dropNote()
}

// target returns the room of which a share is filled, of what a fixed load leaves of
// it, given in tokens as they are charged for the whole request and in bytes.
func (s *sketch) target(r room, share float64, charged, bytes int) room {
	part := func(room, fixed int) int {
		if room == unbounded || fixed >= room {
			return room
		}
		return fixed + int(share*float64(room-fixed))
	}
	return s.room(part(r.charged, charged), part(r.bytes, bytes))
}

// step shortens message at, which is neither folded nor protected, except for calls and
// results of protected tools, until the sketch fits into the target.
type step func(s *sketch, at int, target room)

// steps are applied in this order, each to all messages, oldest first. After them,
// whole units are folded.
var steps = [...]step{
	clearResults(false, false), clearResults(false, true), clearResults(true, false), clearRecalled,
	shortenArguments, dropThinking, dropMedia,
}

// apply applies a step to the messages until the sketch fits into the target.
func (s *sketch) apply(step step, target room) {
	for i := range s.now {
		if s.fits(target) || s.watch.Done() {
			return
		}
		if s.state[i] != folded && s.view.Protected(i)&^middleware.ProtectTool == 0 {
			step(s, i, target)
		}
	}
}

// clearResults returns the step that clears results that were shortened before, by
// other middlewares or to a placeholder with facts, or of the others those that are
// errors or those that are not. Recalled results are kept.
func clearResults(shortened, failed bool) step {
	clears := clearSome(func(s *sketch, at int, id string) bool {
		return s.isShort(at, id) == shortened && (shortened || s.index.Failed(s.now[at].Parts, id) == failed) && s.recalled(at, id).IsZero()
	})
	return func(s *sketch, at int, target room) {
		if s.now[at].Role == message.RoleTool {
			clears(s, at, target)
		}
	}
}

// isShort reports whether an edit has shortened a result: that of another middleware, or
// one that left a placeholder.
func (s *sketch) isShort(at int, id string) bool {
	e := s.view.Span(at).Edit
	return e != nil && (e.Middleware != Name || s.isPlaceholder(at, id))
}

// clearSome returns the step that clears the results for which a function returns true.
func clearSome(which func(s *sketch, at int, id string) bool) step {
	return func(s *sketch, at int, target room) {
		parts := s.now[at].Parts
		var texts map[string]string // in place of some of several results
		var more load
		for i, p := range parts {
			r, _ := p.(message.ToolResult)
			id := r.CallID
			if !s.index.Begins(parts, i) || s.view.Protects(at, p) || !which(s, at, id) {
				continue
			}
			if s.total.plus(more).fits(target) || s.watch.Done() {
				break
			}
			text := store.Placeholder(s.Placeholder, s.handleOfResult(at, id))
			was, is := s.index.Result(parts, id), s.cleared(parts, id, text)
			switch d := s.difference(was, is); {
			case !d.isLess():
			case len(was) == len(parts):
				s.set(at, is, d.plus(s.leaveFact(at, id, -d.tokens)))
			default:
				if texts == nil {
					texts = map[string]string{}
				}
				more, texts[id] = more.plus(d).plus(s.leaveFact(at, id, -d.tokens)), text
			}
		}
		if texts != nil {
			s.set(at, shorten.AppendCleared(nil, parts, func(id string) (string, bool) {
				text, ok := texts[id]
				return text, ok
			}), more)
		}
	}
}

// cleared returns what is left of a result if it gets a placeholder.
func (s *sketch) cleared(parts []message.Part, callID, text string) []message.Part {
	var is []message.Part
	for i, r := range s.index.Pieces(parts, callID) {
		if !shorten.Joins(parts, i) {
			r.Text, r.Content = text, nil
			is = append(is, r)
		}
	}
	return is
}

// shortenArguments shortens the arguments of all calls of a message, except for names of files and other lines.
func shortenArguments(s *sketch, at int, target room) {
	for k, p := range s.now[at].Parts {
		c, ok := p.(message.ToolCall)
		if !ok || s.fits(target) || s.watch.Done() || s.view.Protects(at, p) {
			continue
		}
		short := shortCall(c, s.handleOfCall(at, c.ID), true, func(c message.ToolCall) bool {
			return s.total.plus(s.difference([]message.Part{p}, []message.Part{c})).fits(target)
		})
		if short != c {
			s.replace(at, k, short)
		}
	}
}

// shortCall returns a call with shorter arguments: see [shorten.Values]. They are cleared if they are no JSON object, and
// without keepLines also if nothing else is enough.
func shortCall(c message.ToolCall, h store.Handle, keepLines bool, enough func(message.ToolCall) bool) message.ToolCall {
	with := func(arguments string) message.ToolCall {
		c.Arguments = arguments
		return c
	}
	short, n := shorten.Values(c.Arguments, h, keepLines, func(short string) bool { return enough(with(short)) })
	switch {
	case n < 0 || !keepLines && !enough(with(short)):
		return with(shorten.Arguments(h))
	case n > 0:
		return with(short)
	}
	return c
}

// dropThinking removes the thinking of turns before the newest, of which providers want
// it back unchanged. Parts are removed whole, since they are signed.
func dropThinking(s *sketch, at int, _ room) {
	if s.now[at].Role != message.RoleAssistant || s.view.Span(at).Last >= s.turn {
		return
	}
	if s.keepsThinking == nil {
		s.keepsThinking = core.KeepsThinking(s.view)
	}
	if parts, ok := shorten.WithoutThinking(s.now[at]); ok && !s.keepsThinking(at) {
		s.rewrite(at, parts)
	}
}

// dropMedia replaces images, sounds and documents by notes.
func dropMedia(s *sketch, at int, target room) {
	for k, p := range s.now[at].Parts {
		if !s.view.Protects(at, p) && !s.fits(target) && !s.watch.Done() {
			s.dropMedia(at, k)
		}
	}
}

// foldOldest leaves out whole units, oldest first, until the sketch fits into the
// target. One note replaces all of them, and the notes of earlier folds.
func (s *sketch) foldOldest(target room) {
	for _, last := range []bool{false, true} {
		for _, b := range s.blocks() {
			if s.fits(target) || s.watch.Done() {
				return
			}
			if b.free && b.last == last {
				s.foldWithNote(b.Run)
			}
		}
	}
}

// foldWithNote leaves out messages, and adds a note the first time.
func (s *sketch) foldWithNote(r message.Run) {
	if !s.noted {
		s.noted = true
		s.total = s.total.plus(s.weigh(s.likelyNote()))
		s.foldNotes()
	}
	s.fold(r)
}

// foldNotes leaves out the notes of earlier folds.
func (s *sketch) foldNotes() {
	for i := range s.now {
		if s.watch.Done() {
			return
		}
		if s.isNote(i) {
			s.fold(message.Run{First: i, Last: i})
		}
	}
}

// dropNote leaves out the note, unless nothing but the leading system messages would
// be left.
func (s *sketch) dropNote() {
	if !slices.ContainsFunc(s.state[message.Leading(s.now):], func(st state) bool { return st != folded }) {
		return
	}
	if s.noted {
		s.noted = false
		s.total = s.total.minus(s.weigh(s.likelyNote()))
	}
	s.foldNotes()
}

// isNote reports whether a message is the note of an earlier fold, and not a summary
// of another middleware that fit has shortened.
func (s *sketch) isNote(i int) bool {
	e := s.view.Span(i).Edit
	if e == nil || e.Middleware != Name || e.Kind != journal.Fold || len(e.Messages) != 1 {
		return false
	}
	for len(e.Covered) == 1 && slices.Equal(e.Covered[0].Runs, e.Runs) { // a fold whose product was rewritten
		if e = e.Covered[0]; e.Middleware != Name {
			return s.equalsNote(s.view.At(i))
		}
	}
	return true
}

// equalsNote reports whether a message is the note, with or without a handle.
func (s *sketch) equalsNote(m message.Message) bool {
	if m.Equal(s.noteFor(store.Handle{})) {
		return true
	}
	named := archived.In(m.Text())
	return len(named) > 0 && m.Equal(s.noteFor(named[len(named)-1]))
}

// noteFor returns the note for messages that are archived under a handle.
func (s *sketch) noteFor(h store.Handle) message.Message {
	return message.User(store.Placeholder(s.Note, h))
}

// likelyNote returns a note of about the length that the note of the plan will have.
func (s *sketch) likelyNote() message.Message {
	if s.archiver == nil {
		return s.noteFor(store.Handle{})
	}
	return s.noteFor(shorten.Likely)
}

// block is a run of messages that are folded together.
type block struct {
	message.Run

	free bool // nothing in it is protected
	last bool // it is folded after all others: a summary, a memory, or critical for the host
}

// blocks returns the blocks of the view, without the notes of earlier folds.
func (s *sketch) blocks() []block {
	if s.known != nil {
		return s.known
	}
	s.known = []block{}
	for _, r := range s.connected() {
		b := block{Run: r, free: true}
		for i := r.First; i <= r.Last && !s.watch.Done(); i++ {
			h, e := s.now[i].Hints, s.view.Span(i).Edit
			b.free = b.free && s.view.Protected(i) == 0
			b.last = b.last || h.Memory || h.Priority == message.PriorityCritical ||
				e != nil && e.Kind == journal.Fold && !s.isNote(i)
		}
		if b.Len() > 1 || !s.isNote(r.First) {
			s.known = append(s.known, b)
		}
	}
	return s.known
}

// connected returns the runs of messages that are folded together: units, the
// messages of one earlier fold, and, if a history is broken, a result with the call
// that it could be taken to answer without what is between them.
func (s *sketch) connected() []message.Run {
	var runs []message.Run
	calls := map[string]int{} // position of the last call with an ID
	for _, u := range message.Units(s.view.Messages()) {
		run := u.Run
		if e := s.view.Span(run.First).Edit; e != nil && e.Kind == journal.Fold && run.First > 0 && s.view.Span(run.First-1).Edit == e {
			run.First--
		}
		for c := range s.now[u.First].Calls() {
			calls[c.ID] = u.First
		}
		for i := u.First; i <= u.Last && !s.watch.Done(); i++ {
			for r := range s.now[i].Results() {
				if at, ok := calls[r.CallID]; ok {
					run.First = min(run.First, at)
				}
			}
		}
		for n := len(runs); n > 0 && runs[n-1].Last >= run.First; n = len(runs) {
			run.First = min(run.First, runs[n-1].First)
			runs = runs[:n-1]
		}
		runs = append(runs, run)
	}
	return runs
}
