package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what a split pattern can tell about a character, as a bit, so that
// a set of classes is one mask. No class at all stands for the end of the text.
type class uint8

const (
	upper   class = 1 << iota // \p{Lu}, \p{Lt}
	lower                     // \p{Ll}
	letter                    // \p{Lm}, \p{Lo}: letters without case
	mark                      // \p{M}
	number                    // \p{N}
	space                     // \s but for the next
	newline                   // \r, \n
	other                     // all else: punctuation, symbols, controls, what is not assigned
)

const (
	letters = upper | lower | letter
	spaces  = space | newline
	capital = upper | letter | mark // what may begin a word: [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	small   = lower | letter | mark // what may end one: [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	lead    = space | mark | other  // what may stand before one: [^\r\n\p{L}\p{N}]
	symbol  = mark | other          // [^\s\p{L}\p{N}]
)

// classes has the class of every character. It is read only after classify.
var classes [unicode.MaxRune + 1]class

// classify fills classes from the tables of package unicode, once.
var classify = sync.OnceFunc(func() {
	for r := range classes {
		classes[r] = other
	}
	for _, of := range []struct {
		class  class
		tables []*unicode.RangeTable
	}{
		{upper, []*unicode.RangeTable{unicode.Lu, unicode.Lt}},
		{lower, []*unicode.RangeTable{unicode.Ll}},
		{letter, []*unicode.RangeTable{unicode.Lm, unicode.Lo}},
		{mark, []*unicode.RangeTable{unicode.M}},
		{number, []*unicode.RangeTable{unicode.N}},
		{space, []*unicode.RangeTable{unicode.White_Space}},
	} {
		for _, t := range of.tables {
			for _, r := range t.R16 {
				for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
					classes[c] = of.class
				}
			}
			for _, r := range t.R32 {
				for c := r.Lo; c <= r.Hi; c += r.Stride {
					classes[c] = of.class
				}
			}
		}
	}
	classes['\r'], classes['\n'] = newline, newline
})

// classAt returns the class of the character that begins at a byte of valid
// UTF-8, and its length. Behind the end there is no class, of length 0.
func classAt(text string, at int) (class, int) {
	if at >= len(text) {
		return 0, 0
	}
	if b := text[at]; b < utf8.RuneSelf {
		return classes[b], 1
	}
	return wideClassAt(text, at)
}

// wideClassAt is classAt for what is not ASCII. It decodes by hand, as the text
// is known to be valid.
func wideClassAt(text string, at int) (class, int) {
	const low = 0x3f
	switch b := text[at:]; {
	case b[0] < 0xe0:
		return classes[rune(b[0]&0x1f)<<6|rune(b[1]&low)], 2
	case b[0] < 0xf0:
		return classes[rune(b[0]&0x0f)<<12|rune(b[1]&low)<<6|rune(b[2]&low)], 3
	default:
		r, size := utf8.DecodeRuneInString(b)
		return classes[r], size
	}
}
