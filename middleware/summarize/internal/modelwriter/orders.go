package modelwriter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// verbatim returns the lines of an answer that occur in texts of the user, apart from white space, and without a mark of a
// list and quotes around them. It rejects an answer with lines of which none does.
func verbatim(answer string, said []string) (lines []string, r *RejectedError) {
	all := 0
	for line := range strings.Lines(withoutFence(answer)) {
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
	case len(lines) > 0:
		return lines, nil
	case all > 0:
		return nil, reject(Malformed, "it is not verbatim: none of its %d lines is what the user wrote", all)
	case !visible(answer):
		return nil, reject(Empty, "there is nothing visible")
	}
	return nil, nil
}

// said returns the texts of messages with single spaces.
func said(msgs []message.Message) (texts []string) {
	for _, m := range msgs {
		texts = append(texts, oneSpace(m.Text()))
	}
	return texts
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
