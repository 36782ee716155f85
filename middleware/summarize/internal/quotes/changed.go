package quotes

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// changed is before what the user has changed later.
const changed = "(changed later) "

var wordOrValue = regexp.MustCompile(`[\p{Latin}\p{N}_./@:$€£¥%-]+|\p{Han}`)

var digits, letters = regexp.MustCompile(`\p{Nd}+`), regexp.MustCompile(`\p{L}+`)

// subject is what a passage is about: its words, and its values, which are numbers, addresses, paths and names with a digit.
type subject struct{ words, values []string }

func (s *passage) subject() (about subject) {
	const longest, least = 200, 4 // bytes of a passage, and of a word in Latin script
	if s.code || s.mark != "" || len(s.text) > longest {
		return about
	}
	for _, t := range wordOrValue.FindAllString(strings.ToLower(s.text), -1) {
		switch t = strings.Trim(t, ".:-,"); {
		case strings.ContainsAny(t, "0123456789@/_$€£¥%"):
			about.values = append(about.values, t)
		case len(t) >= least || t != "" && t[0] >= utf8.RuneSelf:
			about.words = append(about.words, t)
		}
	}
	return about
}

// replaces reports whether a passage has another value for what an older one is about: both have one value, perhaps next to the
// old one, and of the words of the shorter one at least a half are in the other.
func (s subject) replaces(old subject) bool {
	without := func(all, others []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(others, one) })
	}
	fresh := without(s.values, old.values)
	if len(s.values) > 2 || len(old.values) != 1 || len(fresh) != 1 || form(fresh[0]) != form(old.values[0]) {
		return false
	}
	common := len(old.words) - len(without(old.words, s.words))
	return common > 0 && 2*common >= min(len(s.words), len(old.words))
}

// form returns a value with 0 for each number and a for each word.
func form(value string) string {
	return letters.ReplaceAllString(digits.ReplaceAllString(value, "0"), "a")
}

// markChanged marks what a later message replaces.
func (p *picker) markChanged() {
	subjects := make([]subject, len(p.all))
	for i := range p.all {
		subjects[i] = p.all[i].subject()
		if subjects[i].values == nil {
			continue
		}
		if said := read(p.all[i].text); !said.begins("no") && !said.has("change") || said.has("addition") {
			continue
		}
		for k := range p.said[p.all[i].of].from {
			if subjects[i].replaces(subjects[k]) && !strings.HasPrefix(p.all[k].text, changed) {
				p.all[k].mark = changed
			}
		}
	}
}
