package lex

import (
	"regexp"
	"strings"
)

// format matches %s, %(name)s, {}, {0!r}, {err:?}.
var format = regexp.MustCompile(`%(?:\(|[-.\d$]*[sdvwqfx])|\{[\w.]*[!:]?[\w?.]*\}`)

// IsFlag reports whether a text is true, false, null or the same in another language of programs.
func IsFlag(s string) bool {
	const longest = len("undefined")
	return len(s) <= longest && lists["flag"].Has(strings.ToLower(s))
}

// HasFormat reports whether a text has a place for a value, as a line of a program that prints: %s, {err:?}.
func HasFormat(said string) bool { return strings.ContainsAny(said, "%{") && format.MatchString(said) }
