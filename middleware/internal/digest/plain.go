package digest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
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
	for i := range parts {
		parts[i] = uncoloured(parts[i])
	}
	begin := strings.TrimLeft(parts[0], " \t\r\n")
	if begin != "" && strings.IndexByte(`{["`, begin[0]) >= 0 {
		for i := range parts {
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
	head := headSize
	if k := strings.LastIndexByte(text[head-near:head], '\n'); k >= 0 {
		head += k + 1 - near
	}
	tail := len(text) - tailSize
	if k := strings.IndexByte(text[tail:tail+near], '\n'); k >= 0 {
		tail += k + 1
	}
	for !utf8.RuneStart(text[head]) && head > headSize-utf8.UTFMax {
		head--
	}
	for !utf8.RuneStart(text[tail]) && tail < len(text)-tailSize+utf8.UTFMax {
		tail++
	}
	return []string{text[:head], text[tail:]}
}

// uncoloured removes the control sequences of a terminal: \x1b[1;31m.
func uncoloured(text string) string {
	const begin = "\x1b["
	if !strings.Contains(text, begin) {
		return text
	}
	pieces := strings.Split(text, begin)
	for i, p := range pieces[1:] {
		p = strings.TrimLeft(p, "0123456789;")
		pieces[i+1] = p[min(1, len(p)):]
	}
	return strings.Join(pieces, "")
}

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
	for i := len(text) - 1; i > 0; i-- {
		switch b := text[i]; {
		case b == ':' && (i == len(text)-1 || text[i+1] == '\\'):
			return i > 0 && text[i-1] < utf8.RuneSelf && ascii[text[i-1]].inWord()
		case b <= ' ', b == '"':
			return false
		}
	}
	return false
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
