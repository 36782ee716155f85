package text

import (
	"iter"
	"regexp"
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

// item matches the mark of a list item; 1.先 has no space after it.
var item = regexp.MustCompile(`^(?:[-*+•·–] |•|[(（]?\d{1,3}(?:[.)] |[、）．]|\.[\p{Han}\p{Hiragana}\p{Katakana}]))`)

// MarkOf returns the bytes of the mark of a list item at the beginning of a line: "- ", "1. ", "（1）".
func MarkOf(bare string) int {
	if bare == "" || strings.IndexByte("-*+(0123456789", bare[0]) < 0 && bare[0] < utf8.RuneSelf {
		return 0
	}
	mark := item.FindString(bare)
	return len(strings.TrimRightFunc(mark, lex.IsHan))
}
