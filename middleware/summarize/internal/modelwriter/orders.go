package modelwriter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// verbatim returns the lines of a text that occur in some messages, apart from white space, and without a mark of a
// list and quotes around them. It rejects a text with lines of which none does.
func verbatim(listed string, msgs []message.Message) (string, *RejectedError) {
	var said, lines []string
	for _, m := range msgs {
		said = append(said, oneSpace(m.Text()))
	}
	all := 0
	for line := range strings.Lines(withoutFence(listed)) {
		line = oneSpace(line)
		if !visible(line) || slices.Contains(nothings, strings.TrimFunc(fold(line), isMark)) {
			continue
		}
		all++
		bare := strings.TrimLeftFunc(line, func(r rune) bool { return strings.ContainsRune("-*+•·>0123456789.)、 ", r) })
		for _, candidate := range []string{line, bare, strings.Trim(bare, "\"'`“”「」")} {
			if says(said, candidate) {
				lines = append(lines, candidate)
				break
			}
		}
	}
	switch {
	case lines == nil && all > 0:
		return "", reject(Malformed, "it is not verbatim: none of its %d lines is what the user wrote", all)
	case !visible(listed):
		return "", reject(Empty, "there is nothing visible")
	}
	return strings.Join(lines, "\n"), nil
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// says reports whether one of the texts contains a line of two words at least, or three
// Chinese characters, that neither begins nor ends inside a word.
func says(texts []string, line string) bool {
	if !utf8.ValidString(line) || !strings.Contains(line, " ") && len(line)-utf8.RuneCountInString(line) < 6 { // three Chinese characters
		return false
	}
	inWord := func(before, after string) bool {
		a, _ := utf8.DecodeLastRuneInString(before)
		b, _ := utf8.DecodeRuneInString(after)
		spaced := func(r rune) bool {
			return unicode.IsLetter(r) && !lex.IsHan(r) || unicode.IsDigit(r)
		}
		return spaced(a) && spaced(b)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		before, after, ok := strings.Cut(text, line)
		return ok && !inWord(before, line) && !inWord(line, after)
	})
}
