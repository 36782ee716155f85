package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// Pieces yields the sentences of a text as they are, also in code and tables, each with the mark of its item and the space
// after it: together they are the text. A sentence ends with its line.
func Pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			bare := strings.TrimLeft(line, " \t")
			from, at := 0, len(line)-len(bare)+MarkOf(bare)
			for end := range ends(line[at:]) {
				to := len(line) - len(strings.TrimLeft(line[at+end:], " \t\r\n"))
				if !yield(line[from:to]) {
					return
				}
				from = to
			}
			if from < len(line) && !yield(line[from:]) {
				return
			}
		}
	}
}

// ends yields where the sentences of a paragraph end, but for the last one if it has no mark.
func ends(par string) iter.Seq[int] {
	return func(yield func(int) bool) {
		from := 0
		for i, r := range par {
			if i < from || !isEnd(r) {
				continue
			}
			end := afterMarks(par, i+utf8.RuneLen(r))
			if r >= utf8.RuneSelf || endsHere(par[from:i], par[end:], r) {
				if !yield(end) {
					return
				}
				from = end
			}
		}
	}
}

// afterMarks returns the end of marks such as …?!」.
func afterMarks(par string, end int) int {
	for end < len(par) {
		next, size := utf8.DecodeRuneInString(par[end:])
		if !isEnd(next) && !strings.ContainsRune(`"'”’」』）)】]*`, next) {
			break
		}
		end += size
	}
	return end
}

func isEnd(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '｡':
		return true
	}
	return false
}

// endsHere reports whether a mark ends a sentence, unlike the dot in main.go, e.g. and
// 1.5.
func endsHere(before, after string, mark rune) bool {
	if after == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	if lex.IsHan(next) {
		return mark != '.' || after[0] == ' '
	}
	if after[0] != ' ' {
		return false
	}
	if mark != '.' {
		return true
	}
	word := before[strings.LastIndexAny(before, " (")+1:]
	return !unicode.IsLower(next) && !isAbbreviation(word)
}

func isAbbreviation(word string) bool {
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "no", "fig", "approx", "incl", "max", "min", "ca", "bzw", "z.b", "p.ej":
		return true
	case "mr", "mrs", "ms", "dr", "st":
		return word != strings.ToLower(word) // "Ms. Kaya", but "below 300 ms."
	}
	return false
}

// MarkOf returns the bytes of the mark of a list item at the beginning of a line: "- ", "1. ", "（1）".
func MarkOf(bare string) int {
	for _, mark := range [...]string{"- ", "* ", "+ ", "• ", "· ", "•", "– "} {
		if strings.HasPrefix(bare, mark) {
			return len(mark)
		}
	}
	inner := strings.TrimPrefix(strings.TrimPrefix(bare, "("), "（")
	digits := len(inner) - len(strings.TrimLeft(inner, "0123456789"))
	if digits == 0 || digits > 3 {
		return 0
	}
	rest := inner[digits:]
	for _, mark := range [...]string{". ", ") ", "、", "）", "．"} {
		if strings.HasPrefix(rest, mark) {
			return len(bare) - len(rest) + len(mark)
		}
	}
	// 1.先 has no space after the mark.
	if r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, ".")); rest[:min(1, len(rest))] == "." && lex.IsHan(r) {
		return len(bare) - len(rest) + 1
	}
	return 0
}
