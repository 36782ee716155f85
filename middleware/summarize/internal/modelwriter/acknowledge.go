package modelwriter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// rejectAcknowledgement rejects a short text that only confirms, such as "Understood." or "好的，我会继续": it has words that confirm
// and nothing of what it replaces. A promise ("Sure, I will fix it") without a value is one, too.
func (t limits) rejectAcknowledgement(text string) *RejectedError {
	folded := fold(text)
	if utf8.RuneCountInString(folded) >= short || len(t.sections) > 0 { // which say something
		return nil
	}
	confirms, atStart, all, others := confirmation(folded)
	promises := slices.ContainsFunc(phrases["promise"].Words, func(p string) bool { return strings.Contains(folded, p) }) &&
		!strings.ContainsAny(folded, "0123456789_/`\"“「")
	most := all / 3 // other words
	if atStart {
		most = (all - 1) / 2
	}
	if atStart && promises || confirms && len(others) <= most && !t.mentions(others) {
		return reject(NoSummary, "it is an acknowledgement: it says nothing of what it would replace")
	}
	return nil
}

// mentions reports whether one of some words, in lower case and with four bytes or more, occurs in what a text replaces.
func (r *Request) mentions(words []string) bool {
	const least = 4
	in := func(text string) bool {
		low := fold(text)
		return slices.ContainsFunc(words, func(w string) bool { return len(w) >= least && strings.Contains(low, w) })
	}
	for _, m := range r.Folded {
		for _, p := range m.Parts {
			if c, ok := p.(message.ToolCall); ok && in(c.Name+" "+c.Arguments) || in(shorten.Text(p)) {
				return true
			}
		}
	}
	return in(r.Earlier)
}

// confirmation returns whether a word of a text in lower case confirms, and whether that is the first one; the number of its
// words, and of its Chinese characters; and those that say something, of Chinese ones pairs.
func confirmation(folded string) (confirms, atStart bool, all int, others []string) {
	start := strings.TrimLeft(folded, markup)
	for _, list := range []string{"confirming", "filler"} {
		for _, p := range phrases[list].Words {
			if strings.ContainsFunc(p, lex.IsHan) && strings.Contains(folded, p) {
				confirms = confirms || list == "confirming"
				atStart = atStart || list == "confirming" && strings.HasPrefix(start, p)
				all += strings.Count(folded, p) * utf8.RuneCountInString(p)
				folded = strings.ReplaceAll(folded, p, strings.Repeat(" ", len(p)))
			}
		}
	}
	isOther := func(r rune) bool {
		return !strings.ContainsRune("'_", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for word := range strings.FieldsFuncSeq(folded, isOther) {
		runes := []rune(word)
		switch {
		case strings.ContainsFunc(word, lex.IsHan):
			all += len(runes)
			for i := range len(runes) - 1 {
				others = append(others, string(runes[i:i+2]))
			}
			continue
		case phrases["confirming"].Has(word):
			confirms = true
			atStart = atStart || strings.HasPrefix(start, word)
		case !phrases["filler"].Has(word):
			others = append(others, word)
		}
		all++
	}
	return confirms, atStart, all, others
}
