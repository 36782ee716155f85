package microcompact

import (
	"strconv"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
)

// removed is what a placeholder replaces.
type removed struct {
	chars       int // code points
	attachments int // media and opaque parts
	lines       int // of the middle of a text
	middle      bool

	handle store.Handle // zero if there is no archive
}

// placeholder returns the text in the place of what is removed.
func (r removed) placeholder() string {
	b := append(make([]byte, 0, len("[truncated here: 00000000 chars, 00000 lines]")), "[truncated"...)
	if r.middle {
		b = append(b, " here"...)
	}
	separator := ": "
	add := func(n int, noun string) {
		b = strconv.AppendInt(append(b, separator...), int64(n), 10)
		b = append(b, noun...)
		separator = ", "
	}
	if r.chars > 0 || r.attachments == 0 {
		add(r.chars, " chars")
	}
	if r.attachments == 1 {
		add(1, " attachment")
	} else if r.attachments > 1 {
		add(r.attachments, " attachments")
	}
	if r.lines == 1 {
		add(1, " line")
	} else if r.lines > 1 {
		add(r.lines, " lines")
	}
	return store.Placeholder(string(append(b, ']')), r.handle)
}

// arguments returns a JSON object in the place of arguments of which only the length
// is left.
func (r removed) arguments() string {
	if r.handle.IsZero() {
		return `{"truncated": ` + strconv.Itoa(r.chars) + `}`
	}
	return `{"truncated": "` + strconv.Itoa(r.chars) + " chars: " + store.RecallTool + " " + r.handle.String() + `"}`
}

// shortArguments shortens arguments of more than limit code points as [shorten.Values] does, until they are within the
// limit, the handle apart. If they cannot be, or are not an object, the result contains only their length. ok is
// false if the arguments are within the limit or would not become shorter.
func shortArguments(arguments string, limit int, h store.Handle) (short string, ok bool) {
	n := longer(arguments, limit)
	if n == 0 {
		return "", false
	}
	limit += len(store.Placeholder("[]", h)) - len("[]")
	within := func(short string) bool { return longer(short, limit) == 0 }
	short, cuts := shorten.Values(arguments, h, false, within)
	if cuts < 0 || !within(short) {
		short = removed{chars: n, handle: h}.arguments()
	}
	return short, length(short) < n
}

// longer returns the number of code points of a text if it is above the limit, and 0
// otherwise.
func longer(text string, limit int) int {
	if len(text) <= limit { // there are at most as many code points as bytes
		return 0
	}
	if n := length(text); n > limit {
		return n
	}
	return 0
}

// length is [utf8.RuneCountInString], faster for ASCII.
func length(text string) int {
	const step, beyondASCII = 32, 0x8080_8080_8080_8080
	n := 0
	for ; n+step <= len(text); n += step {
		if b := text[n : n+step]; (word(b)|word(b[8:])|word(b[16:])|word(b[24:]))&beyondASCII != 0 {
			break
		}
	}
	return n + utf8.RuneCountInString(text[n:])
}

// word returns the first eight bytes of a text.
func word(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
