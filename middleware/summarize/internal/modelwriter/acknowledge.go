package modelwriter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
)

// source is what a text summarises.
type source struct {
	messages []message.Message
	earlier  string // an earlier summary, or ""
}

// has reports whether one of the words, in lower case, occurs in the source.
func (s source) has(words []string) bool {
	in := func(text string) bool {
		low := fold(text)
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	if len(words) == 0 {
		return false
	}
	for i := range s.messages {
		for _, p := range s.messages[i].Parts {
			switch p := p.(type) {
			case message.Text:
				if in(p.Text) {
					return true
				}
			case message.ToolCall:
				if in(p.Name + " " + p.Arguments) {
					return true
				}
			case message.ToolResult:
				if in(p.Text) {
					return true
				}
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	return in(s.earlier)
}

// acknowledges rejects a short text that only confirms, such as "Understood." or
// "好的，我会继续": it has words that confirm and nothing of the source. A promise
// ("Sure, I will fix it") without a value is one, too.
func (t limits) acknowledges(text string) *RejectedError {
	folded := []rune(fold(text))
	if len(folded) >= short || len(t.sections) > 0 { // which say something
		return nil
	}
	a := confirmation(string(folded))
	most := a.all / 3 // other words
	if a.atStart {
		most = (a.all - 1) / 2
	}
	promised := a.promises && a.atStart && !a.values
	if !promised && (!a.confirms || a.others > most || t.source.has(a.content)) {
		return nil
	}
	return reject(NoSummary, "it is an acknowledgement: it says nothing of what it would replace")
}

// confirming describes a text by its words.
type confirming struct {
	confirms bool     // a word confirms
	atStart  bool     // it is the first one
	promises bool     // it announces what the speaker will do
	values   bool     // it has a digit, a path, an identifier or a quotation
	all      int      // words, and Chinese characters
	others   int      // of these: those that are in no list
	content  []string // of these: words that can be looked up
}

// confirmation returns the words of a text in lower case.
func confirmation(folded string) (a confirming) {
	a.values = strings.ContainsAny(folded, "0123456789_/`\"“「")
	for _, p := range phrases()["promise"] {
		a.promises = a.promises || strings.Contains(folded, p)
	}
	isOther := func(r rune) bool {
		return !strings.ContainsRune("'_", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for i, word := range strings.FieldsFunc(withoutHan(folded, &a), isOther) {
		switch {
		case slices.Contains(phrases()["confirming"], word):
			a.atStart = a.atStart || i == 0 && a.all == 0
			a.confirms = true
		case !slices.Contains(phrases()["filler"], word):
			a.other(word)
		}
		a.all++
	}
	return a
}

// withoutHan counts the Chinese characters of a text, and returns it without them.
func withoutHan(folded string, a *confirming) string {
	isHan := func(r rune) bool { return unicode.Is(unicode.Han, r) }
	first := strings.IndexFunc(folded, unicode.IsLetter)
	for i, list := range []string{"confirming", "filler"} {
		for _, p := range phrases()[list] {
			if !strings.ContainsFunc(p, isHan) {
				continue
			}
			if i == 0 && strings.Contains(folded, p) {
				a.confirms = true
				a.atStart = a.atStart || strings.HasPrefix(folded[max(first, 0):], p)
			}
			a.all += strings.Count(folded, p) * utf8.RuneCountInString(p)
			folded = strings.ReplaceAll(folded, p, strings.Repeat(" ", len(p)))
		}
	}
	for _, run := range strings.FieldsFunc(folded, func(r rune) bool { return !isHan(r) }) {
		a.all += utf8.RuneCountInString(run)
		a.others += utf8.RuneCountInString(run)
		characters := []rune(run)
		for i := range len(characters) - 1 {
			a.content = append(a.content, string(characters[i:i+2]))
		}
	}
	return strings.Map(func(r rune) rune {
		if isHan(r) {
			return ' '
		}
		return r
	}, folded)
}

// other counts a word that is in no list.
func (a *confirming) other(word string) {
	const least = 4 // letters of a word that is looked up; shorter ones are in others
	a.others++
	if utf8.RuneCountInString(word) >= least || strings.ContainsFunc(word, unicode.IsDigit) {
		a.content = append(a.content, word)
	}
}
