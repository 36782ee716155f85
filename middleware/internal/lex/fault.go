package lex

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// faults begin the message of an error, alone or as the end of a name such as KeyError.
var faults = strings.Fields("error exception fatal panic failed failure erreur échec fehler ошибка 오류 错误 失败 异常 エラー")

// isMessage reports whether a text can be an error message, rather than a flag, a format string or a part of a program.
func isMessage(said string) bool {
	inText := func(r rune) bool { return r == ' ' || unicode.IsLetter(r) }
	return strings.IndexByte("=,;|&<>)", said[0]) < 0 && strings.IndexByte(",:;{([=|+\\", said[len(said)-1]) < 0 &&
		strings.ContainsFunc(said, inText) && !IsFlag(strings.TrimRight(said, ".")) &&
		!HasFormat(said)
}

// FaultAt returns the message of an error whose first word ends at i, and where it begins. The word is before a colon or
// bracket, or is in capital letters, or begins a line. The message ends with the line, or with the string that it is in; the
// word alone is a message, too. It is "" without an error.
func FaultAt(text string, i int) (from int, msg string) {
	const longest = 200 // bytes
	rest := text[i:]
	if rest == "" || rest[0] != ' ' && rest[0] != ':' && rest[0] != ']' && !strings.HasPrefix(rest, "：") || strings.HasPrefix(rest, "::") {
		return 0, ""
	}
	from = faultBefore(text, i)
	begins := from == 0 || text[from-1] == '\n'
	if rest[0] == ' ' && text[i-1] > 'Z' && !begins || !isFault(text[from:i]) {
		return 0, ""
	}
	rest, _, _ = strings.Cut(rest[:min(len(rest), longest)], "\n")
	if !begins && strings.IndexByte("\"'`", text[from-1]) >= 0 {
		rest, _, _ = strings.Cut(rest, text[from-1:from])
	}
	rest = strings.TrimRight(rest, " ")
	if said := strings.TrimLeft(rest, " :：]"); said == "" || isMessage(said) {
		return from, text[from : i+len(rest)]
	}
	return 0, ""
}

// faultBefore returns where the word begins that ends at i, or i if it cannot mark an error.
func faultBefore(text string, i int) (from int) {
	const longest = 60 // bytes
	switch text[i-1] | 0x20 {
	case 'c', 'd', 'e', 'l', 'n', 'r': // the last letters of the words in ASCII
	default:
		if text[i-1] < utf8.RuneSelf {
			return i
		}
	}
	for from = i; from > 0 && from > i-longest && text[from-1] > ' '; from-- {
		switch text[from-1] {
		case '"', '\'', '`', '(', '[':
			return from
		}
	}
	return from
}

// isFault reports whether a word marks an error: it ends with one of the words, but is no terror.
func isFault(word string) bool {
	return slices.ContainsFunc(faults, func(f string) bool {
		k := len(word) - len(f)
		return k >= 0 && strings.EqualFold(word[k:], f) && (k == 0 || word[k] <= 'Z' || word[k] >= utf8.RuneSelf || !InName(word, k-1))
	})
}
