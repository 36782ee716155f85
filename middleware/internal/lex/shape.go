package lex

import (
	"regexp"
	"strings"
)

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
