package fit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
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
	head, tail := headOf(text, keep/2), tailOf(text, keep/2)
	if len(head)+len(tail) >= len(text) {
		return text
	}
	missing := utf8.RuneCountInString(text[len(head) : len(text)-len(tail)])
	mark := fmt.Sprintf("[… %d characters left out …]", missing)
	if !h.IsZero() {
		mark = fmt.Sprintf("[… %d characters left out: %s %s …]", missing, store.RecallTool, h)
	}
	if !strings.HasSuffix(head, "\n") {
		mark = "\n" + mark
	}
	if !strings.HasPrefix(tail, "\n") {
		mark += "\n"
	}
	return head + mark + tail
}

// headOf returns about the first n bytes, up to the end of a line if the last
// quarter of them has one.
func headOf(text string, n int) string {
	head := text[:border(text, n, -1)]
	if k := strings.LastIndexByte(head, '\n') + 1; k > n-n/4 {
		return head[:k]
	}
	return head
}

// tailOf returns about the last n bytes, from the beginning of a line if the
// first quarter of them has one.
func tailOf(text string, n int) string {
	tail := text[border(text, len(text)-n, 1):]
	if k := strings.IndexByte(tail, '\n') + 1; 0 < k && k < n/4 {
		return tail[k:]
	}
	return tail
}

// border returns the border between two runes that is next to a position in a
// direction. Bytes that are no text have borders everywhere.
func border(text string, at, step int) int {
	at = min(max(at, 0), len(text))
	for k := range utf8.UTFMax {
		if i := at + k*step; i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
			return min(max(i, 0), len(text))
		}
	}
	return at
}

// least returns as little of a text as may be: its first characters and an
// ellipsis.
func least(text string) string {
	const ellipsis = "…"
	n := border(text, len(ellipsis), 1)
	if n+len(ellipsis) >= len(text) {
		return text
	}
	return text[:n] + ellipsis
}
