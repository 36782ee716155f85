package chainfile

import (
	"fmt"
	"strings"
	"unicode"
)

// Error says what is wrong with a chain file, where, and what would be right.
type Error struct {
	File   string // its name
	Line   int    // from 1; 0: the file as a whole
	Column int    // in characters, from 1
	Key    string // the path to the key, as chain[0].keep; "": none
	Text   string // what was found, and what is allowed

	source *source
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

// Excerpt returns the lines around the place, with a mark at the place. "": the
// error is about the file as a whole.
func (e *Error) Excerpt() string {
	if e.source == nil || e.Line < 1 || e.Line > len(e.source.lines) {
		return ""
	}
	var b strings.Builder
	for n := max(1, e.Line-2); n <= min(len(e.source.lines), e.Line+1); n++ {
		line, sign := e.source.lines[n-1], ' '
		if n == e.Line {
			sign = '>'
		}
		fmt.Fprintf(&b, "%c %3d | %s\n", sign, n, oneLine(line))
		if n == e.Line {
			fmt.Fprintf(&b, "%s^\n", strings.Repeat(" ", len("> 000 | ")+max(0, e.Column-1)))
		}
	}
	return b.String()
}

// source is the text that an error is about.
type source struct {
	name  string
	lines []string
}

func (src *source) errorf(line, column int, key, format string, args ...any) *Error {
	return &Error{File: src.name, Line: line, Column: column, Key: key, Text: fmt.Sprintf(format, args...), source: src}
}

// oneLine puts a space in place of each break.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
