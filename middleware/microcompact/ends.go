package microcompact

import (
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// ends returns the head and the tail of a text, of so many tokens together, with
// a mark between them that says how much is left out. Both end where a line ends,
// or between two characters where that would cost more than half of them. It
// returns the text if that would not get shorter. The mark names the handle of the
// text, if there is one.
func ends(by tokens.Counter, text string, limit int, h store.Handle) string {
	size := by.Count(text)
	mark := by.Count("\n" + gone{chars: len(text), lines: len(text), middle: true, handle: h}.placeholder() + "\n")
	each := (limit - mark) / 2
	if size <= limit || each <= 0 {
		return text
	}
	guess := int(float64(len(text)) * float64(each) / float64(size))
	head := text[:lineEnd(text, longest(by, each, guess, len(text), func(n int) string { return text[:border(text, n)] }))]
	rest := text[len(head):]
	tail := rest[lineBegin(rest, longest(by, each, guess, len(rest), func(n int) string { return rest[borderUp(rest, len(rest)-n):] })):]
	left := rest[:len(rest)-len(tail)]
	s := head + withLines(head, tail, gone{
		chars: length(left), lines: strings.Count(left, "\n"), middle: true, handle: h,
	}.placeholder()) + tail
	if len(s) >= len(text) || by.Count(s) >= size {
		return text
	}
	return s
}

// withLines returns a mark on a line of its own.
func withLines(head, tail, mark string) string {
	if head != "" && !strings.HasSuffix(head, "\n") {
		mark = "\n" + mark
	}
	if !strings.HasPrefix(tail, "\n") {
		mark += "\n"
	}
	return mark
}

// longest returns how many bytes long a piece may be to have so many tokens at
// most, to about a thirtieth. The guess is where it looks first.
func longest(by tokens.Counter, limit, guess, most int, piece func(n int) string) int {
	fits, above := 0, max(guess, 1)
	for above < most && by.Count(piece(above)) <= limit {
		fits, above = above, 2*above
	}
	above = min(above, most)
	for above-fits > above/32+1 {
		n := fits + (above-fits)/2
		if by.Count(piece(n)) <= limit {
			fits = n
		} else {
			above = n
		}
	}
	return fits
}

// lineEnd returns up to where a head of about n bytes goes.
func lineEnd(text string, n int) int {
	n = border(text, n)
	if k := strings.LastIndexByte(text[:n], '\n') + 1; k > n/2 {
		return k
	}
	return n
}

// lineBegin returns from where a tail of about n bytes goes.
func lineBegin(text string, n int) int {
	from := borderUp(text, len(text)-n)
	if k := strings.IndexByte(text[from:], '\n') + 1; 0 < k && k < n/2 {
		return from + k
	}
	return from
}

// border returns the border between two characters at a position or before it.
// Bytes that are no text have borders everywhere.
func border(text string, at int) int {
	for k := range utf8.UTFMax {
		if i := at - k; i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
			return min(max(i, 0), len(text))
		}
	}
	return at
}

// borderUp returns the border between two characters at a position or behind it.
func borderUp(text string, at int) int {
	for k := range utf8.UTFMax {
		if i := at + k; i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
			return min(max(i, 0), len(text))
		}
	}
	return at
}
