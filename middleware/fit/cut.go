package fit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// units are the limits for which texts are cut.
var units = [...]string{Tokens, payload.RequestBytes}

// cutOversized cuts parts of old messages that are larger than the room by
// themselves to a quarter of it: no view that fits can have them.
func (s *sketch) cutOversized(r room) {
	for _, unit := range units {
		most := s.alone(r, unit)
		oversized := func(p message.Part) bool { return s.sizeOf(p, unit) > most }
		for i := range s.now {
			if s.loads[i].in(unit) <= most || s.view.Protected(i)&^middleware.ProtectTool != 0 {
				continue
			}
			for k, p := range s.now[i].Parts {
				if !s.watch.Done() && oversized(p) && !s.view.Protects(i, p) {
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
// the newest results. All of it keeps half of the room, or more if the rest is small, and
// it fills a share of what the rest leaves.
func (s *sketch) cutFixed(r room, share float64) {
	if s.fixedAlone().fits(r) {
		return
	}
	for _, unit := range units {
		for range 4 { // the mark in the middle of what is cut takes room, too
			floor := s.floor()
			if floor.above(r, unit) == 0 {
				break
			}
			pieces := s.fixed(floor, unit)
			have := shorten.Level(sizes(pieces), unbounded) // their sum
			rest := max(0, s.fixedAlone().in(unit)-have)
			target := s.target(r, share, s.charged(rest), rest)
			most := have - floor.above(target, unit)
			s.levelRecalledLast(pieces, unit, min(most, max(s.alone(r, unit)/2, have-s.above(target, unit))))
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
	f.archiver, f.line = nil, 0
	f.now, f.loads, f.state = slices.Clone(s.now), slices.Clone(s.loads), slices.Clone(s.state)
	f.own = make([]bool, len(f.now))
	f.foldOldest(room{})
	for _, step := range steps {
		f.apply(step, room{})
	}
	return &f
}

// above returns by how much a sketch is larger than the room.
func (s *sketch) above(r room, unit string) int { return max(0, s.total.in(unit)-r.in(unit)) }

// piece is a part that can be cut.
type piece struct {
	at, k int
	size  int
	atom  bool // it is replaced by a note or kept whole
	text  int  // of an atom: the size of a text that is left with the note, which can be cut, too
}

// fixed returns the pieces of what the floor still has: results of the newest round,
// attachments of the first and of the last question, and parts of rounds in which
// something is pinned or of a protected tool.
func (s *sketch) fixed(floor *sketch, unit string) []piece {
	var pieces []piece
	for i := range s.now {
		p := s.view.Protected(i)
		if floor.state[i] == folded || p&middleware.ProtectWhole != 0 {
			continue
		}
		for k, part := range s.now[i].Parts {
			if s.watch.Done() {
				return nil
			}
			if _, longer := s.bareNote(i, k); longer && p&middleware.ProtectNewest == 0 || s.cuttable(i, part) {
				pieces = append(pieces, s.piece(i, k, unit))
			}
		}
	}
	return pieces
}

// cuttable reports whether a part of message at may be cut.
func (s *sketch) cuttable(at int, p message.Part) bool {
	if !s.lastResort && s.view.Protects(at, p) {
		return false
	}
	by := s.view.Protected(at) &^ middleware.ProtectTool
	switch p := p.(type) {
	case message.ToolCall:
		return by == 0 || by == middleware.ProtectNewest && s.lastResort && isNewestAnswer(s.view, at) && s.answered(at, p.ID)
	case message.Text:
		return by == 0
	case message.Media:
		return by&middleware.ProtectNewest == 0
	case message.ToolResult:
		_, opaque := p.Content.(message.Opaque)
		return by&middleware.ProtectText == 0 && !opaque
	case message.Thinking, message.Opaque: // are kept whole or removed
	}
	return false
}

// answered reports whether a call of message at has a result.
func (s *sketch) answered(at int, callID string) bool {
	return slices.ContainsFunc(s.now[at+1:], func(m message.Message) bool {
		for r := range m.Results() {
			if r.CallID == callID {
				return true
			}
		}
		return false
	})
}

// piece returns part k of a message as a piece. A text can be cut to head and tail,
// except that of a result with media: the media are removed before, unless they are
// no larger than the note in their place.
func (s *sketch) piece(at, k int, unit string) piece {
	out := piece{at: at, k: k, size: s.sizeOf(s.now[at].Parts[k], unit), atom: true}
	switch p := s.now[at].Parts[k].(type) {
	case message.Text, message.ToolCall:
		out.atom = false
	case message.ToolResult:
		without, ok := s.withoutMedia(at, k)
		ok = ok && s.difference([]message.Part{p}, []message.Part{without}).isLess()
		out.atom = p.Content != nil && (p.Text == "" || ok)
		if out.atom && p.Text != "" {
			out.text = s.sizeOf(without, unit)
		}
	case message.Thinking, message.Media, message.Opaque:
	}
	return out
}

func sizes(pieces []piece) []int {
	out := make([]int, len(pieces))
	for i, p := range pieces {
		out[i] = p.size
	}
	return out
}

// level cuts the largest pieces until all together have no more than allowed. No
// piece is cut further than to the size of the next smaller one before that is cut.
// pieces must not be used afterwards.
func (s *sketch) level(pieces []piece, unit string, allowed int) {
	texts := slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.atom })
	atoms := slices.DeleteFunc(pieces, func(p piece) bool { return !p.atom })
	slices.SortStableFunc(atoms, func(a, b piece) int { return cmp.Compare(b.size, a.size) })
	n := sort.Search(len(atoms), func(n int) bool { // the next one can be kept if all others are cut to its size
		sum, most := 0, atoms[n].size
		for _, p := range texts {
			sum += min(p.size, most)
		}
		for i, p := range atoms {
			if i < n {
				p.size = min(p.text, most)
			}
			sum += p.size
		}
		return sum <= allowed
	})
	for _, p := range atoms[:n] {
		if s.watch.Done() {
			return
		}
		s.cut(p.at, p.k, unit, 0)
		if p.text > 0 {
			texts = append(texts, piece{at: p.at, k: p.k, size: p.text})
		}
	}
	limit := shorten.Level(sizes(append(texts, atoms[n:]...)), allowed)
	for _, p := range texts {
		if p.size > limit && !s.watch.Done() {
			s.cut(p.at, p.k, unit, limit)
		}
	}
}

// cut makes one part smaller, if possible no larger than the limit.
func (s *sketch) cut(at, k int, unit string, limit int) {
	p := s.now[at].Parts[k]
	original := s.original(at, k, p)
	whole := original
	if _, ok := mediaOf(original); ok { // p has a note in their place
		whole = p
	}
	text := func(limit int) string {
		h, how := s.handleOf(at, original), ""
		if r, ok := p.(message.ToolResult); ok {
			if recalled := s.recalled(at, r.CallID); !recalled.IsZero() { // the whole of it would be cut again
				h, how = recalled, ", fewer lines at a time by from and to"
			}
		}
		return shortened(s.view.Meter().Counter, shorten.Text(whole), unit, limit, h, how)
	}
	switch old := p.(type) {
	case message.Text:
		if bare, longer := s.bareNote(at, k); longer {
			p = bare
		} else {
			p = message.Text{Text: text(limit)}
		}
	case message.ToolCall:
		p = shortCall(old, s.handleOf(at, original), false, func(c message.ToolCall) bool { return s.sizeOf(c, unit) <= limit })
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
// has the number of missing characters, and the handle if it is not zero, with how to ask
// for it. The result
// has no more tokens or bytes than the limit, or else only the first characters of
// the text and an ellipsis.
func shortened(by tokens.Counter, text, unit string, limit int, h store.Handle, how string) string {
	sizeOf := by.Count
	if unit == payload.RequestBytes {
		sizeOf = func(s string) int { return len(s) }
	}
	short, ok := shorten.Within(text, limit, leastKept, sizeOf, func(missing string) string {
		n := utf8.RuneCountInString(missing)
		if h.IsZero() {
			return fmt.Sprintf("[… %d characters left out …]", n)
		}
		return fmt.Sprintf("[… %d characters left out: %s %s%s …]", n, store.RecallTool, h, how)
	})
	if !ok {
		return firstCharacters(text)
	}
	return short
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
