package lex

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// NameAt returns the name at i: a word, a number, a path or a link. It is a run of letters and digits with signs between them.
// It is empty if there are only signs. next is where reading continues. The text need not be folded.
func NameAt(text string, i int) (from, end, next int) {
	signs := false
	for end = i; end < len(text); {
		if b := text[end]; b >= 'a' && b <= 'z' {
			end++
			continue
		}
		c, size := ClassAt(text, end)
		if c == Sign {
			if text[end] == ':' && end > i && strings.HasPrefix(text[end:], "://") {
				end = linkEnd(text, end+len("://"))
				return i, end, end
			}
			size = joins(text, i, end)
			if size > 0 {
				signs = true
			}
		} else if !c.InWord() {
			break
		}
		if size == 0 {
			break
		}
		end += size
	}
	next = max(end, i+1)
	if !signs {
		return i, end, next
	}
	w := strings.TrimRight(text[i:end], ".-:@+#$~")
	end = i + len(w)
	w = strings.TrimLeft(w, ":-+")
	if !strings.Contains(w, "/") { // ./a and ~/b
		w = strings.TrimLeft(w, ".:-+~")
	}
	from = end - len(w)
	if w != "" && isDigit(w[0]) && from > i && strings.IndexByte("+-", text[from-1]) >= 0 { // -5
		from--
	}
	return from, end, next
}

// joins returns how many bytes at i belong to the name that begins at from, if a sign is at i; 0 if it ends there.
func joins(text string, from, i int) (size int) {
	after := text[i+1:]
	digit := digitsAt(text, i+1)
	ok := false
	switch b := text[i]; b {
	case '.', '-', '_', '@', '/':
		ok = true
	case '$', '#':
		ok = i == from
	case '+', '~':
		ok = i == from || digit > 0
	case '%':
		ok = i > from && isDigit(text[i-1])
	case ':': // localhost:8080, std::sort, C:\dir
		ok = digit > 0 || strings.HasPrefix(after, ":") || i > from && text[i-1] == ':' || i == from+1 && strings.HasPrefix(after, `\`)
	case '\\':
		ok = i > from+1 && text[from+1] == ':'
	case ',': // 1,299
		const group = 3
		digits := strings.TrimLeft(text[max(from, i-group-1):i], "$+-,")
		isBefore := digits != "" && digitsAt(digits, 0) == len(digits)
		if isBefore && digit == group && !InName(after, group) && !strings.HasPrefix(after[group:], `"`) {
			return 1 + group
		}
	}
	if ok {
		return 1
	}
	return 0
}

// linkEnd returns the end of the link whose host begins at i.
func linkEnd(text string, i int) int {
	end := i
	for end < len(text) && (InName(text, end) || strings.IndexByte("./-:@+#$~%&=?,;!()*", text[end]) >= 0) {
		end++
	}
	return i + len(strings.TrimRight(text[i:end], ".,;:!?)*_"))
}

// Shape is what a name looks like.
type Shape uint8

// The shapes of names.
const (
	ShapeNone   Shape = iota // a word of a sentence
	ShapeNumber              // 1633, 54.04, 15%, 12:30, 127.0.0.1
	ShapeLink                // https://example.com/a, ann@example.com
	ShapePath                // /a/b.go, a/b_c
	ShapeID                  // HAT045, #W123, credit_card_7815826, +15551234567, 4afd4e47
	ShapeSymbol              // getUser, get_user, self.model, b.go, localhost:8080
	ShapeCode                // JFK
	ShapeMoney               // $54.04, 1,299元; this and the next one can have several words
	ShapeDate                // 2024-05-15, 16 May 2024, 2026年3月15日
	Shapes                   // how many there are
)

// traits are the characters of a name.
type traits struct {
	n       [Wide + 1]int // how many of each class
	letters int
	humps   int // lower case before upper case: getUser
}

func traitsOf(s string) (t traits) {
	before := Sign
	for i := 0; i < len(s); {
		c, size := ClassAt(s, i)
		t.n[c]++
		if c == Upper && before == Lower {
			t.humps++
		}
		before = c
		i += size
	}
	t.letters = t.n[Lower] + t.n[Upper] + t.n[Letter] + t.n[Wide]
	return t
}

var day = regexp.MustCompile(`^(?:\d{4}([-/.])\d\d?[-/.]\d\d?(?:[T_].*)?|\d\d?[-/.]\d\d?[-/.]\d{4})$`)

// ShapeOf returns the shape of a name that [NameAt] returns.
func ShapeOf(s string) Shape {
	t := traitsOf(s)
	digits, signs := t.n[Digit], t.n[Sign]
	if digits+signs+t.humps == 0 && t.n[Upper] < t.letters {
		return ShapeNone
	}
	at := strings.IndexByte(s, '@')
	switch {
	case signs > 2 && strings.Contains(s, "://"), at > 0 && strings.IndexByte(s[at:], '.') > 1 && !strings.Contains(s, "/"):
		return ShapeLink
	case digits > 5 && t.letters < 3 && signs > 1 && day.MatchString(s):
		return ShapeDate
	case t.letters == 0:
		return numericShape(s, digits)
	case signs > 0 && looksLikePath(s, digits):
		return ShapePath
	case signs > 0 && strings.Contains(s, "/"):
		return ShapeNone
	}
	const unit, hash = 3, 7 // how many letters and digits
	joined, dots := signs > 0 && strings.ContainsAny(s, "_-"), strings.Count(s, ".")
	rest := strings.TrimLeft(s, "0123456789.")
	switch {
	case digits > 0 && strings.Trim(s, "0123456789abcdef") == "":
		if len(s) >= hash {
			return ShapeID
		}
		return ShapeNumber // 9c0
	case !joined && len(rest) < len(s) && len(rest) <= unit && t.n[Digit]+dots+t.letters == len(s): // 12kB
		return ShapeNumber
	case dots > 0 && len(s) <= 2*dots+1: // e.g
		return ShapeNone
	case dots > 0, strings.Contains(s, ":"):
		return ShapeSymbol
	case digits > 0 && (t.n[Lower]+t.n[Letter]+t.n[Wide] == 0 || joined || digits > 2 || s[0] == '#'):
		return ShapeID
	case digits > 0, t.humps > 0, joined && t.letters > 1 && strings.Contains(s, "_"), s[0] == '@':
		return ShapeSymbol
	case t.n[Upper] > 1 && t.n[Upper] == t.letters:
		return ShapeCode
	}
	return ShapeNone
}

// numericShape returns the shape of a name without letters.
func numericShape(s string, digits int) Shape {
	const phone = 6 // digits
	switch {
	case digits == 0:
		return ShapeNone
	case s[0] == '$':
		return ShapeMoney
	case s[0] == '#', digits > phone && (s[0] == '+' || strings.LastIndexByte(s, '-') > 0 && !strings.Contains(s, ":")):
		return ShapeID
	case strings.Contains(s, "/"):
		return ShapeNone
	}
	return ShapeNumber
}

// looksLikePath distinguishes paths from words such as and/or.
func looksLikePath(s string, digits int) bool {
	inner := strings.Count(strings.Trim(s, "/"), "/")
	return inner > 1 || inner > 0 && (digits > 0 || strings.IndexByte("/.~", s[0]) >= 0) || strings.HasSuffix(s, "/") ||
		strings.Contains(s, "/") && strings.ContainsAny(s, "_.") || strings.Contains(s, `:\`)
}

// format matches %s, %(name)s, {}, {0!r}, {err:?}.
var format = regexp.MustCompile(`%(?:\(|[-.\d$]*[sdvwqfx])|\{[\w.]*[!:]?[\w?.]*\}`)

// IsFlag reports whether a text is true, false, null or the same in another language of programs.
func IsFlag(s string) bool {
	const longest = len("undefined")
	return len(s) <= longest && lists["flag"].Has(strings.ToLower(s))
}

// HasFormat reports whether a text has a place for a value, as a line of a program that prints: %s, {err:?}.
func HasFormat(said string) bool { return strings.ContainsAny(said, "%{") && format.MatchString(said) }

// Unescape replaces the escapes of JSON by their characters, also those in a string of JSON that is in a string of JSON.
// Backslashes that are not part of an escape remain, as those of the path C:\\new.
func Unescape(text string) string {
	out := make([]byte, 0, len(text))
	for k := strings.IndexByte(text, '\\'); k >= 0; k = strings.IndexByte(text, '\\') {
		out = append(out, text[:k]...)
		end := k + 1
		for end < len(text) && text[end] == '\\' {
			end++
		}
		if r, n := escape(text[end:]); n > 0 && (end == k+1 || !endsInDrive(out)) {
			out = utf8.AppendRune(out, r)
			end += n
		} else {
			out = append(out, text[k:end]...)
		}
		text = text[end:]
	}
	return string(append(out, text...))
}

// endsInDrive reports whether a text ends in a path such as C:\\Users.
func endsInDrive(text []byte) bool {
	word := text[bytes.LastIndexAny(text, " \n\t\"")+1:]
	return len(word) > 1 && word[1] == ':'
}

// escape returns the character of the escape whose backslash precedes a text, and its length in bytes. The length is 0 if there
// is no escape, or one of a character of ASCII or one that cannot be shown.
func escape(text string) (r rune, n int) {
	const size = len("u5f20")
	if text == "" {
		return 0, 0
	}
	if k := strings.IndexByte(`/"'nrt`, text[0]); k >= 0 {
		return rune("/\"'\n\n\t"[k]), 1
	}
	if len(text) >= size && text[0] == 'u' {
		v, err := strconv.ParseUint(text[1:size], 16, 16)
		r = rune(v)
		if err == nil && r >= utf8.RuneSelf && unicode.IsPrint(r) {
			return r, size
		}
	}
	return 0, 0
}

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
