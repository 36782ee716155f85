package fit

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// units are the limits for which texts are cut.
var units = [...]message.Limit{Tokens, message.RequestBytes}

// cutOversized cuts parts of old messages that are larger than the room by
// themselves to a quarter of it: no view that fits can have them.
func (s *sketch) cutOversized(r room) {
	for _, unit := range units {
		most := s.alone(r, unit)
		oversized := func(p message.Part) bool { return s.sizeOf(p, unit) > most }
		for i := range s.now {
			if s.loads[i].in(unit) <= most || s.view.Protected(i) != 0 {
				continue
			}
			for k, p := range s.now[i].Parts {
				if oversized(p) {
					s.cut(i, k, unit, most/4)
				}
			}
			if slices.ContainsFunc(s.now[i].Parts, func(p message.Part) bool { return shorten.IsThinking(p) && oversized(p) }) {
				dropThinking(s, i, r)
			}
		}
	}
}

// cutFixed cuts what may be cut but not folded if that is too large by itself: mostly
// the newest results. All of it keeps half of the room, or more if the rest is small.
func (s *sketch) cutFixed(r room, share float64) {
	if s.fixedAlone().fits(r) {
		return
	}
	target := s.target(r, share, 0, 0)
	for _, unit := range units {
		for range 4 { // the mark in the middle of what is cut takes room, too
			floor := s.floor()
			if floor.above(r, unit) == 0 {
				break
			}
			pieces := s.fixed(floor, unit)
			have := sum(pieces)
			most := have - floor.above(target, unit)
			s.level(pieces, unit, min(most, max(s.alone(r, unit)/2, have-s.above(target, unit))))
		}
	}
}

// fixedAlone returns the load without all that may be folded, with a note.
func (s *sketch) fixedAlone() load {
	total := s.total.plus(s.weigh(s.likelyNote()))
	for _, b := range s.blocks() {
		for i := b.First; b.free && i <= b.Last; i++ {
			total = total.minus(s.loads[i])
		}
	}
	return total
}

// floor returns the sketch without all that may be folded, and with the rest as
// short as the steps make it.
func (s *sketch) floor() *sketch {
	f := *s
	f.archiver = nil
	f.now, f.loads, f.state = slices.Clone(s.now), slices.Clone(s.loads), slices.Clone(s.state)
	f.foldOldest(room{})
	for _, step := range steps {
		f.apply(step, room{})
	}
	return &f
}

// above returns by how much a sketch is larger than the room.
func (s *sketch) above(r room, unit message.Limit) int { return max(0, s.total.in(unit)-r.in(unit)) }

// piece is a part that can be cut.
type piece struct {
	at, k int
	size  int
	atom  bool // it is replaced by a note or kept whole
}

// fixed returns the pieces of what the floor still has: results of the newest round,
// attachments of the first and of the last question, and parts of rounds in which
// something is pinned.
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

// cuttable reports whether a part of a message with some protection may be cut.
func cuttable(p message.Part, by middleware.Protection) bool {
	switch p := p.(type) {
	case message.Text, message.ToolCall:
		return by == 0
	case message.Media:
		return by&middleware.Fresh == 0
	case message.ToolResult:
		_, opaque := p.Content.(message.Opaque)
		return by&middleware.Words == 0 && !opaque
	case message.Thinking, message.Opaque: // are kept whole or removed
	}
	return false
}

// piece returns part k of a message as a piece. A text can be cut to head and tail,
// except that of a result with media: the media are removed before, unless they are
// no larger than the note in their place.
func (s *sketch) piece(at, k int, unit message.Limit) piece {
	out := piece{at: at, k: k, size: s.sizeOf(s.now[at].Parts[k], unit), atom: true}
	switch p := s.now[at].Parts[k].(type) {
	case message.Text:
		out.atom = false
	case message.ToolResult:
		without, ok := s.withoutMedia(at, k)
		if ok {
			_, _, ok = s.smaller(at, s.replaced(at, k, without))
		}
		out.atom = p.Content != nil && (p.Text == "" || ok)
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return out
}

func sum(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += p.size
	}
	return n
}

// level cuts the largest pieces until all together have no more than allowed. No
// piece is cut further than to the size of the next smaller one before that is cut.
func (s *sketch) level(pieces []piece, unit message.Limit, allowed int) {
	for {
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.size, a.size) })
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
		if p := s.piece(at, nth, unit); r.Text != "" && !p.atom { // the text is left, without the media
			pieces = append(pieces, p)
		}
	}
}

// levelOf returns the size to which pieces, the largest first, must be cut so that
// together they have no more than allowed.
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

// cut makes one part smaller, if possible no larger than the limit.
func (s *sketch) cut(at, k int, unit message.Limit, limit int) {
	p := s.now[at].Parts[k]
	original := s.original(at, k, p)
	text := func(limit int) string {
		return shortened(s.view.Meter().Counter, shorten.Text(original), unit, limit, s.handleOf(original))
	}
	switch old := p.(type) {
	case message.Text:
		if bare, longer := s.bareNote(at, k); longer {
			p = bare
		} else {
			p = message.Text{Text: text(limit)}
		}
	case message.ToolCall:
		old.Arguments = store.Arguments(s.handleOf(original))
		p = old
	case message.ToolResult:
		if s.dropMedia(at, k) {
			return
		}
		if old.Content != nil { // which is small, and kept
			rest := old
			rest.Text = ""
			limit -= s.sizeOf(rest, unit)
		}
		old.Text = text(limit)
		p = old
	case message.Media:
		s.dropMedia(at, k)
		return
	case message.Thinking, message.Opaque: // are kept whole or removed
	}
	if p != s.now[at].Parts[k] {
		if s.archiver != nil {
			s.uncut[p] = original
		}
		s.replace(at, k, p)
	}
}

// leastKept is the number of bytes of a text that are kept, at least, with a mark for
// what is missing.
const leastKept = 64

// shortened returns the head and the tail of a text, with a mark between them that
// has the number of missing characters, and the handle if it is not zero. The result
// has no more tokens or bytes than the limit, or else only the first characters of
// the text and an ellipsis. A note on media at the end is kept; if it has a handle,
// that is also the handle of the mark.
func shortened(by tokens.Counter, text string, unit message.Limit, limit int, h store.Handle) string {
	sizeOf := func(s string) int {
		if unit == message.RequestBytes {
			return len(s)
		}
		return by.Count(s)
	}
	size := sizeOf(text)
	if size <= limit {
		return text
	}
	if before, note, ok := cutMediaNote(text); ok {
		if named := store.HandlesIn(note); len(named) > 0 {
			h = named[0]
		}
		s := shortened(by, before, unit, limit-sizeOf("\n"+note), h) + "\n" + note
		if sizeOf(s) <= limit && len(s) < len(text) {
			return s
		}
		return firstCharacters(text)
	}
	mark := func(missing string) string {
		n := utf8.RuneCountInString(missing)
		if h.IsZero() {
			return fmt.Sprintf("[… %d characters left out …]", n)
		}
		return fmt.Sprintf("[… %d characters left out: %s %s …]", n, store.RecallTool, h)
	}
	for keep := len(text); ; {
		keep = min(keep-1, int(float64(max(limit, 0))/float64(size)*float64(keep)))
		if keep < leastKept {
			return firstCharacters(text)
		}
		s := shorten.Ends(text, keep/2, keep/2, mark)
		if size = sizeOf(s); size <= limit && len(s) < len(text) {
			return s
		}
	}
}

// firstCharacters returns the first characters of a text and an ellipsis, or the text
// if that is not longer.
func firstCharacters(text string) string {
	const ellipsis = "…"
	n := shorten.Border(text, len(ellipsis), 1)
	if n+len(ellipsis) >= len(text) {
		return text
	}
	return text[:n] + ellipsis
}
