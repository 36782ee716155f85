package trim

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// uses knows which identifiers are used in a view, and by which message last.
type uses struct {
	slots  []use // open addressing; a power of two of them
	count  int
	filter [1 << 12]bool // of the words that may be among them, by a few of their letters
}

// use is where an identifier is used last.
type use struct {
	hash uint64
	last int // position of the message + 1; 0: the slot is free
}

func usesIn(v *middleware.View) *uses {
	s := &uses{slots: make([]use, 1024)}
	at := 0
	note := func(word string) { s.note(word, at) }
	for i, m := range v.Messages() {
		at = i
		if m.Role != message.RoleAssistant && m.Role != message.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				identifiers(p.Text, note)
			case message.ToolCall:
				identifiers(p.Arguments, note)
			case message.Thinking, message.Media, message.ToolResult, message.Opaque:
			}
		}
	}
	return s
}

// note takes down that the message at a position uses an identifier.
func (s *uses) note(word string, at int) {
	hash := hashOf(word)
	u := s.find(hash)
	if u.last == 0 {
		s.count++
		if 2*s.count > len(s.slots) {
			s.grow()
			u = s.find(hash)
		}
		u.hash = hash
		s.filter[lettersOf(word)] = true
	}
	u.last = at + 1
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

func (s *uses) grow() {
	old := s.slots
	s.slots = make([]use, 2*len(old))
	for _, u := range old {
		if u.last > 0 {
			*s.find(u.hash) = u
		}
	}
}

// behind reports whether a message behind a unit uses an identifier of it.
func (s *uses) behind(v *middleware.View, u message.Unit) bool {
	other := func(word string, _ bool) bool {
		return len(word) < shortestIdentifier || !s.filter[lettersOf(word)] || s.find(hashOf(word)).last-1 <= u.Last
	}
	for i := u.First; i <= u.Last; i++ {
		for _, p := range v.At(i).Parts {
			var text string
			switch p := p.(type) {
			case message.Text:
				text = p.Text
			case message.ToolCall:
				text = p.Arguments
			case message.ToolResult:
				text = p.Text
			case message.Thinking, message.Media, message.Opaque:
			}
			if !eachWord(text, other) {
				return true
			}
		}
	}
	return false
}

// lettersOf maps a word that may be an identifier to a number below 1<<12, by its
// length and a few of its letters.
func lettersOf(word string) int {
	n := len(word)
	return (n ^ int(word[0])<<2 ^ int(word[n-1])<<4 ^ int(word[n/2])<<5 ^ int(word[n-2])<<7) & (1<<12 - 1)
}
