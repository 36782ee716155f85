package fit

import (
	"math"
	"sort"

	"github.com/laconic-go/laconic/message"
)

// load is what messages weigh.
type load struct {
	tokens int // by the meter of the chain, if it is not said that they are charged
	bytes  int // of the request's body, about
}

func (l load) plus(o load) load  { return load{l.tokens + o.tokens, l.bytes + o.bytes} }
func (l load) minus(o load) load { return load{l.tokens - o.tokens, l.bytes - o.bytes} }

// in returns the load in one unit.
func (l load) in(u Unit) int {
	if u == Bytes {
		return l.bytes
	}
	return l.tokens
}

// room is what a request may have: tokens as the provider charges them, and
// bytes. What is not bounded is unbounded.
type room struct {
	tokens int
	bytes  int
}

const unbounded = math.MaxInt

// in returns the room in one unit.
func (r room) in(u Unit) int {
	if u == Bytes {
		return r.bytes
	}
	return r.tokens
}

// less returns the room that is left beside something.
func (r room) less(l load) room {
	if r.tokens != unbounded {
		r.tokens -= l.tokens
	}
	if r.bytes != unbounded {
		r.bytes -= l.bytes
	}
	return r
}

// share returns a part of the room.
func (r room) share(part float64) room {
	if r.tokens != unbounded {
		r.tokens = int(part * float64(r.tokens))
	}
	if r.bytes != unbounded {
		r.bytes = int(part * float64(r.bytes))
	}
	return r
}

// fits reports whether a sketch is no larger than the room.
func (s *sketch) fits(r room) bool {
	return s.total.bytes <= r.bytes && (r.tokens == unbounded || s.tokens() <= r.tokens)
}

// tokens returns what the provider would charge for the sketch.
func (s *sketch) tokens() int { return s.view.TokensWithout(s.before.tokens - s.total.tokens) }

// beyond returns how much of a sketch there is beyond the room: bytes, or tokens
// by the meter.
func (s *sketch) beyond(r room, u Unit) int {
	switch {
	case u == Bytes:
		return max(0, s.total.bytes-r.bytes)
	case r.tokens == unbounded:
		return 0
	}
	gone := s.before.tokens - s.total.tokens
	return sort.Search(s.total.tokens, func(n int) bool { return s.view.TokensWithout(gone+n) <= r.tokens })
}

// sizeOf returns about how many bytes a message has in the body of a request.
func sizeOf(m *message.Message) int { return 0 }

// sizeOf returns the load of one part in one unit.
func (s *sketch) sizeOf(p message.Part, u Unit) int {
	if u == Bytes {
		return 0
	}
	return s.view.Meter().Part(p)
}

// counted returns the room in bytes, or in tokens by the meter.
func (s *sketch) counted(r room, u Unit) int {
	const many = 1 << 20
	switch {
	case u == Bytes:
		return r.bytes
	case r.tokens == unbounded:
		return unbounded
	}
	return int(float64(r.tokens) * many / float64(s.view.Charged(many)))
}
