package quotes

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// isGap reports whether something is left out here.
func isGap(line string) bool { return strings.TrimSpace(line) == gap }

// gaps returns the positions of the first and the last passage of a message that say that something is left out, or -1.
func gaps(all []passage) (first, last int) {
	first, last = -1, -1
	for i := range all {
		if isGap(all[i].text) {
			first, last = cmp.Or(max(first, 0), i), i
		}
	}
	return first, last
}

// compare finds what distinguishes each passage from the others of a message, since a long one is mostly pasted: words that
// occur nowhere else in it, another language, a paragraph of its own, and that it speaks to someone.
func compare(all []passage) {
	const foreign, less = 1, 0.3 // are added to the share of words
	inAll, spoken, n := map[string]int{}, map[string]int{}, 0
	for i := range all {
		countWords(inAll, all[i].text)
		if s := &all[i]; !s.code {
			s.language = language(s.text)
			spoken[s.language]++
			n++
		}
	}
	for i := range all {
		s, own, only := &all[i], map[string]int{}, 0
		countWords(own, s.text)
		for w, k := range own {
			if inAll[w] == k {
				only++
			}
		}
		s.strange = float64(only) / float64(max(1, len(own)))
		if s.code {
			continue
		}
		if 4*spoken[s.language] < n && s.language != "" {
			s.strange, s.own = s.strange+foreign, true
		}
		if stands(all, i) {
			s.strange, s.own = s.strange+less, true
		}
		if said := read(s.text); said.has("person") || said.begins("imperative") || endsIn(s.text, "?", "？") && said.has("polite") {
			s.strange, s.own = s.strange+less, true
		}
	}
}

// stands reports whether a passage stands alone: between blank lines, or between code or lists.
func stands(all []passage, i int) bool {
	if i == 0 || i == len(all)-1 || all[i].list {
		return false
	}
	before, after := &all[i-1], &all[i+1]
	isBlank := strings.HasSuffix(before.text, "\n\n") && strings.HasSuffix(all[i].text, "\n\n") && !strings.HasPrefix(all[i].text, "#")
	return isBlank || (before.code || before.list) && (after.code || after.list)
}

// language returns the script of most letters, or for Latin letters the language of most of the words that are in a list. It
// returns "" if it is not known.
func language(said string) string {
	scripts := map[string]int{}
	for _, r := range said {
		switch {
		case !unicode.IsLetter(r) || unicode.Is(unicode.Latin, r):
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			scripts["kana"] += 3
		case unicode.Is(unicode.Han, r):
			scripts["Han"]++
		case unicode.Is(unicode.Hangul, r):
			scripts["Hangul"]++
		default:
			scripts["other"]++
		}
	}
	if len(scripts) == 0 {
		words := " " + strings.Join(word.FindAllString(strings.ToLower(said), -1), " ") + " "
		for _, l := range []string{"de", "en", "es", "fr", "it", "pt"} {
			for _, w := range lists["words "+l] {
				scripts[l] += strings.Count(words, w)
			}
		}
	}
	best, most := "", 0
	for _, l := range []string{"kana", "Han", "Hangul", "other", "de", "en", "es", "fr", "it", "pt"} {
		switch n := scripts[l]; {
		case n > most:
			best, most = l, n
		case n == most:
			best = ""
		}
	}
	return best
}

// wantStrange marks what is strange in the middle of a long message, as far as there is room for it: a paste repeats its
// words, and what the user adds to it has others. Rules follow.
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
