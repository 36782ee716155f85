package jsonscan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text of a string literal, as [json.Unmarshal] does: a surrogate without its other half becomes
// U+FFFD. It allocates only if the literal has escapes. Otherwise the result is in the memory of the literal.
func Unquote(literal string) string {
	text, _ := unquote(literal)
	return text
}

// Text is [Unquote] with a result in memory of its own.
func Text(literal string) string {
	text, isOwn := unquote(literal)
	if !isOwn {
		text = strings.Clone(text)
	}
	return text
}

// unquote returns the text of a string literal, and whether it is in memory of its own.
func unquote(literal string) (text string, isOwn bool) {
	if len(literal) < 2 {
		return "", true
	}
	rest := literal[1 : len(literal)-1]
	i := strings.IndexByte(rest, '\\')
	if i < 0 {
		return rest, false
	}
	var b strings.Builder
	b.Grow(len(rest))
	for ; i >= 0 && i+1 < len(rest); i = strings.IndexByte(rest, '\\') {
		b.WriteString(rest[:i])
		c := rest[i+1]
		rest = rest[i+2:]
		if c == 'u' {
			r, size := unescape(rest)
			b.WriteRune(r)
			rest = rest[size:]
			continue
		}
		if e := escaped[c]; e != 0 {
			c = e
		}
		b.WriteByte(c)
	}
	b.WriteString(rest)
	return b.String(), true
}

// escaped are the characters that stand for others, or for themselves, after a backslash.
var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns the character of an escape of which \u was read, and how many bytes follow of it.
func unescape(rest string) (r rune, size int) {
	first := hex(rest)
	switch {
	case first < 0:
		return utf8.RuneError, 0
	case !utf16.IsSurrogate(first):
		return first, 4
	case strings.HasPrefix(rest[4:], `\u`):
		if r := utf16.DecodeRune(first, hex(rest[6:])); r != utf8.RuneError {
			return r, 10
		}
	}
	return utf8.RuneError, 4
}

// hex returns the number that four digits at the beginning of a text are, or -1.
func hex(text string) (n rune) {
	if len(text) < 4 {
		return -1
	}
	for i := range 4 {
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}
