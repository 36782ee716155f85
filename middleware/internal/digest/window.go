package digest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What is looked at of a longer text, in bytes.
const (
	headSize = 256 << 10
	tailSize = 64 << 10
)

// window returns the parts of a text that are looked at. They are cut at the end
// of a line if one is near.
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

// legible returns the parts of a text that are looked at, good for looking up words
// in them.
func legible(text string) []string {
	parts := window(text)
	for i, part := range parts {
		if looksLikeJSON(part) {
			parts[i] = bareJSON(part)
		}
	}
	return parts
}

// looksLikeJSON reports whether a text begins like JSON.
func looksLikeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["`, text[0]) >= 0
}

// plainJSON writes the characters that JSON has as \u5f20 and \/ as themselves, as
// the model will. All that keeps the JSON in shape stays as it is.
func plainJSON(text string) string {
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\/`) {
		return text
	}
	return resolved(text, func(slashes, escape string) (plain string, n int) {
		if r, n := character(escape); n > 0 {
			return string(r), n
		}
		return slashes, len(`\`)
	})
}

// bareJSON resolves all escapes of JSON. The result is good for looking up words
// in it, and no JSON any more.
func bareJSON(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return resolved(text, func(_, escape string) (plain string, n int) {
		if r, n := character(escape); n > 0 {
			return string(r), n
		}
		if len(escape) > 1 && strings.IndexByte("bfnrt", escape[1]) >= 0 {
			return "\n", len(`\n`)
		}
		return " ", len(`\`)
	})
}

// resolved writes a text with other strings in place of its runs of backslashes,
// however deep the JSON is in strings of JSON. replace is given the run, and the
// text from its last backslash on; it says what stands there instead, and how
// much of the latter that takes.
func resolved(text string, replace func(slashes, escape string) (string, int)) string {
	var b strings.Builder
	b.Grow(len(text))
	for {
		from := strings.IndexByte(text, '\\')
		if from < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := from + 1
		for end < len(text) && text[end] == '\\' {
			end++
		}
		b.WriteString(text[:from])
		plain, n := replace(text[from:end], text[end-1:])
		b.WriteString(plain)
		text = text[end-1+n:]
	}
}

// character returns the character that an escape stands for, if it can be shown,
// and how long the escape is.
func character(text string) (r rune, n int) {
	if strings.HasPrefix(text, `\/`) {
		return '/', len(`\/`)
	}
	const long = len(`\u5f20`)
	first, ok := unit(text)
	if !ok {
		return 0, 0
	}
	r, n = first, long
	if utf16.IsSurrogate(first) {
		second, _ := unit(text[long:])
		r, n = utf16.DecodeRune(first, second), 2*long
	}
	if r == utf8.RuneError || r < utf8.RuneSelf || !unicode.IsPrint(r) {
		return 0, 0
	}
	return r, n
}

// unit reads \u5f20.
func unit(text string) (r rune, ok bool) {
	const long = len(`\u5f20`)
	if len(text) < long || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:long], 16, 16)
	return rune(n), err == nil
}
