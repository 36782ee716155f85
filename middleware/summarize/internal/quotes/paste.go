package quotes

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// compare finds how much each passage of a long message, most of which is pasted, differs from the others: by words that occur
// nowhere else in it, by its language, since it stands between blank lines or code, and since it speaks to someone.
func compare(all []passage) {
	const foreign, less, quarter = 1, 0.3, 4 // are added to the share of words; a language of more passages is not foreign
	inAll, spoken := map[string]int{}, map[string]int{}
	languages := make([]string, len(all))
	for i, s := range all {
		countWords(inAll, s.text)
		if !s.code {
			languages[i] = language(s.text)
		}
		spoken[languages[i]]++
	}
	for i := range all {
		s, words, own := &all[i], map[string]int{}, 0
		countWords(words, s.text)
		for w, k := range words {
			if inAll[w] == k {
				own++
			}
		}
		s.strange = float64(own) / float64(max(1, len(words)))
		if s.code {
			continue
		}
		said := read(s.text)
		speaks := said.has("person") || said.begins("imperative") || endsIn(s.text, "?", "？") && said.has("polite")
		isForeign := languages[i] != "" && quarter*spoken[languages[i]] < len(all)-spoken[""]
		if s.own = isForeign; isForeign {
			s.strange += foreign
		}
		if speaks || stands(all, i) {
			s.strange, s.own = s.strange+less, true
		}
	}
}

// stands reports whether a passage is alone between blank lines, or between code or lists.
func stands(all []passage, i int) bool {
	if i == 0 || i == len(all)-1 || all[i].list {
		return false
	}
	s, before, after := &all[i], &all[i-1], &all[i+1]
	isBlank := strings.HasSuffix(before.text, "\n\n") && strings.HasSuffix(s.text, "\n\n") && s.text[0] != '#'
	return isBlank || (before.code || before.list) && (after.code || after.list)
}

// language returns the list of frequent words of which a text has most, or "" if it has none, or as many of two.
func language(said string) (best string) {
	words, most := " "+strings.Join(word.FindAllString(strings.ToLower(said), -1), " ")+" ", 0
	for name, items := range lists {
		n := 0
		for _, w := range items {
			if strings.HasPrefix(name, "words ") {
				n += strings.Count(words, w)
			}
		}
		if n > most {
			best, most = name, n
		} else if n == most {
			best = ""
		}
	}
	return best
}

// wantStrange marks what is strange in the middle of a long message, and rules, as far as there is room for them: a paste
// repeats its words, and what the user adds to it has others.
func wantStrange(all []passage) {
	const least = 0.4
	var strange []*passage
	for i := range all {
		if s := &all[i]; !s.wanted && !s.code && (s.strange >= least || judge(s.text) == rule) {
			strange = append(strange, s)
		}
	}
	slices.SortStableFunc(strange, func(a, b *passage) int { return cmp.Compare(b.strange, a.strange) })
	room := middle
	for _, s := range strange {
		if s.wanted = s.cost <= room; s.wanted {
			room -= s.cost
		}
	}
}

var word = regexp.MustCompile(`\p{Han}|[\p{L}\p{M}'’-]+`)

// countWords adds the words, and the Chinese characters, of a text.
func countWords(n map[string]int, said string) {
	for _, w := range word.FindAllString(strings.ToLower(said), -1) {
		n[w]++
	}
}
