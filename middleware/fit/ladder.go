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

// shrink makes a sketch fit into the room, and somewhat more, into the target, if
// the last rung that it takes can do that. It reports whether it fits.
//
// What is larger than the room by itself cannot stay whatever else goes, so it is
// cut first: or all else would go, and for nothing.
func (s *sketch) shrink(r room, share float64) bool {
	target := r.share(share)
	s.keepLimits(share)
	s.cutGiants(r)
	s.cutFixed(r, target)
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
