package modelwriter

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// acknowledges rejects a short text that only confirms, such as "Understood." or
// "好的，我会继续": it has words that confirm and few that say something. A promise
// ("Sure, I will fix it") without a value is one, too.
func (t limits) acknowledges(text string) *RejectedError {
	folded := fold(text)
	if utf8.RuneCountInString(folded) >= short || len(t.sections) > 0 { // which say something
		return nil
	}
	promises := !strings.ContainsAny(folded, "0123456789_/`\"“「") &&
		slices.ContainsFunc(phrases()["promise"], func(p string) bool { return strings.Contains(folded, p) })
	all, others, confirms, begins := 0, 0, false, false
	isOther := func(r rune) bool {
		return !strings.ContainsRune("'_", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for i, word := range strings.FieldsFunc(inWords().Replace(folded), isOther) {
		n := 1
		switch {
		case slices.Contains(phrases()["confirming"], word):
			confirms, begins = true, begins || i == 0
		case isHan(word):
			n = utf8.RuneCountInString(word)
			others += n
		case !slices.Contains(phrases()["filler"], word):
			others++
		}
		all += n
	}
	most := min(all/3, 4) // other words
	if begins {
		most = min((all-1)/2, 4)
	}
	if promises && begins || confirms && others <= most {
		return reject(NoSummary, "it is an acknowledgement: it says nothing of what it would replace")
	}
	return nil
}

// inWords writes the Chinese phrases of the lists as English words, one for each character.
var inWords = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, l := range [...][2]string{{"confirming", " ok"}, {"filler", " the"}} { // of phrases at one place, the first counts
		for _, p := range phrases()[l[0]] {
			if isHan(p) {
				pairs = append(pairs, p, strings.Repeat(l[1], utf8.RuneCountInString(p))+" ")
			}
		}
	}
	return strings.NewReplacer(pairs...)
})

func isHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
