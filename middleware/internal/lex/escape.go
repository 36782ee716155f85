package lex

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unescape replaces the escapes of JSON by their characters, also those in a string of JSON that is in a string of JSON.
// Backslashes that are not part of an escape remain, as those of the path C:\\new.
func Unescape(text string) string {
	out := make([]byte, 0, len(text))
	for k := strings.IndexByte(text, '\\'); k >= 0; k = strings.IndexByte(text, '\\') {
		out = append(out, text[:k]...)
		end := k + 1
		for end < len(text) && text[end] == '\\' {
			end++
		}
		if r, n := escape(text[end:]); n > 0 && (end == k+1 || !endsInDrive(out)) {
			out = utf8.AppendRune(out, r)
			end += n
		} else {
			out = append(out, text[k:end]...)
		}
		text = text[end:]
	}
	return string(append(out, text...))
}

// endsInDrive reports whether a text ends in a path such as C:\\Users.
func endsInDrive(text []byte) bool {
	word := text[bytes.LastIndexAny(text, " \n\t\"")+1:]
	return len(word) > 1 && word[1] == ':'
}

// escape returns the character of the escape whose backslash precedes a text, and its length in bytes. The length is 0 if there
// is no escape, or one of a character of ASCII or one that cannot be shown.
func escape(text string) (r rune, n int) {
	const size = len("u5f20")
	if text == "" {
		return 0, 0
	}
	if k := strings.IndexByte(`/"'nrt`, text[0]); k >= 0 {
		return rune("/\"'\n\n\t"[k]), 1
	}
	if len(text) >= size && text[0] == 'u' {
		v, err := strconv.ParseUint(text[1:size], 16, 16)
		r = rune(v)
		if err == nil && r >= utf8.RuneSelf && unicode.IsPrint(r) {
			return r, size
		}
	}
	return 0, 0
}
