package microcompact

import (
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/store"
)

// gone is what a placeholder stands for.
type gone struct {
	chars       int // code points
	attachments int // media, and what only its provider understands
	lines       int // of the middle of a text: lines that have gone with it
	middle      bool

	handle store.Handle // by which it can be had again; zero: it cannot
}

// placeholder returns the text that stands in place of what is gone. All texts
// that the model sees of this package are made here.
func (g gone) placeholder() string {
	b := make([]byte, 0, len("[truncated: 00000000 chars, 00 attachments]"))
	b = append(b, "[truncated"...)
	if g.middle {
		b = append(b, " here"...)
	}
	b = append(b, ": "...)
	if g.chars > 0 || g.attachments == 0 {
		b = append(strconv.AppendInt(b, int64(g.chars), 10), " chars"...)
	}
	for _, also := range []struct {
		n    int
		what string
	}{{g.attachments, " attachments"}, {g.lines, " lines"}} {
		switch {
		case also.n == 0:
			continue
		case b[len(b)-1] != ' ':
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(also.n), 10)
		if also.n == 1 {
			also.what = strings.TrimSuffix(also.what, "s")
		}
		b = append(b, also.what...)
	}
	return store.Placeholder(string(append(b, ']')), g.handle)
}

// arguments returns what stands in place of arguments of which nothing is left but
// their length.
func (g gone) arguments() string {
	if g.handle.IsZero() {
		return `{"truncated": ` + strconv.Itoa(g.chars) + `}`
	}
	return `{"truncated": "` + strconv.Itoa(g.chars) + " chars: " + store.RecallTool + " " + g.handle.String() + `"}`
}
