package contextedit

import (
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// sameValue reports whether two texts are JSON of the same value. White space,
// the order of keys and the way of escaping do not matter; numbers are the same
// if they are written the same, so that long ids do not meet in a float64.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, ok1 := decode(a)
	y, ok2 := decode(b)
	return ok1 && ok2 && reflect.DeepEqual(x, y)
}

func decode(text string) (value any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	_, err := d.Token()
	return value, err == io.EOF
}

// valueHash is the same for texts that are JSON of the same value, without
// decoding them: most calls are made once. What stands between brackets and
// commas counts in any order, white space not at all.
func valueHash(text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // of FNV-1a
	if strings.IndexByte(text, '\\') >= 0 {
		text = unescaped(text)
	}
	var sum uint64
	piece := uint64(offset)
	for i := range len(text) {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
		case '{', '}', '[', ']', ',':
			if piece != offset {
				sum += piece ^ piece>>32
				piece = offset
			}
		default:
			piece = (piece ^ uint64(c)) * prime
		}
	}
	return (sum ^ piece) * prime
}

// unescaped writes each escape as the character that it means. That need not be
// JSON any more.
func unescaped(text string) string {
	b := make([]byte, 0, len(text))
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return string(append(b, text...))
		}
		b = append(b, text[:i]...)
		c, n := escape(text[i:])
		b = utf8.AppendRune(b, c)
		text = text[i+n:]
	}
}

// escape returns the character that an escape at the beginning of a text means,
// and how long it is.
func escape(text string) (c rune, n int) {
	const short, long = 2, 6 // \n, \u000a
	switch c := rune(text[1]); c {
	case 'b':
		return '\b', short
	case 'f':
		return '\f', short
	case 'n':
		return '\n', short
	case 'r':
		return '\r', short
	case 't':
		return '\t', short
	case 'u':
		first, ok := unit(text)
		if !ok {
			return c, short
		}
		if second, ok := unit(text[long:]); ok && utf16.IsSurrogate(first) {
			if c := utf16.DecodeRune(first, second); c != utf8.RuneError {
				return c, 2 * long
			}
		}
		return first, long // half of a pair becomes U+FFFD, as in encoding/json
	default:
		_, n := utf8.DecodeRuneInString(text[1:])
		return c, 1 + n
	}
}

// unit reads \u000a.
func unit(text string) (rune, bool) {
	const long = 6
	if len(text) < long || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:long], 16, 16)
	return rune(n), err == nil
}
