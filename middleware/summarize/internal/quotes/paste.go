package quotes

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// compare finds how much each passage of a long message, most of which is pasted, differs from the others: by words that occur
// nowhere else in it, and since it speaks to someone.
func compare(all []passage) {
	const speaking = 0.3                           // is added to the share of words
	in, last := map[string]int{}, map[string]int{} // in how many passages a word is, and the last one
	words := make([][]string, len(all))
	for i, s := range all {
		words[i] = word.FindAllString(strings.ToLower(s.text), -1)
		for _, w := range words[i] {
			if last[w] <= i {
				in[w], last[w] = in[w]+1, i+1
			}
		}
	}
	for i := range all {
		s, others := &all[i], slices.DeleteFunc(slices.Clone(words[i]), func(w string) bool { return in[w] == 1 })
		s.strange = float64(len(words[i])-len(others)) / float64(max(1, len(words[i])))
		if s.code {
			continue
		}
		said := read(s.text)
		if said.has("person") || said.begins("imperative") || endsIn(s.text, "?", "？") && said.has("polite") {
			s.strange, s.own = s.strange+speaking, true
		}
	}
}

// wantStrange marks what is strange in the middle of a long message, and rules, as far as there is room for them: a paste
// repeats its words, and what the user adds to it has others.
func wantStrange(all []passage) {
	const least = 0.4
	var strange []*passage
	for i := range all {
		if s := &all[i]; !s.wanted && !s.code && (s.strange >= least || judge(s.text) >= rule) {
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

// word matches a word, or a Chinese character.
var word = regexp.MustCompile(`\p{Han}|[\p{L}\p{M}'’-]+`)
