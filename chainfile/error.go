package chainfile

import (
	"fmt"
	"strings"
	"unicode"
)

// Error describes the first wrong place of a chain file.
type Error struct {
	File    string // its name
	Line    int    // from 1; 0: the file as a whole
	Column  int    // in characters, from 1
	Key     string // path of the key, as chain[0].keep; "": none
	Text    string // what was found, and what is allowed
	Excerpt string // the lines around the place, with a mark at the place; "": the file as a whole
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
	lines []string
	first *Error
}

func (src *source) failf(line, column int, key, format string, args ...any) {
	if src.first == nil {
		src.first = src.errorf(line, column, key, format, args...)
	}
}

func (src *source) errorf(line, column int, key, format string, args ...any) *Error {
	return &Error{
		File: src.name, Line: line, Column: column, Key: key,
		Text: fmt.Sprintf(format, args...), Excerpt: src.excerpt(line, column),
	}
}

// excerpt returns the lines from two before to one after a place.
func (src *source) excerpt(line, column int) string {
	if line < 1 || line > len(src.lines) {
		return ""
	}
	var b strings.Builder
	for n := max(1, line-2); n <= min(len(src.lines), line+1); n++ {
		sign := ' '
		if n == line {
			sign = '>'
		}
		fmt.Fprintf(&b, "%c %3d | %s\n", sign, n, oneLine(src.lines[n-1]))
		if n == line {
			fmt.Fprintf(&b, "%s^\n", strings.Repeat(" ", len("> 000 | ")+max(0, column-1)))
		}
	}
	return b.String()
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
	best, least := "", 3
	for _, n := range names {
		if d := distance(plain(name), plain(n)); d < least && d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// plain returns a name in lower case, without separators.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// distance returns how many letters must be inserted, deleted or changed to turn one word into the other. Of a
// long word, only the first 64 bytes count.
func distance(a, b string) int {
	const longest = 64
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func list(names []string) string { return strings.Join(names, ", ") }

// oneOf returns "a, b or c".
func oneOf(names []string) string {
	if last := len(names) - 1; last > 0 {
		return list(names[:last]) + " or " + names[last]
	}
	return list(names)
}
