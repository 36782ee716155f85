package claims

import (
	_ "embed" // for words.txt
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

//go:embed words.txt
var file string

// The lists of words.txt.
var (
	lists = parse(file)

	months, weekdays, numerals, multipliers = numbers("month"), numbers("weekday"), numbers("numeral"), numbers("multiplier")

	currencies                        = lists["currency"].words
	approximate, labels, ago, counted = lists["approximate"], lists["label"], lists["ago"], lists["counted"]
	known, fileEnds, scripts, vague   = lists["known"], lists["file"], lists["script"], lists["vague"]
	subjects, endings, outcomes       = lists["subject"], lists["ending"], lists["outcome"]
	negations, joints                 = lists["negation"], lists["joint"]
	sums, assent, plain, wrote        = lists["sum"], lists["assent"], lists["plain"], lists["wrote"]
	between, title, condition         = lists["between"], lists["title"], lists["condition"]
	refusal, runners, timed           = lists["refusal"], lists["runner"], lists["timed"]
	opening, past, present            = lists["open"], lists["past"], lists["present"]
)

// list is a list of words, with what they mean.
type list struct {
	words map[string]string // a word of several lines has the meaning of the last one
	all   []meaning         // in order
}

type meaning struct{ word, of string }

func (l *list) has(word string) bool {
	_, ok := l.words[word]
	return ok
}

// in yields the meanings of the Chinese words that are in a text, in order.
func (l *list) in(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, m := range l.all {
			if m.word[0] >= utf8.RuneSelf && strings.Contains(text, m.word) && !yield(m.of) {
				return
			}
		}
	}
}

func parse(file string) map[string]*list {
	all := map[string]*list{}
	for line := range strings.Lines(file) {
		head, words, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		name, of, _ := strings.Cut(head, " ")
		l := all[name]
		if l == nil {
			l = &list{words: map[string]string{}}
			all[name] = l
		}
		for w := range strings.FieldsSeq(words) {
			l.words[w] = of
			l.all = append(l.all, meaning{w, of})
		}
	}
	return all
}

// numbers returns what the words of a list mean, as a number.
func numbers(name string) map[string]float64 {
	m := map[string]float64{}
	for _, u := range lists[name].all {
		m[u.word] = unitOf(u.of).size
	}
	return m
}

// unit is a dimension, with the size of the unit in it.
type unit struct {
	dimension string
	size      float64
}

func unitOf(of string) unit {
	size, dimension, _ := strings.Cut(of, " ")
	v, err := strconv.ParseFloat(size, 64)
	if err != nil {
		panic("claims: words.txt: " + err.Error())
	}
	return unit{dimension, v}
}

// units are the units by name. A name may have several.
var units = func() map[string][]unit {
	all := map[string][]unit{}
	for _, m := range lists["unit"].all {
		all[m.word] = append(all[m.word], unitOf(m.of))
	}
	for _, m := range lists["currency"].all {
		all[m.word] = []unit{{m.of, 1}}
	}
	return all
}()

// unitsOf returns the units of a name, or nil.
func unitsOf(name string) []unit { return units[strings.ToLower(name)] }
