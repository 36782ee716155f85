package fit

import (
	"cmp"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// What is left of what is cut first, as shares of the room.
const (
	giantShare = 0.25 // of an old part that is larger than the room
	fixedShare = 0.5  // at least, of all that may be cut but not folded
)

// cutTries bounds how often what is cut is cut once more, since the mark in the
// middle takes room, too.
const cutTries = 4

// piece is a part that can be made smaller where it stands.
type piece struct {
	at, k int
	size  int
	atom  bool // it gives way to a note, or stays
}

// cutGiants cuts old parts that are larger than the room by themselves: no view
// that fits has them.
func (s *sketch) cutGiants(r room) {
	for _, unit := range units {
		most := s.measure(r, unit)
		for i := range s.now {
			if s.loads[i].in(unit) > most && s.view.Protected(i) == 0 {
				s.cutGiant(i, unit, most)
			}
		}
	}
}

// cutGiant cuts the giants of one message.
func (s *sketch) cutGiant(i int, unit message.Limit, most int) {
	isGiant := func(p message.Part) bool { return s.sizeOf(p, unit) > most }
	for k, p := range s.now[i].Parts {
		if isGiant(p) {
			s.cut(i, k, unit, int(giantShare*float64(most)))
		}
	}
	if slices.ContainsFunc(s.now[i].Parts, func(p message.Part) bool { return isThinking(p) && isGiant(p) }) {
		if parts, ok := s.thoughtless(i, s.newestTurn()); ok {
			s.rewrite(i, parts)
		}
	}
}

// cutFixed cuts what may not be folded, if that is too large by itself: mostly the
// newest results. All of it keeps half of the room, or more if the rest is small.
func (s *sketch) cutFixed(r room, share float64) {
	if s.fixedAlone().fits(r) {
		return
	}
	target := r.share(share)
	for _, unit := range units {
		for range cutTries {
			floor := s.floor()
			if floor.beyond(r, unit) == 0 {
				break
			}
			pieces := s.fixed(floor, unit)
			have := sum(pieces)
			most := have - floor.beyond(target, unit)
			half := int(fixedShare * float64(s.measure(r, unit)))
			s.level(pieces, unit, min(most, max(half, have-s.beyond(target, unit))))
		}
	}
}

// fixedAlone returns the sketch without all that may be folded, for its total
// alone.
func (s *sketch) fixedAlone() *sketch {
	f := *s
	f.total = s.total.plus(s.weigh(s.likelyNote()))
	for _, b := range s.blocks() {
		for i := b.First; b.free && i <= b.Last; i++ {
			f.total = f.total.minus(s.loads[i])
		}
	}
	return &f
}

// floor returns the sketch with all folded that may be, and all else as short as
// the rungs make it.
func (s *sketch) floor() *sketch {
	f := s.clone()
	f.keeper = nil
	f.foldAll()
	for _, step := range rungs {
		f.climb(step, room{})
	}
	return f
}

// fixed returns the pieces of what the floor still has: results of the newest
// round, attachments of the first and of the last question, and what stands in a
// round of which something is pinned.
func (s *sketch) fixed(floor *sketch, unit message.Limit) []piece {
	var pieces []piece
	for i := range s.now {
		p := s.view.Protected(i)
		if floor.state[i] == folded || p&middleware.Whole != 0 {
			continue
		}
		for k, part := range s.now[i].Parts {
			if _, longer := s.bareNote(i, k); longer && p&middleware.Fresh == 0 || cuttable(part, p) {
				pieces = append(pieces, s.piece(i, k, unit))
			}
		}
	}
	return pieces
}

// cuttable reports whether a part of a message may be made smaller.
func cuttable(p message.Part, by middleware.Protection) bool {
	switch p := p.(type) {
	case message.Text, message.ToolCall:
		return by == 0
	case message.Media:
		return by&middleware.Fresh == 0
	case message.ToolResult:
		_, opaque := p.Content.(message.Opaque)
		return by&middleware.Words == 0 && !opaque
	case message.Thinking, message.Opaque: // as they are, or not at all
	}
	return false
}

// piece returns part k of a message as a piece.
func (s *sketch) piece(at, k int, unit message.Limit) piece {
	p := s.now[at].Parts[k]
	return piece{at: at, k: k, size: s.sizeOf(p, unit), atom: s.isAtom(at, k)}
}

// isAtom reports whether no head and tail of a part can stay. Of media beside a
// text, which go before the text does, there is none; unless they are as small as
// the note that would stand for them.
func (s *sketch) isAtom(at, k int) bool {
	switch p := s.now[at].Parts[k].(type) {
	case message.Text:
		return false
	case message.ToolResult:
		return p.Content != nil && (p.Text == "" || s.mayDropMedia(at, k))
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return true
}

func sum(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += p.size
	}
	return n
}

// level makes the largest pieces smaller until all have no more than allowed:
// none keeps more than it takes to spare the smaller ones.
func (s *sketch) level(pieces []piece, unit message.Limit, allowed int) {
	slices.SortStableFunc(pieces, larger)
	for {
		limit := levelOf(pieces, allowed)
		k := slices.IndexFunc(pieces, func(p piece) bool { return p.atom && p.size > limit })
		if k < 0 {
			for _, p := range pieces {
				if p.size > limit {
					s.cut(p.at, p.k, unit, limit)
				}
			}
			return
		}
		at, nth := pieces[k].at, pieces[k].k
		r, _ := s.now[at].Parts[nth].(message.ToolResult)
		s.cut(at, nth, unit, 0)
		pieces = slices.Delete(pieces, k, k+1)
		if p := s.piece(at, nth, unit); r.Text != "" && !p.atom { // there is a text beside the media
			pieces = append(pieces, p)
			slices.SortStableFunc(pieces, larger)
		}
	}
}

// larger orders pieces, the largest first.
func larger(a, b piece) int { return cmp.Compare(b.size, a.size) }

// levelOf returns the size to which pieces, the largest first, must be cut so
// that together they have no more than allowed.
func levelOf(pieces []piece, allowed int) int {
	rest := sum(pieces)
	if rest <= allowed {
		return rest
	}
	for k, p := range pieces {
		rest -= p.size
		if level := (allowed - rest) / (k + 1); k+1 == len(pieces) || level >= pieces[k+1].size {
			return max(0, level)
		}
	}
	return 0
}

// cut makes one part smaller, so that it has no more than the limit if that can
// be.
func (s *sketch) cut(at, k int, unit message.Limit, limit int) {
	p := s.now[at].Parts[k]
	given := s.given(at, k, p)
	switch old := p.(type) {
	case message.Text:
		if bare, longer := s.bareNote(at, k); longer {
			p = bare
			break
		}
		p = message.Text{Text: s.shorten(given, unit, limit)}
	case message.ToolCall:
		old.Arguments = store.Arguments(s.handleOf(given))
		p = old
	case message.ToolResult:
		if s.dropMedia(at, k) {
			return
		}
		if old.Content != nil { // which is small, and stays
			beside := old
			beside.Text = ""
			limit -= s.sizeOf(beside, unit)
		}
		old.Text = s.shorten(given, unit, limit)
		p = old
	case message.Media:
		s.dropMedia(at, k)
		return
	case message.Thinking, message.Opaque: // as they are, or not at all
	}
	if p != s.now[at].Parts[k] {
		s.came(p, given)
		s.rewrite(at, replaced(s.now[at].Parts, k, p))
	}
}

// shorten returns the head and the tail of a part that is text.
func (s *sketch) shorten(given message.Part, unit message.Limit, limit int) string {
	text := textOf(given)
	return shorten(s.view.Meter().Counter, text, unit, limit, s.handleOf(given))
}
