package chainfile

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/internal/similar"
)

// Error describes the first wrong place of a chain file.
type Error struct {
	File   string // its name
	Line   int    // from 1; 0: the file as a whole
	Column int    // in characters, from 1
	Key    string // path of the key, as chain[0].keep; "": none
	Text   string // what was found, and what is allowed
}

// Error returns file, line, column, key and text in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:", e.File)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", e.Line, e.Column)
	}
	for _, s := range []string{e.Key, e.Text} {
		if s != "" {
			fmt.Fprintf(&b, " %s", s)
		}
	}
	return strings.TrimLeft(oneLine(b.String()), " ")
}

// source is the text of a chain file. It keeps the first error; later errors are discarded.
type source struct {
	name  string
	first *Error
}

func (src *source) failf(line, column int, key, format string, args ...any) {
	if src.first == nil {
		src.first = src.errorf(line, column, key, format, args...)
	}
}

func (src *source) errorf(line, column int, key, format string, args ...any) *Error {
	return &Error{File: src.name, Line: line, Column: column, Key: key, Text: fmt.Sprintf(format, args...)}
}

// oneLine replaces each line break and control character by a space.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// didYouMean returns a hint at the most similar one of the names, or "" if none is similar.
func didYouMean(name string, names []string) string {
	near := similar.To(name, 2, names)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", near[0])
}

func list(names []string) string { return strings.Join(names, ", ") }

// oneOf returns "a, b or c".
func oneOf(names []string) string {
	if last := len(names) - 1; last > 0 {
		return list(names[:last]) + " or " + names[last]
	}
	return list(names)
}
