package bpe

import (
	"strings"
	"unicode/utf8"
)

// A split returns where the piece that begins at a byte ends. It does what the
// regular expression of its encoding does, whose alternatives stand above it;
// they are tried in order, and the first that matches decides, even if a later
// one would match more. The text is valid UTF-8 and goes on at the byte.
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
			// The first alternative goes on without a lead: as a mark may begin
			// and end a word, it matches the mark alone.
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

// split50k splits by:
//
//	's|'t|'re|'ve|'m|'ll|'d
//	 ?\p{L}+
//	 ?\p{N}+
//	 ?[^\s\p{L}\p{N}]+
//	\s+(?!\S)
//	\s+
func split50k(text string, at int) int {
	for _, c := range [...]string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(text[at:], c) {
			return at + len(c)
		}
	}
	from := at
	if text[at] == ' ' {
		from++
	}
	for _, set := range [...]class{letters, number, symbol} {
		if end := run(text, from, set); end > from {
			return end
		}
	}
	return blanks(text, at, run(text, at, spaces))
}

// word returns where [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
// ends, and that it ends. If nothing matches, it returns where the capitals end.
//
// The first half takes all it can. What follows is then either lower case, and
// the second half takes that and all that ends a word; or it is not, and the
// first half gives characters back, one by one, until one of them may end a
// word. Behind that one there are only capitals with case, so it is the last
// of the match: of 中ABC the match is 中.
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

// run returns where the characters of a set end.
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

// contraction returns where (?i:'s|'t|'re|'ve|'m|'ll|'d) ends, or at.
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
	if strings.HasPrefix(text[at+1:], "ſ") { // the long s is an s of another case
		return at + 1 + len("ſ")
	}
	return at
}

// digits returns where \p{N}{0,2} ends.
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

// symbols returns where " ?[^\s\p{L}\p{N}]+" ends, or at.
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

// whitespace returns where \s*[\r\n]+|\s+(?!\S)|\s+ ends. The text goes on with
// white space.
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

// blanks returns where \s+(?!\S)|\s+ ends, if \s+ ends at end: it leaves one
// character of white space to what follows, unless it has no other.
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
