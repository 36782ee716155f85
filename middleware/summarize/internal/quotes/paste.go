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
	const quarter = 4                                                        // of the passages: a language of more is not foreign
	added := [...]float64{0.3, 0.3, 1}                                       // to the share of words
	in, last, spoken := map[string]int{}, map[string]int{}, map[string]int{} // in how many passages a word is, and the last one
	words, languages := make([][]string, len(all)), make([]string, len(all))
	for i, s := range all {
		words[i] = word.FindAllString(strings.ToLower(s.text), -1)
		for _, w := range words[i] {
			if last[w] <= i {
				in[w], last[w] = in[w]+1, i+1
			}
		}
		if !s.code {
			languages[i] = language(words[i])
		}
		spoken[languages[i]]++
	}
	for i := range all {
		s, others := &all[i], slices.DeleteFunc(slices.Clone(words[i]), func(w string) bool { return in[w] == 1 })
		s.strange = float64(len(words[i])-len(others)) / float64(max(1, len(words[i])))
		if s.code {
			continue
		}
		said := read(s.text)
		speaks := said.has("person") || said.begins("imperative") || endsIn(s.text, "?", "？") && said.has("polite")
		isForeign := languages[i] != "" && quarter*spoken[languages[i]] < len(all)-spoken[""]
		for reason, is := range []bool{speaks, stands(all, i), isForeign} {
			if is {
				s.strange, s.own = s.strange+added[reason], true
			}
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
func language(words []string) (best string) {
	said, most := " "+strings.Join(words, " ")+" ", 0
	for name, items := range lists {
		n := 0
		for k := 0; k < len(items) && strings.HasPrefix(name, "words "); k++ {
			n += strings.Count(said, items[k])
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
		if s := &all[i]; !s.wanted && !s.code && (s.strange >= least || judge(s.text) >= rule) {
			strange = append(strange, s)
		}
	}
	slices.SortStableFunc(strange, func(a, b *passage) int { return cmp.Compare(b.strange, a.strange) })
	room := middle
	for _, s := range strange {
		s.wanted = s.cost <= room
		if s.wanted {
			room -= s.cost
		}
	}
}

// word matches a word, or a Chinese character.
var word = regexp.MustCompile(`\p{Han}|[\p{L}\p{M}'’-]+`)
