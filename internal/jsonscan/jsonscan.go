// Package jsonscan finds values in JSON text without decoding or copying it.
//
//	for key, value := range jsonscan.Members(text, 0) {
//		if jsonscan.Unquote(key.In(text)) == "path" { … value.In(text) … }
//	}
//
// Only [IsObject] checks whether the text is valid. The other functions expect valid
// JSON: for any other text they return some result, and never panic.
package jsonscan

import (
	"encoding/json"
	"iter"
	"strings"
)

// Span is a part of a text: the bytes From to To-1.
type Span struct{ From, To int }

// In returns the part of the text.
func (s Span) In(text string) string { return text[s.From:s.To] }

// Members yields the key, with its quotes, and the value of each member of the
// object that begins at text[at].
func Members(text string, at int) iter.Seq2[Span, Span] {
	return func(yield func(key, value Span) bool) {
		for at := Space(text, at+1); at < len(text) && text[at] == '"'; {
			key := Span{at, Skip(text, at)}
			at = Space(text, Space(text, key.To)+1) // after the colon
			value := Span{at, Skip(text, at)}
			if value.From == value.To || !yield(key, value) {
				return
			}
			at = next(text, value.To)
		}
	}
}

// Items yields the items of the array that begins at text[at].
func Items(text string, at int) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for at := Space(text, at+1); at < len(text) && text[at] != ']'; {
			item := Span{at, Skip(text, at)}
			if item.From == item.To || !yield(item) {
				return
			}
			at = next(text, item.To)
		}
	}
}

// next returns the position of what follows a value: a key, a value or a bracket.
func next(text string, at int) int {
	at = Space(text, at)
	if at < len(text) && text[at] == ',' {
		at = Space(text, at+1)
	}
	return at
}

// Space returns the position of the first byte at or after text[at] that is not
// white space; at most len(text).
func Space(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
		at++
	}
	return min(at, len(text))
}

// Skip returns the position after the value that begins at text[at].
func Skip(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	switch text[at] {
	case '"':
		return skipString(text, at)
	case '{', '[':
		return skipNested(text, at)
	}
	for at < len(text) && strings.IndexByte(",]} \t\r\n", text[at]) < 0 {
		at++
	}
	return at
}

func skipNested(text string, at int) int {
	for depth := 0; at < len(text); {
		switch text[at] {
		case '"':
			at = skipString(text, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		at++
		if depth == 0 {
			return at
		}
	}
	return at
}

func skipString(text string, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return len(text)
}

// Unquote returns the text of a string literal. It allocates only if the literal
// has escapes.
func Unquote(literal string) string {
	if len(literal) < 2 {
		return ""
	}
	if inner := literal[1 : len(literal)-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	_ = json.Unmarshal([]byte(literal), &text) // the caller has checked that it is a string
	return text
}

// IsObject reports whether a text is a JSON object and nothing else but white
// space. It is fast for objects without escapes, fractions and negative numbers, and
// at most eight levels deep; others are checked by encoding/json.
func IsObject(text string) bool {
	at := Space(text, 0)
	if at == len(text) || text[at] != '{' {
		return false
	}
	if end, ok := plain(text, at, 8); ok && Space(text, end) == len(text) {
		return true
	}
	return json.Valid([]byte(text))
}

// plain returns the position after the value that begins at text[at], and whether
// it is valid. It returns false for some valid values as well.
func plain(text string, at, depth int) (end int, ok bool) {
	if at >= len(text) || depth == 0 {
		return at, false
	}
	switch c := text[at]; {
	case c == '{' || c == '[':
		return plainList(text, at, depth)
	case c == '"':
		return plainString(text, at)
	case '1' <= c && c <= '9':
		for at < len(text) && '0' <= text[at] && text[at] <= '9' {
			at++
		}
		return at, true
	}
	for _, word := range [...]string{"true", "false", "null", "0"} {
		if strings.HasPrefix(text[at:], word) {
			return at + len(word), true
		}
	}
	return at, false
}

// plainList is plain for an object or an array.
func plainList(text string, at, depth int) (end int, ok bool) {
	isObject, closing := text[at] == '{', text[at]+2 // "}" is "{"+2, "]" is "["+2
	at = Space(text, at+1)
	if at < len(text) && text[at] == closing {
		return at + 1, true
	}
	for {
		if isObject {
			if at, ok = plainString(text, at); !ok {
				return at, false
			}
			if at = Space(text, at); at == len(text) || text[at] != ':' {
				return at, false
			}
			at = Space(text, at+1)
		}
		if at, ok = plain(text, at, depth-1); !ok {
			return at, false
		}
		at = Space(text, at)
		switch {
		case at == len(text):
			return at, false
		case text[at] == closing:
			return at + 1, true
		case text[at] != ',':
			return at, false
		}
		at = Space(text, at+1)
	}
}

func plainString(text string, at int) (end int, ok bool) {
	if at >= len(text) || text[at] != '"' {
		return at, false
	}
	for at++; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			return at + 1, true
		case c == '\\' || c < ' ':
			return at, false
		}
	}
	return at, false
}
