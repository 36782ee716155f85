package digest

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what a character is to the scanner.
type class uint8

const (
	mark      class = iota // punctuation that is in no word
	space                  // also control characters and bytes that are no UTF-8
	newline                // ends a line
	lower                  // also a letter of full width, as below
	upper                  //
	digit                  //
	joint                  // punctuation that may join the letters of a word
	quote                  //
	currency               // a sign such as ¥; the dollar is a joint, as in $HOME
	letter                 // a letter that has no case that matters here
	ideograph              // a character that is a word by itself: Han, kana
)

// joints are the marks that may stand inside of a word.
const joints = "_-./:@#$+~%&"

var narrow = func() (c [utf8.RuneSelf]class) {
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

// wide are the classes of the characters of two and three bytes. They are looked
// up once, when the first of them is seen.
var wide = sync.OnceValue(func() *[1 << 16]class {
	c := new([1 << 16]class)
	for r := range rune(len(c)) {
		c[r] = lookUp(r)
	}
	return c
})

// classAt returns the class of the character at i and its length.
func classAt(text string, i int) (c class, size int) {
	if b := text[i]; b < utf8.RuneSelf {
		return narrow[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case r == utf8.RuneError:
		return space, size
	case r < 1<<16:
		return wide()[r], size
	}
	return lookUp(r), size
}

// lookUp returns the class of a character beyond ASCII.
func lookUp(r rune) class {
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

// isWord reports whether a character can be in a word without further ado.
func (c class) isWord() bool { return c >= lower && c <= digit || c == letter }
