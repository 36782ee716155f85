package quotes

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// changed is before what the user has changed later.
const changed = "(changed later) "

var (
	// changes matches the words by which a sentence shows that it replaces an earlier one, adds those by which it adds to one.
	changes = regexp.MustCompile(`(?i)\b(?:actually|correction|instead|rather than|no longer|any ?more|changed? (?:to|my mind)|` +
		`switch(?:ed)? to|make (?:that|it)|i meant|sorry|from (?:now|here) on|after all|moved to|new|now)\b|^no, |` +
		`\b(?:en vez de|mejor|ahora|statt|doch|jetzt|plutôt|finalement)\b|` +
		`不对|改成|改为|改在|改用|换成|更正|说错|应该是|推迟到|提前到|不再|不能再|现在|从现在起|以后|还是|訂正|ではなく|に変更`)
	adds = regexp.MustCompile(`(?i)\b(?:also|too|another|as well|second|other|auch|también|aussi)\b|也|还有|另|第二`)

	wordOrValue     = regexp.MustCompile(`[\p{Latin}\p{N}_./@:$€£¥%-]+|\p{Han}`)
)

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

// replaces reports whether a passage has another value for what an older one is about: both have one value of the same form,
// perhaps next to the old one, and of the words of the shorter one at least a half are in the other.
func (s subject) replaces(old subject) bool {
	fresh := slices.DeleteFunc(slices.Clone(s.values), func(v string) bool { return slices.Contains(old.values, v) })
	if len(s.values) > 2 || len(fresh) != 1 || len(old.values) != 1 {
		return false
	}
	others := slices.DeleteFunc(slices.Clone(old.words), func(w string) bool { return slices.Contains(s.words, w) })
	common := len(old.words) - len(others)
	return common > 0 && 2*common >= min(len(s.words), len(old.words))
}

// markChanged marks what a later message replaces.
func (p *picker) markChanged() {
	subjects := make([]subject, len(p.all))
	for i := range p.all {
		subjects[i] = p.all[i].subject()
		if subjects[i].values == nil || !changes.MatchString(p.all[i].text) || adds.MatchString(p.all[i].text) {
			continue
		}
		for k := range p.said[p.all[i].of].from {
			if subjects[i].replaces(subjects[k]) && !strings.HasPrefix(p.all[k].text, changed) {
				p.all[k].mark = changed
			}
		}
	}
}
