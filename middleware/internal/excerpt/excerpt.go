// Package excerpt takes the ends of a text, for editors that shorten: a head and
// a tail, cut between characters, and where lines end if that costs little.
//
//	excerpt.Ends(log, 2000, 2000, func(left string) string {
//		return fmt.Sprintf("[%d bytes left out]", len(left))
//	})
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Ends returns about the first head bytes and the last tail bytes of a text, none
// of them more than asked for, with a mark on a line of its own between them. The
// mark is made of what is left out. If nothing would be, it returns the text.
func Ends(text string, head, tail int, mark func(left string) string) string {
	first, last := Head(text, head), Tail(text, tail)
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

// Head returns the first n bytes of a text at most: up to the end of a line, if the
// last quarter of them has one.
func Head(text string, n int) string {
	head := text[:Border(text, n, -1)]
	if k := strings.LastIndexByte(head, '\n') + 1; k > n-n/4 {
		return head[:k]
	}
	return head
}

// Tail returns the last n bytes of a text at most: from the beginning of a line, if
// the first quarter of them has one.
func Tail(text string, n int) string {
	tail := text[Border(text, len(text)-n, 1):]
	if k := strings.IndexByte(tail, '\n') + 1; 0 < k && k < n/4 {
		return tail[k:]
	}
	return tail
}

// Border returns the border between two characters that is next to a position, in
// the direction of the step, which is 1 or -1. Bytes that are no text have borders
// everywhere.
func Border(text string, at, step int) int {
	at = min(max(at, 0), len(text))
	for k := range utf8.UTFMax {
		if i := at + k*step; i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
			return min(max(i, 0), len(text))
		}
	}
	return at
}
