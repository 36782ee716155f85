package trim

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// ByUse is the [Importance] that raises units whose identifiers later messages
// use: it counts the different identifiers in a unit that stand again in the
// arguments of a later call, or in what user or assistant say later. An identifier
// is a word of ASCII letters, digits and _ / . @ : # - that no ordinary word looks
// like: one with letters and digits, a long number, a path, an address, a file name,
// a name in snake or camel case. Keys of JSON are none. Of a very long text only the
// beginning and the end are read.
func ByUse(v *middleware.View) func(u message.Unit) float64 {
	var uses *uses
	return func(u message.Unit) float64 {
		if uses == nil {
			uses = usesIn(v)
		}
		return float64(uses.of(v, u))
	}
}

// uses knows which identifiers are used in a view, and by which message last.
type uses struct {
	slots []use // open addressing; a power of two of them
	count int
	asked int // how many units have been looked at
}

// use is where an identifier is used last.
type use struct {
	hash uint64
	last int // position of the message + 1; 0: the slot is free
	unit int // the unit that has been counted for it last
}

func usesIn(v *middleware.View) *uses {
	s := &uses{slots: make([]use, 1024)}
	for i, m := range v.All() {
		note := func(hash uint64) { s.note(hash, i) }
		switch m.Role {
		case message.RoleAssistant, message.RoleUser:
			for _, p := range m.Parts {
				switch p := p.(type) {
				case message.Text:
					identifiers(p.Text, note)
				case message.ToolCall:
					identifiers(p.Arguments, note)
				case message.Thinking, message.Media, message.ToolResult, message.Opaque:
				}
			}
		case message.RoleSystem, message.RoleTool:
		}
	}
	return s
}

// find returns the slot of an identifier, or the free one where it would be.
func (s *uses) find(hash uint64) *use {
	mask := uint64(len(s.slots) - 1)
	for k := hash ^ hash>>32; ; k++ {
		if u := &s.slots[k&mask]; u.last == 0 || u.hash == hash {
			return u
		}
	}
}

// note takes down that the message at a position uses an identifier.
func (s *uses) note(hash uint64, at int) {
	u := s.find(hash)
	if u.last == 0 {
		if s.count++; 2*s.count > len(s.slots) {
			s.grow()
			u = s.find(hash)
		}
		u.hash = hash
	}
	u.last = at + 1
}

func (s *uses) grow() {
	old := s.slots
	s.slots = make([]use, 2*len(old))
	for _, u := range old {
		if u.last > 0 {
			*s.find(u.hash) = u
		}
	}
}

// of counts the different identifiers of a unit that a message behind it uses.
func (s *uses) of(v *middleware.View, u message.Unit) int {
	s.asked++
	n := 0
	look := func(hash uint64) {
		if use := s.find(hash); use.last-1 > u.Last && use.unit != s.asked {
			use.unit = s.asked
			n++
		}
	}
	for i := u.First; i <= u.Last; i++ {
		for _, p := range v.At(i).Parts {
			switch p := p.(type) {
			case message.Text:
				identifiers(p.Text, look)
			case message.ToolCall:
				identifiers(p.Arguments, look)
			case message.ToolResult:
				identifiers(p.Text, look)
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	return n
}
