package agent

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns the beginning of a text that fits into so many bytes, and how
// many bytes of the text that is. Control characters, other than those that end
// lines and tabs, are written as in Go: \x1b, \u0085; so are bytes that are no
// UTF-8.
func visible(text string, most int) (shown string, n int) {
	var b strings.Builder
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		piece := text[n : n+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, text[n])
		case r == '\n', r == '\t', r == '\r' && strings.HasPrefix(text[n:], "\r\n"):
		case r == '\r':
			piece = `\r`
		case r < utf8.RuneSelf && unicode.IsControl(r):
			piece = fmt.Sprintf(`\x%02x`, r)
		case unicode.IsControl(r):
			piece = fmt.Sprintf(`\u%04x`, r)
		}
		if b.Len()+len(piece) > most {
			break
		}
		b.WriteString(piece)
		n += size
	}
	return b.String(), n
}

// isBinary reports whether a content is no text: its beginning has a NUL, or is
// to more than a third broken UTF-8 and control characters.
func isBinary(data string) bool {
	const looked = 8000
	data = data[:min(looked, len(data))]
	strange := 0
	for i, r := range data {
		switch {
		case r == 0:
			return true
		case strings.ContainsRune("\t\n\r\f\b\x1b", r): // as logs and terminals have them
		case unicode.IsControl(r):
			strange++
		case r == utf8.RuneError && !strings.HasPrefix(data[i:], string(utf8.RuneError)):
			strange++
		}
	}
	return strange*3 > len(data)
}
