// Package shorten contains what several middlewares need to shorten messages: head
// and tail of a text, the pieces of a tool result, a placeholder in their place, the
// removal of thinking, and a list of what was shortened.
//
//	shorten.Ends(log, 2000, 2000, func(left string) string {
//		return fmt.Sprintf("[%d bytes left out]", len(left))
//	})
//
// Nothing here counts tokens or changes its arguments.
package shorten

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Ends returns the head and the tail of a text, of at most so many bytes, with a
// mark on a separate line between them. mark receives the text that is left out.
// Both ends are cut between lines if that costs less than a quarter of their bytes,
// otherwise between characters. If nothing would be left out, Ends returns the text.
func Ends(text string, head, tail int, mark func(left string) string) string {
	first, last := headLines(text, head), tailLines(text, tail)
	if len(first)+len(last) >= len(text) {
		return text
	}
	between := mark(text[len(first) : len(text)-len(last)])
	if first != "" && !strings.HasSuffix(first, "\n") {
		between = "\n" + between
	}
	if !strings.HasPrefix(last, "\n") {
		between += "\n"
	}
	return first + between + last
}

// headLines is [Head], cut after the last line end if there is one in the last
// quarter.
func headLines(text string, n int) string {
	head := Head(text, n)
	if k := strings.LastIndexByte(head, '\n') + 1; k > n-n/4 {
		return head[:k]
	}
	return head
}

// tailLines is [Tail], cut after the first line end if there is one in the first
// quarter.
func tailLines(text string, n int) string {
	tail := Tail(text, n)
	if k := strings.IndexByte(tail, '\n') + 1; 0 < k && k < n/4 {
		return tail[k:]
	}
	return tail
}

// Head returns at most the first n bytes of a text, without a part of a character at
// the end.
func Head(text string, n int) string { return text[:Border(text, n, -1)] }

// Tail returns at most the last n bytes of a text, without a part of a character at
// the beginning.
func Tail(text string, n int) string { return text[Border(text, len(text)-n, 1):] }

// Border returns the position nearest to at, in the direction of step (1 or -1), that
// is between two UTF-8 characters. In invalid UTF-8 it may return at. The result is
// always between 0 and len(text).
func Border(text string, at, step int) int {
	at = min(max(at, 0), len(text))
	for k := range utf8.UTFMax {
		if i := at + k*step; i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
			return min(max(i, 0), len(text))
		}
	}
	return at
}

// Amount is a number of things, with the words for it.
type Amount struct {
	N         int
	One, Many string // as "1 result" and "%d results"
}

// List returns all amounts above 0, as "2 results, the arguments of 1 call and 3 texts".
func List(amounts ...Amount) string {
	var all []string
	for _, a := range amounts {
		switch {
		case a.N == 1:
			all = append(all, a.One)
		case a.N > 1:
			all = append(all, fmt.Sprintf(a.Many, a.N))
		}
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}
