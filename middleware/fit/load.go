package fit

import (
	"math"
	"sort"

	"github.com/laconic-go/laconic/message"
)

// Tokens is the limit that the window sets, beside those of [message.Limits].
const Tokens message.Limit = "tokens"

// units are the limits for which texts are made shorter.
var units = [...]message.Limit{Tokens, message.RequestBytes}

// load is what messages weigh.
type load struct {
	tokens int // by the meter of the chain, if it is not said that they are charged
	bytes  int // of the request's body
}

func (l load) plus(o load) load  { return load{l.tokens + o.tokens, l.bytes + o.bytes} }
func (l load) minus(o load) load { return load{l.tokens - o.tokens, l.bytes - o.bytes} }

// in returns the load in one unit.
func (l load) in(unit message.Limit) int {
	if unit == message.RequestBytes {
		return l.bytes
	}
	return l.tokens
}

// room is what messages may weigh, in tokens as the provider charges them.
type room load

// unbounded is a room that nothing fills.
const unbounded = math.MaxInt

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
	return s.total.bytes <= r.bytes && (r.tokens == unbounded || s.charged() <= r.tokens)
}

// charged returns the tokens that the provider would charge for the sketch.
func (s *sketch) charged() int { return s.view.Without(s.before.tokens - s.total.tokens).Size().Tokens }

// beyond returns how much of a sketch there is beyond the room: bytes, or tokens
// by the meter.
func (s *sketch) beyond(r room, unit message.Limit) int {
	switch {
	case unit == message.RequestBytes:
		return max(0, s.total.bytes-r.bytes)
	case r.tokens == unbounded:
		return 0
	}
	gone := s.before.tokens - s.total.tokens
	return sort.Search(s.total.tokens, func(n int) bool { return s.view.Without(gone+n).Size().Tokens <= r.tokens })
}

// measure returns the room in bytes, or in tokens by the meter.
func (s *sketch) measure(r room, unit message.Limit) int {
	const many = 1 << 20
	switch {
	case unit == message.RequestBytes:
		return r.bytes
	case r.tokens == unbounded:
		return unbounded
	}
	return int(float64(r.tokens) * many / float64(s.view.Size().Charged(many)))
}

// sizeOf returns what one part weighs.
func (s *sketch) sizeOf(p message.Part, unit message.Limit) int {
	if unit == Tokens {
		return s.view.Meter().Part(p)
	}
	return message.Message{Parts: []message.Part{p}}.Load().Bytes
}
