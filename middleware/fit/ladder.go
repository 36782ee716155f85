package fit

import (
	"iter"

	"github.com/laconic-go/laconic/message"
)

// rung is one kind of edit: it yields messages with the parts that they would
// have, in the order in which they go.
type rung func(s *sketch) iter.Seq2[int, []message.Part]

// rungs are the ladder, the mildest first. Behind them, whole units go.
var rungs = [...]rung{sound, failed, told, arguments, thinking, media}

// shrink makes a sketch fit into the room, and somewhat more if the last rung that
// it takes can do that: of the room beside what may not go, a share is filled. It
// reports whether the sketch fits.
//
// What is larger than the room by itself cannot stay whatever else goes, so it is
// cut first: or all else would go, and for nothing.
func (s *sketch) shrink(r room, share float64) bool {
	s.keepLimits(share)
	s.cutGiants(r)
	s.cutFixed(r, share)
	target := s.target(r, share)
	s.dropLargest(r, target)
	for _, step := range rungs {
		if s.fits(r) {
			return true
		}
		s.climb(step, target)
	}
	if !s.fits(r) {
		s.foldOldest(target)
	}
	if !s.fits(r) {
		s.unnote()
	}
	return s.fits(r)
}

// target returns the room of which a share is filled beside what may not go.
func (s *sketch) target(r room, share float64) room {
	f := s.fixedAlone()
	part := func(room, fixed int) int {
		if room == unbounded || fixed >= room {
			return room
		}
		return fixed + int(share*float64(room-fixed))
	}
	return room{tokens: part(r.tokens, f.charged()), bytes: part(r.bytes, f.total.bytes)}
}

// climb takes a rung, as far as it must.
func (s *sketch) climb(step rung, target room) {
	for at, parts := range step(s) {
		if s.fits(target) {
			return
		}
		s.rewrite(at, parts)
	}
}

// leaveLeast makes a sketch as small as it can be.
func (s *sketch) leaveLeast() {
	s.keeper = nil // handles take room
	s.foldAll()
	for _, step := range rungs {
		s.climb(step, room{})
	}
	for _, unit := range units {
		s.level(s.fixed(s, unit), unit, 0)
	}
	s.unnote()
}
