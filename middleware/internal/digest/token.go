package digest

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is the class of a character.
type class uint8

const (
	mark      class = iota // punctuation that is never part of a token
	space                  // also control characters and invalid UTF-8
	newline                // line separators
	lower                  // lower-case letters, full-width ones included
	upper                  // upper-case letters, full-width ones included
	digit                  //
	joint                  // punctuation that can join the letters of a token
	quote                  //
	currency               // signs such as ¥; the dollar is a joint, as in $HOME
	letter                 // other letters
	ideograph              // Han and kana: each is a word
)

// joints are the marks that can be part of a token.
const joints = "_-./:@#$+~%&"

var ascii = func() (c [utf8.RuneSelf]class) {
	for b := range c {
		switch {
		case b == '\n', b == '\r':
			c[b] = newline
		case b <= ' ', b == 0x7F:
			c[b] = space
		case b >= 'a' && b <= 'z':
			c[b] = lower
		case b >= 'A' && b <= 'Z':
			c[b] = upper
		case b >= '0' && b <= '9':
			c[b] = digit
		case b == '"', b == '\'', b == '`':
			c[b] = quote
		}
	}
	for _, b := range joints {
		c[b] = joint
	}
	return c
}()

// wide has the classes of the characters of two and three bytes. It is computed
// when the first of them is read.
var wide = sync.OnceValue(func() *[1 << 16]class {
	c := new([1 << 16]class)
	for r := range rune(len(c)) {
		c[r] = classOf(r)
	}
	return c
})

// classAt returns the class of the character at i and its length in bytes.
func classAt(text string, i int) (c class, size int) {
	if b := text[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case r == utf8.RuneError:
		return space, size
	case r < 1<<16:
		return wide()[r], size
	}
	return classOf(r), size
}

// classOf returns the class of a character outside ASCII.
func classOf(r rune) class {
	switch {
	case r >= '０' && r <= '９':
		return digit
	case r >= 'Ａ' && r <= 'Ｚ':
		return upper
	case r >= 'ａ' && r <= 'ｚ':
		return lower
	case r >= '‘' && r <= '‟', r >= '「' && r <= '』', r == '《', r == '》', r == '«', r == '»':
		return quote
	case r == 0x85, r == 0x2028, r == 0x2029:
		return newline
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case unicode.Is(unicode.Sc, r):
		return currency
	case unicode.In(r, unicode.L, unicode.M):
		return letter
	case unicode.Is(unicode.Nd, r):
		return digit
	case unicode.In(r, unicode.Zs, unicode.C):
		return space
	}
	return mark
}

// inWord reports whether characters of the class form words together.
func (c class) inWord() bool { return c >= lower && c <= digit || c == letter }

// isNameByte reports whether a byte can be part of an ASCII name.
func isNameByte(b byte) bool { return b == '_' || b < utf8.RuneSelf && ascii[b].inWord() }

// isDigit reports whether a byte is an ASCII digit.
func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// digitsEnd returns the end of the ASCII digits that begin at i.
func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

// tokenAt returns the token that begins at i, or after the marks at i if these
// cannot begin one. A token is a run of letters and digits with joints between
// them: a word, name, number, path or link. next is where reading continues.
func tokenAt(text string, i int) (from, end, next int) {
	from, end = tokenStart(text, i)
	for end < len(text) {
		c, size := classAt(text, end)
		switch {
		case c.inWord():
			end += size
		case c == joint && text[end] == ':' && end > from && strings.HasPrefix(text[end:], "://"):
			end = linkEnd(text, end+len("://"))
			return from, end, wordEnd(text, end) // letters can follow a link
		case c == joint && joins(text, from, end):
			end++
		case text[end] == ',' && separatesThousands(text, from, end):
			end += len(",000")
		case text[end] == '\\' && inDrivePath(text, from, end):
			end++
		default:
			return from, end, max(end, i+1)
		}
	}
	return from, end, max(end, i+1)
}

// tokenStart returns where the token at i begins, and its first letter or digit
// after that: some marks belong to the token that they precede.
func tokenStart(text string, i int) (from, first int) {
	first = i
	for first < len(text) && text[first] < utf8.RuneSelf && ascii[text[first]] == joint {
		first++
	}
	if first == i || first == len(text) {
		return first, first
	}
	c, _ := classAt(text, first)
	alone := first-1 == i && (i == 0 || !(text[i-1] >= utf8.RuneSelf || isNameByte(text[i-1]) || text[i-1] == ')' || text[i-1] == ']'))
	from = first
	switch b := text[from-1]; {
	case !c.inWord():
	case b == '_':
		for from > i && text[from-1] == '_' {
			from--
		}
	case b == '/':
		for from--; from > i && (text[from-1] == '.' || text[from-1] == '~'); {
			from--
		}
	case b == '#', b == '@', b == '$', b == '+' && c == digit, b == '-' && c == digit && alone, b == '.' && c != digit && alone:
		from--
	}
	return from, first
}

// joins reports whether the joint at i is part of the token that begins at from.
func joins(text string, from, i int) bool {
	next, b := mark, byte(0)
	if i+1 < len(text) {
		next, _ = classAt(text, i+1)
		b = text[i+1]
	}
	after := i+2 < len(text) && isNameByte(text[i+2])
	switch text[i] {
	case '_':
		return true
	case '-', '@':
		return next.inWord() || b == '_'
	case '.':
		return next.inWord() || b == '_' || b == '.' && after
	case '/':
		return next.inWord() || b != 0 && strings.IndexByte("._-@~$", b) >= 0 || i+1 == len(text) || next == space || next == newline ||
			strings.IndexByte(text[from:i], '/') >= 0
	case ':':
		return next == digit || i > from && text[i-1] == ':' && next.inWord() || b == ':' && after ||
			b == '\\' && i == from+1 && inDrivePath(text, from, i+1)
	case '+', '~':
		return next == digit && i > from
	case '%':
		return !next.inWord() && i > from && isDigit(text[i-1])
	case '$':
		return next.inWord()
	}
	return false
}

// separatesThousands reports whether the comma at i is one as in 1,299.
func separatesThousands(text string, from, i int) bool {
	digits := text[from:i]
	if k := strings.LastIndexByte(digits, ','); k >= 0 {
		digits = digits[k+1:]
	} else {
		digits = strings.TrimLeft(digits, "$+-")
	}
	end := i + len(",000")
	return digits != "" && len(digits) <= 3 && digitsEnd(digits, 0) == len(digits) && digitsEnd(text, i+1) == end &&
		(end == len(text) || !isNameByte(text[end]) && text[end] != '"')
}

// inDrivePath reports whether the backslash at i is part of C:\dir or C:\\dir.
func inDrivePath(text string, from, i int) bool {
	return i-from >= 2 && text[from+1] == ':' && text[from] < utf8.RuneSelf && ascii[text[from]].inWord() && i+1 < len(text) &&
		(isNameByte(text[i+1]) || text[i+1] >= utf8.RuneSelf || strings.IndexByte(`\.-`, text[i+1]) >= 0)
}

// linkEnd returns the end of the link whose host begins at i.
func linkEnd(text string, i int) int {
	end := i
	for end < len(text) {
		c, size := classAt(text, end)
		if c != joint && (!c.inWord() || c == letter) && (c != mark || size > 1 || strings.IndexByte(`<>{}|\^[]`, text[end]) >= 0) {
			break
		}
		end += size
	}
	for end > i && strings.IndexByte(".,;:!?)*_", text[end-1]) >= 0 {
		end--
	}
	return end
}
