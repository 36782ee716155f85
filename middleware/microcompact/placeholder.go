package microcompact

import (
	"strconv"
	"strings"
)

// gone is what a placeholder stands for.
type gone struct {
	chars       int // code points
	attachments int // media, and what only its provider understands
	lines       int // of the middle of a text: lines that have gone with it
	middle      bool
}

// placeholder returns the text that stands in place of what is gone. All texts
// that the model sees of this package are made here, but for those that are JSON.
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
	return string(append(b, ']'))
}
