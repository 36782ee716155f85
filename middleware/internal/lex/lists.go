package lex

import (
	_ "embed" // for words.txt
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// List is a list of words or phrases. It must not be modified.
type List struct {
	Words []string // in the order of the file
	Means []string // what each of them means, or ""

	means map[string]string // a word of several lines has the meaning of the last one
}

// Lists returns the lists of a file by name. A line of it has a name, perhaps = and what the words mean, a colon and the words
// with sep between them. A list may have several lines. Lines without a colon or with # at the beginning do not count.
func Lists(file, sep string) map[string]*List {
	all := map[string]*List{}
	for line := range strings.Lines(file) {
		head, words, ok := strings.Cut(line, ":")
		if !ok || line[0] == '#' {
			continue
		}
		name, meaning, _ := strings.Cut(head, "=")
		l := all[name]
		if l == nil {
			l = &List{means: map[string]string{}}
			all[name] = l
		}
		for w := range strings.SplitSeq(words, sep) {
			w = strings.TrimSpace(w)
			if w != "" {
				l.Words, l.Means = append(l.Words, w), append(l.Means, meaning)
				l.means[w] = meaning
			}
		}
	}
	return all
}

// Pattern is a line of a file of patterns.
type Pattern struct {
	*regexp.Regexp

	Stem, Example string // a text that each match contains, or ""; a match
}

// Patterns returns the patterns of a file by their kind. A line of it has the kind, the stem, the pattern and the example,
// divided by tabs. Lines with # at the beginning do not count.
func Patterns(file string) map[string][]*Pattern {
	all := map[string][]*Pattern{}
	for line := range strings.Lines(file) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4); line[0] != '#' { //nolint:mnd // its columns
			all[f[0]] = append(all[f[0]], &Pattern{regexp.MustCompile(f[2]), f[1], f[3]})
		}
	}
	return all
}

// Has reports whether a word is in the list.
func (l *List) Has(word string) bool {
	_, ok := l.means[word]
	return ok
}

// Of returns what a word means, or "" if it is not in the list.
func (l *List) Of(word string) string { return l.means[word] }

// Begins reports whether a text begins with a word of the list, as a whole word.
func (l *List) Begins(text string) bool {
	return slices.ContainsFunc(l.Words, func(w string) bool { return strings.HasPrefix(text, w) && !SplitsWord(text, len(w)) })
}

// Numbers returns what the words mean, as numbers. It panics if a word means none.
func (l *List) Numbers() map[string]float64 {
	m := map[string]float64{}
	for i, w := range l.Words {
		m[w] = unitOf(l.Means[i]).Size
	}
	return m
}

// In yields the meanings of the words that a text has anywhere, such as Chinese ones, in the order of the list. Words in Latin
// script are not looked for.
func (l *List) In(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, w := range l.Words {
			if w[0] >= utf8.RuneSelf && strings.Contains(text, w) && !yield(l.Means[i]) {
				return
			}
		}
	}
}

//go:embed words.txt
var file string

// The lists of words.txt.
var (
	lists = Lists(file, " ")

	months, weekdays         = lists["month"].Numbers(), lists["weekday"].Numbers()
	multipliers, approximate = lists["multiplier"].Numbers(), lists["approximate"]
	labels, known            = lists["label"], lists["known"]
	timed, currencies        = lists["timed"], lists["currency"]
)

// Unit is a dimension, with the size of the unit in it.
type Unit struct {
	Dimension string
	Size      float64
}

func unitOf(of string) Unit {
	size, dimension, _ := strings.Cut(of, " ")
	v, err := strconv.ParseFloat(size, 64)
	if err != nil {
		panic("lex: a list has no number: " + err.Error())
	}
	return Unit{dimension, v}
}

// units are the units by name. All currencies have one dimension: tools return amounts without any.
var units = func() map[string][]Unit {
	all := map[string][]Unit{}
	for i, w := range lists["unit"].Words {
		all[w] = append(all[w], unitOf(lists["unit"].Means[i]))
	}
	for _, w := range currencies.Words {
		all[w] = []Unit{{"money", 1}}
	}
	return all
}()
