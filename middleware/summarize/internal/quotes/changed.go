package quotes

import (
	"regexp"
	"slices"
	"strings"
)

// changed is before what the user has changed later.
const changed = "(changed later) "

// changes matches the words by which a sentence shows that it replaces an earlier one.
var changes = regexp.MustCompile(`(?i)\b(?:actually|correction|instead|rather than|no longer|any ?more|changed? (?:to|my mind)|` +
	`switch(?:ed)? to|make (?:that|it)|i meant|sorry|from (?:now|here) on|after all|moved to|new|now)\b|^no, |` +
	`\b(?:en vez de|mejor|ahora|statt|doch|jetzt|plutôt|finalement)\b|` +
	`不对|改成|改为|改在|改用|换成|更正|说错|应该是|推迟到|提前到|不再|不能再|现在|从现在起|以后|还是|訂正|ではなく|に変更`)

// adds matches the words by which a sentence shows that it adds to an earlier one.
var adds = regexp.MustCompile(`(?i)\b(?:also|too|another|as well|second|other|auch|también|aussi)\b|也|还有|另|第二`)

var wordOrValue = regexp.MustCompile(`[\p{Latin}\p{N}_./@:$€£¥%-]+|\p{Han}`)

// subject is what a sentence is about: its words, and its values, which are numbers, addresses, paths and names with a digit.
type subject struct{ words, values []string }

func subjectOf(sentence string) (s subject) {
	for _, t := range wordOrValue.FindAllString(lower(sentence), -1) {
		switch t = strings.Trim(t, ".:-,"); {
		case t == "":
		case strings.ContainsAny(t, "0123456789@/_$€£¥%"):
			s.values = append(s.values, t)
		case len(t) >= 4 || t[0] >= 0x80:
			s.words = append(s.words, t)
		}
	}
	return s
}

// replaces reports whether a sentence has another value for what an older one is about: both have one value of the same form,
// perhaps next to the old one, and of the words of the shorter one at least a half are in the other.
func (s subject) replaces(old subject) bool {
	fresh := slices.DeleteFunc(slices.Clone(s.values), func(v string) bool { return slices.Contains(old.values, v) })
	if len(fresh) != 1 || len(old.values) != 1 || form(fresh[0]) != form(old.values[0]) {
		return false
	}
	common := 0
	for _, w := range old.words {
		common += count(slices.Contains(s.words, w))
	}
	return common > 0 && 2*common >= min(len(s.words), len(old.words))
}

var digits, letters = regexp.MustCompile(`\p{Nd}+`), regexp.MustCompile(`\p{L}+`)

// form returns a value with 0 for each number and a for each word.
func form(value string) string {
	return letters.ReplaceAllString(digits.ReplaceAllString(value, "0"), "a")
}

// markChanged marks sentences that a later message replaces.
func (p *picker) markChanged() {
	const longest = 200 // bytes of a sentence
	subjects := map[int]subject{}
	for i, s := range p.all {
		if short := !s.code && len(s.text) <= longest; short && s.mark == "" {
			if sub := subjectOf(s.text); len(sub.values) > 0 && len(sub.values) <= 2 {
				subjects[i] = sub
			}
		}
	}
	for i := range p.all {
		is, ok := subjects[i]
		if !ok || !changes.MatchString(p.all[i].text) || adds.MatchString(p.all[i].text) {
			continue
		}
		for k := range i {
			if old, ok := subjects[k]; ok && p.all[k].of < p.all[i].of && !strings.HasPrefix(p.all[k].text, changed) && is.replaces(old) {
				p.all[k].mark = changed
			}
		}
	}
}
