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
	mark     class = iota // punctuation that is never part of a token
	space                 // also control characters and invalid UTF-8
	newline               //
	quote                 //
	currency              // signs such as ¥; the dollar is a sign, as in $HOME

	// Joints can be part of a token.
	dot
	slash
	dash
	under
	colon
	at
	sign // + # $ ~ % &

	// Letters and digits of all scripts.
	lower
	upper
	digit
	letter    // without case
	ideograph // Han and kana: each is a word
	classes
)

func (c class) isJoint() bool { return c >= dot && c <= sign }

// inWord reports whether characters of the class form words together.
func (c class) inWord() bool { return c >= lower && c <= letter }

// marks are the characters of classes that have few.
var marks = [classes]string{
	newline: "\n\r\u0085\u2028\u2029",
	quote:   "\"'`‘’‚‛“”„‟「」『』《》«»",
	dot:     ".",
	slash:   "/",
	dash:    "-",
	under:   "_",
	colon:   ":",
	at:      "@",
	sign:    "+#$~%&",
}

// classOf returns the class of a character. It is slow.
func classOf(r rune) class {
	for c, s := range marks {
		if strings.ContainsRune(s, r) {
			return class(c)
		}
	}
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLower(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	case unicode.In(r, unicode.L, unicode.M):
		return letter
	case unicode.Is(unicode.Sc, r):
		return currency
	case unicode.In(r, unicode.Zs, unicode.C):
		return space
	}
	return mark
}

var ascii = func() (c [utf8.RuneSelf]class) {
	for b := range c {
		c[b] = classOf(rune(b))
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

// is reports whether text has a character of ASCII of the class at i.
func is(text string, i int, c class) bool {
	return i >= 0 && i < len(text) && text[i] < utf8.RuneSelf && ascii[text[i]] == c
}

// isNameAt reports whether text has a letter, digit or underscore of ASCII at i.
func isNameAt(text string, i int) bool {
	return i >= 0 && i < len(text) && text[i] < utf8.RuneSelf && (ascii[text[i]].inWord() || text[i] == '_')
}

// skip returns the first position from i on that has none of the characters.
func skip(text string, i int, characters string) int {
	for i < len(text) && strings.IndexByte(characters, text[i]) >= 0 {
		i++
	}
	return i
}

const digits = "0123456789"

// tokenAt returns the token that begins at i, or after the joints at i if these
// cannot begin one. A token is a run of letters and digits with joints between
// them: a word, name, number, path or link. next is where reading continues.
func tokenAt(text string, i int) (from, end, next int) {
	from, end = tokenStart(text, i)
	for end < len(text) {
		c, size := classAt(text, end)
		switch {
		case c.inWord():
		case c == colon && end > from && strings.HasPrefix(text[end:], "://"):
			end = linkEnd(text, end+len("://"))
			return from, end, wordEnd(text, end) // letters can follow a link
		case text[end] == ',' && separatesThousands(text, from, end):
			size = len(",000")
		case c.isJoint() && joins(text, from, end), text[end] == '\\' && inDrivePath(text, from, end):
		default:
			return from, end, max(end, i+1)
		}
		end += size
	}
	return from, end, max(end, i+1)
}

// tokenStart returns where the token at i begins, and its first letter or digit
// after that: some joints belong to the token that they precede.
func tokenStart(text string, i int) (from, first int) {
	for first = i; first < len(text) && text[first] < utf8.RuneSelf && ascii[text[first]].isJoint(); {
		first++
	}
	if from = first; first == i || first == len(text) {
		return first, first
	}
	c, _ := classAt(text, first)
	alone := first-1 == i && (i == 0 || text[i-1] < utf8.RuneSelf && !isNameAt(text, i-1) && text[i-1] != ')' && text[i-1] != ']')
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
	word := next.inWord() || next == under
	switch text[i] {
	case '_':
		return true
	case '-', '@':
		return word || b == '/' && strings.IndexByte(text[from:i], '/') >= 0
	case '.':
		return word || b == '.' && isNameAt(text, i+2)
	case '/':
		return word || b == 0 || b <= ' ' || strings.IndexByte(".-@~$", b) >= 0 || strings.IndexByte(text[from:i], '/') >= 0
	case ':':
		return next == digit || is(text, i-1, colon) && next.inWord() || b == ':' && isNameAt(text, i+2) ||
			b == '\\' && inDrivePath(text, from, i+1)
	case '+', '~':
		return next == digit && i > from
	case '%':
		return !next.inWord() && is(text, i-1, digit)
	case '$':
		return next.inWord()
	}
	return false
}

// separatesThousands reports whether the comma at i is one as in 1,299.
func separatesThousands(text string, from, i int) bool {
	group := strings.TrimLeft(text[from:i], "$+-")
	group = group[strings.LastIndexByte(group, ',')+1:]
	end := i + len(",000")
	return group != "" && len(group) <= 3 && skip(group, 0, digits) == len(group) && skip(text, i+1, digits) == end &&
		!isNameAt(text, end) && !is(text, end, quote)
}

// inDrivePath reports whether the backslash at i is part of C:\dir or C:\\dir.
func inDrivePath(text string, from, i int) bool {
	return i-from >= 2 && text[from+1] == ':' && isNameAt(text, from) && i+1 < len(text) &&
		(isNameAt(text, i+1) || text[i+1] >= utf8.RuneSelf || strings.IndexByte(`\.-`, text[i+1]) >= 0)
}

// linkEnd returns the end of the link whose host begins at i.
func linkEnd(text string, i int) int {
	end := i
	for end < len(text) && text[end] < utf8.RuneSelf && (ascii[text[end]] > currency || strings.IndexByte("=?,;!()*", text[end]) >= 0) {
		end++
	}
	return i + len(strings.TrimRight(text[i:end], ".,;:!?)*_"))
}

// wordEnd returns the end of the letters, digits and underscores at i.
func wordEnd(text string, i int) int {
	for i < len(text) {
		c, size := classAt(text, i)
		if !c.inWord() && c != under {
			break
		}
		i += size
	}
	return i
}
