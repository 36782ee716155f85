package microcompact

import (
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// ends returns the head and the tail of a text, of so many tokens together, with
// a mark between them that says how much is left out. Both end where a line ends,
// or between two characters where that would cost more than a quarter of them. It
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
	head := longest(by, each, guess, len(text), func(n int) string { return shorten.Head(text, n) })
	tail := longest(by, each, guess, len(text)-head, func(n int) string { return shorten.Tail(text, n) })
	short := shorten.Ends(text, head, tail, func(left string) string {
		return gone{chars: length(left), lines: strings.Count(left, "\n"), middle: true, handle: h}.placeholder()
	})
	if len(short) >= len(text) || by.Count(short) >= size {
		return text
	}
	return short
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
