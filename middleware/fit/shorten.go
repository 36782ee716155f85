package fit

import (
	"fmt"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	excerpt "github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// shorten returns the head and the tail of a text, with a mark between them that
// says how much is missing, and where that is if it has a handle, in so many tokens
// or bytes at most if that can be. What it returns is the text itself only if that
// cannot be made shorter. It cuts between runes, and where a line ends if there is
// one near. A note on media at the end stays whole; if it has a handle, that is the
// handle of all.
func shorten(by tokens.Counter, text string, unit message.Limit, limit int, h store.Handle) string {
	of := func(s string) int {
		if unit == message.RequestBytes {
			return len(s)
		}
		return by.Count(s)
	}
	size := of(text)
	if size <= limit {
		return text
	}
	if said, note, ok := noted(text); ok {
		if kept := store.HandlesIn(note); len(kept) > 0 {
			h = kept[0]
		}
		s := shorten(by, said, unit, limit-of("\n"+note), h) + "\n" + note
		if of(s) <= limit && len(s) < len(text) {
			return s
		}
		return least(text)
	}
	keep := len(text)
	for keep = scaled(keep, limit, size); keep >= leastKept; keep = scaled(keep, limit, size) {
		s := headAndTail(text, keep, h)
		if size = of(s); size <= limit && len(s) < len(text) {
			return s
		}
	}
	return least(text)
}

// scaled returns how many bytes are to be kept if so many were too large.
func scaled(keep, limit, size int) int {
	share := float64(max(limit, 0)) / float64(size)
	return min(keep-1, int(share*float64(keep)))
}

// leastKept is how many bytes of a text are kept, at least, beside a mark that says
// how many are missing.
const leastKept = 64

// headAndTail keeps about so many bytes of a text, half of them at each end.
func headAndTail(text string, keep int, h store.Handle) string {
	return excerpt.Ends(text, keep/2, keep/2, func(left string) string {
		missing := utf8.RuneCountInString(left)
		if h.IsZero() {
			return fmt.Sprintf("[… %d characters left out …]", missing)
		}
		return fmt.Sprintf("[… %d characters left out: %s %s …]", missing, store.RecallTool, h)
	})
}

// least returns as little of a text as may be: its first characters and an
// ellipsis.
func least(text string) string {
	const ellipsis = "…"
	n := excerpt.Border(text, len(ellipsis), 1)
	if n+len(ellipsis) >= len(text) {
		return text
	}
	return text[:n] + ellipsis
}
