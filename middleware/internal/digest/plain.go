package digest

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// The parts of a longer text that are read, in bytes.
const (
	headSize = 256 << 10
	tailSize = 64 << 10
)

// legible returns the parts of a text that are read, as the model writes what they
// contain: without the escapes of JSON and the colours of a terminal.
func legible(text string) []string {
	parts := window(text)
	begin := strings.TrimLeft(text[:min(len(text), headSize)], " \t\r\n")
	isJSON := begin != "" && strings.IndexByte(`{["`, begin[0]) >= 0 ||
		strings.Contains(begin, `\n`) && !strings.Contains(begin, "\n") && !strings.Contains(begin, `:\`) // Result(text='a\nb')
	for i, part := range parts {
		if strings.Contains(part, "\x1b[") {
			parts[i] = colour.ReplaceAllString(part, "")
		}
		if isJSON {
			parts[i] = unescaped(parts[i])
		}
	}
	return parts
}

// window returns the parts of a text that are read. They end with a line if the
// next line break is near.
func window(text string) []string {
	if len(text) <= headSize+tailSize {
		return []string{text}
	}
	const near = 4 << 10
	head, tail := shorten.Head(text, headSize), shorten.Tail(text, tailSize)
	if k := strings.LastIndexByte(head, '\n') + 1; k > headSize-near {
		head = head[:k]
	}
	if k := strings.IndexByte(tail, '\n') + 1; k < near {
		tail = tail[k:]
	}
	return []string{head, tail}
}

// colour matches the control sequences of a terminal: \x1b[1;31m.
var colour = regexp.MustCompile(`\x1b\[[\d;]*.?`)

// unescaped replaces the escapes of JSON by their characters, also those in a
// string of JSON that is in a string of JSON. Backslashes that are not part of an
// escape remain.
func unescaped(text string) string {
	k := strings.IndexByte(text, '\\')
	if k < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for k >= 0 {
		end := k + 1
		for end < len(text) && text[end] == '\\' {
			end++
		}
		out = append(out, text[:k]...)
		r, n := character(text[end-1:])
		if n == 0 || r < ' ' && end-k > 1 && endsInDrivePath(out) {
			out = append(out, text[k:end]...)
			n = 1
		} else {
			out = utf8.AppendRune(out, r)
		}
		text = text[end-1+n:]
		k = strings.IndexByte(text, '\\')
	}
	return string(append(out, text...))
}

// endsInDrivePath reports whether a text ends in a path such as C:\\Users.
func endsInDrivePath(text []byte) bool {
	path := text[bytes.LastIndexAny(text, " \n\t\"")+1:]
	return len(path) > 1 && path[1] == ':' && (len(path) == 2 || path[2] == '\\') && path[0] < utf8.RuneSelf && ascii[path[0]].inWord()
}

// character returns the character of the escape that begins a text, and the length
// of the escape in bytes. The length is 0 if it is not an escape, or one of a
// character of ASCII or one that cannot be shown.
func character(text string) (r rune, n int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch b := text[1]; b {
	case '/', '"', '\'':
		return rune(b), 2
	case 'n', 'r':
		return '\n', 2
	case 't', 'b', 'f':
		return '\t', 2
	}
	const long = len(`\u5f20`)
	r, ok := codeUnit(text)
	n = long
	if utf16.IsSurrogate(r) {
		second, _ := codeUnit(text[long:])
		r, n = utf16.DecodeRune(r, second), 2*long
	}
	if !ok || r == utf8.RuneError || r < utf8.RuneSelf || !unicode.IsPrint(r) {
		return 0, 0
	}
	return r, n
}

// codeUnit reads \u5f20.
func codeUnit(text string) (r rune, ok bool) {
	const long = len(`\u5f20`)
	if len(text) < long || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:long], 16, 16)
	return rune(n), err == nil
}
