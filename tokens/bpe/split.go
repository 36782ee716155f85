package bpe

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// split returns the end of the piece that begins at a byte, which is before the end of
// the text. It matches the regular expression of its encoding, which is quoted before
// each function: the alternatives are tried in order, and the first match is used even
// if a later one would be longer. The text is valid UTF-8.
type split func(text string, at int) int

// splitO200k splits by:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func splitO200k(text string, at int) int {
	c, size := classAt(text, at)
	switch {
	case c&letters != 0:
		end, _ := word(text, at)
		return contraction(text, end)
	case c&number != 0:
		return digits(text, at+size)
	case c&lead != 0:
		end, ends := word(text, at+size)
		if c == mark && !ends {
			// The first alternative matches without a lead: a mark can begin and
			// end a word, so it matches the mark.
			end = at + size
		}
		if end > at+size || c == mark {
			return contraction(text, end)
		}
	}
	if end := symbols(text, at); end > at {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == '/') {
			end++
		}
		return end
	}
	return whitespace(text, at)
}

// splitCL100k splits by:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func splitCL100k(text string, at int) int {
	if text[at] == '\'' {
		if end := contraction(text, at); end > at {
			return end
		}
	}
	c, size := classAt(text, at)
	switch {
	case c&letters != 0:
		return run(text, at+size, letters)
	case c&number != 0:
		return digits(text, at+size)
	case c&lead != 0:
		if end := run(text, at+size, letters); end > at+size {
			return end
		}
	}
	if end := symbols(text, at); end > at {
		for end < len(text) && (text[end] == '\n' || text[end] == '\r') {
			end++
		}
		return end
	}
	return whitespace(text, at)
}

// word returns the end of [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
// and true, or the end of the capitals and false if there is no match.
//
// The first half matches as much as possible. If lower case follows, the second half
// matches it and all following characters that can end a word. Otherwise the regular
// expression backtracks to the last character that can end a word. After that character
// there are only capitals with case, so it is the last of the match: for 中ABC the match
// is 中.
func word(text string, at int) (end int, ends bool) {
	c, size := classAt(text, at)
	for c&capital != 0 {
		at += size
		if c&small != 0 {
			end, ends = at, true
		}
		c, size = classAt(text, at)
	}
	switch {
	case c == lower:
		return run(text, at+size, small), true
	case ends:
		return end, true
	}
	return at, false
}

// run returns the end of the characters of a set.
func run(text string, at int, set class) int {
	for at < len(text) {
		if b := text[at]; b < utf8.RuneSelf { // classAt without a call for each byte
			if classes[b]&set == 0 {
				break
			}
			at++
			continue
		}
		c, size := wideClassAt(text, at)
		if c&set == 0 {
			break
		}
		at += size
	}
	return at
}

// contraction returns the end of (?i:'s|'t|'re|'ve|'m|'ll|'d), or at.
func contraction(text string, at int) int {
	if len(text)-at < 2 || text[at] != '\'' {
		return at
	}
	const lowerCase = 0x20
	switch text[at+1] | lowerCase {
	case 's', 't', 'm', 'd':
		return at + 2
	case 'r', 'v':
		if len(text)-at > 2 && text[at+2]|lowerCase == 'e' {
			return at + 3
		}
	case 'l':
		if len(text)-at > 2 && text[at+2]|lowerCase == 'l' {
			return at + 3
		}
	}
	if strings.HasPrefix(text[at+1:], "ſ") { // the long s is another case of s
		return at + 1 + len("ſ")
	}
	return at
}

// digits returns the end of \p{N}{0,2}.
func digits(text string, at int) int {
	for range 2 {
		c, size := classAt(text, at)
		if c != number {
			break
		}
		at += size
	}
	return at
}

// symbols returns the end of " ?[^\s\p{L}\p{N}]+", or at.
func symbols(text string, at int) int {
	from := at
	if text[at] == ' ' {
		from++
	}
	if end := run(text, from, symbol); end > from {
		return end
	}
	return at
}

// whitespace returns the end of \s*[\r\n]+|\s+(?!\S)|\s+ for white space at text[at].
func whitespace(text string, at int) int {
	end, lines := at, at
	for {
		c, size := classAt(text, end)
		if c&spaces == 0 {
			break
		}
		end += size
		if c == newline {
			lines = end
		}
	}
	if lines > at {
		return lines
	}
	return blanks(text, at, end)
}

// blanks returns the end of \s+(?!\S)|\s+ if \s+ ends at end: it leaves the last
// character of white space to the next piece, unless it is the only one.
func blanks(text string, at, end int) int {
	if end == len(text) {
		return end
	}
	_, size := utf8.DecodeLastRuneInString(text[at:end])
	if at+size == end {
		return end
	}
	return end - size
}

// class is a class of characters in the regular expressions, as a bit, so that a set of
// classes is a mask. 0 is the end of the text.
type class uint8

const (
	upper   class = 1 << iota // \p{Lu}, \p{Lt}
	lower                     // \p{Ll}
	letter                    // \p{Lm}, \p{Lo}: letters without case
	mark                      // \p{M}
	number                    // \p{N}
	space                     // \s except the next class
	newline                   // \r, \n
	other                     // all others: punctuation, symbols, controls, unassigned characters
)

const (
	letters = upper | lower | letter
	spaces  = space | newline
	capital = upper | letter | mark // characters that can begin a word: [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	small   = lower | letter | mark // characters that can end a word: [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	lead    = space | mark | other  // characters that can precede a word: [^\r\n\p{L}\p{N}]
	symbol  = mark | other          // [^\s\p{L}\p{N}]
)

// classes has the class of every character. classify fills it.
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

// classAt returns the class and the length of the character that begins at a byte of
// valid UTF-8; 0 and 0 at the end of the text.
func classAt(text string, at int) (class, int) {
	if at >= len(text) {
		return 0, 0
	}
	if b := text[at]; b < utf8.RuneSelf {
		return classes[b], 1
	}
	return wideClassAt(text, at)
}

// wideClassAt is classAt for characters outside ASCII. It decodes without checks, since
// the text is valid.
func wideClassAt(text string, at int) (class, int) {
	const low = 0x3f
	b := text[at:]
	switch {
	case b[0] < 0xe0:
		return classes[rune(b[0]&0x1f)<<6|rune(b[1]&low)], 2
	case b[0] < 0xf0:
		return classes[rune(b[0]&0x0f)<<12|rune(b[1]&low)<<6|rune(b[2]&low)], 3
	default:
		r, size := utf8.DecodeRuneInString(b)
		return classes[r], size
	}
}
