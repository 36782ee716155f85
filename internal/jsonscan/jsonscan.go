// Package jsonscan finds values in JSON text without decoding or copying it.
//
//	for key, value := range jsonscan.Members(text, 0) {
//		if jsonscan.Unquote(key.In(text)) == "path" { … value.In(text) … }
//	}
//
// Only [IsObject] and [Check] check whether the text is valid. The other functions expect valid
// JSON: for any other text they return some result, and never panic.
package jsonscan

import (
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

// skipString returns the position after the next quote that is not escaped.
func skipString(text string, at int) int {
	for first := at + 1; at < len(text); {
		quote := strings.IndexByte(text[at+1:], '"')
		if quote < 0 {
			break
		}
		at += 1 + quote
		escapes := at
		for escapes > first && text[escapes-1] == '\\' {
			escapes--
		}
		if (at-escapes)%2 == 0 {
			return at + 1
		}
	}
	return len(text)
}
