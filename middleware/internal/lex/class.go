package lex

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Class is the class of a character.
type Class uint8

// The classes of characters.
const (
	Sign     Class = iota // punctuation and symbols
	Blank                 // also control characters and invalid UTF-8
	Currency              // a currency sign such as €
	Lower                 // letters and digits of all scripts begin here
	Upper
	Digit
	Letter // without case; also an accent
	Wide   // one that [IsHan] has
)

// InWord reports whether characters of the class form words together.
func (c Class) InWord() bool { return c >= Lower && c <= Letter }

// syllables are the scripts whose characters are tokens. Those before the last one have no spaces between words.
var syllables = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}

// IsHan reports whether a character is of Chinese or Japanese, which have no spaces between words.
func IsHan(r rune) bool {
	return r >= 0x2E80 && (r < 1<<16 && wide()[r] == Wide || r >= 1<<16 && classOf(r) == Wide)
}

// isSyllable reports whether a character is a token.
func isSyllable(r rune) bool { return IsHan(r) || r >= 0x1100 && unicode.Is(syllables[3], r) }

// classOf returns the class of a character. It is slow.
func classOf(r rune) Class {
	switch {
	case r >= 0x2E80 && unicode.In(r, syllables[:3]...):
		return Wide
	case unicode.IsUpper(r):
		return Upper
	case unicode.IsLower(r):
		return Lower
	case unicode.IsDigit(r):
		return Digit
	case unicode.In(r, unicode.L, unicode.M):
		return Letter
	case unicode.Is(unicode.Sc, r):
		return Currency
	case unicode.In(r, unicode.Z, unicode.C):
		return Blank
	}
	return Sign
}

var ascii = func() (c [utf8.RuneSelf]Class) {
	for b := range c {
		c[b] = classOf(rune(b))
	}
	return c
}()

// wide has the classes of the characters of two and three bytes. It is computed when the first of them is read.
var wide = sync.OnceValue(func() *[1 << 16]Class {
	c := new([1 << 16]Class)
	for r := range rune(len(c)) {
		c[r] = classOf(r)
	}
	return c
})

// ClassAt returns the class of the character at a position of a text, and its length in bytes.
func ClassAt(text string, i int) (c Class, size int) {
	if b := text[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	return wideAt(text[i:])
}

func wideAt(text string) (c Class, size int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError:
		return Blank, size
	case r < 1<<16:
		return wide()[r], size
	}
	return classOf(r), size
}

// RunEnd returns the end of the letters, digits and underscores at a position of a text.
func RunEnd(text string, i int) int {
	for i < len(text) {
		c, size := ClassAt(text, i)
		if !c.InWord() && text[i] != '_' {
			break
		}
		i += size
	}
	return i
}

// InName reports whether a text has a letter, digit or underscore of ASCII at a position.
func InName(text string, i int) bool {
	return i >= 0 && i < len(text) && (isDigit(text[i]) || text[i] < utf8.RuneSelf && isLetter(rune(text[i])))
}

// SplitsWord reports whether a word continues at a position.
func SplitsWord(text string, i int) bool {
	if i == 0 || i == len(text) {
		return false
	}
	after, _ := ClassAt(text, i)
	return after.InWord() && (InName(text, i-1) || text[i-1] >= utf8.RuneSelf)
}

// Skip returns the first position from i on that has none of some characters of ASCII.
func Skip(text string, i int, characters string) int {
	for i < len(text) && strings.IndexByte(characters, text[i]) >= 0 {
		i++
	}
	return i
}
