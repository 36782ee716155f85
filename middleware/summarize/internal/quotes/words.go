package quotes

import (
	_ "embed" // for words.txt
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed words.txt
var file string

// words has what words.txt contains.
var words = parse(file)

// lists are the lists of words.txt.
type lists struct {
	list     map[string]*list    // by name
	weights  map[string][]weight // points of single words
	phrases  map[string][]phrase // points of English phrases, by their first word
	weighted []phrase            // points of Chinese words
}

// weight is the number of points that a word gives, once for each kind.
type weight struct {
	kind   string
	points int
}

// phrase is a Chinese word, or the words of an English phrase after the first.
type phrase struct {
	text string
	rest []string
	weight
}

type list struct {
	words   map[string]bool
	phrases []string // Chinese, or whole words with a space before and after them
	all     []string
}

func parse(file string) lists {
	l := lists{list: map[string]*list{}, weights: map[string][]weight{}, phrases: map[string][]phrase{}}
	for line := range strings.Lines(file) {
		name, items, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		kind, points, _ := strings.Cut(name, " ")
		n, err := strconv.Atoi(points)
		if l.list[name] == nil {
			l.list[name] = &list{words: map[string]bool{}}
		}
		for item := range strings.SplitSeq(items, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			first, rest, several := strings.Cut(item, " ")
			switch {
			case err != nil:
				l.list[name].add(item)
			case !isASCII(item):
				l.weighted = append(l.weighted, phrase{text: item, weight: weight{kind, n}})
			case several:
				l.phrases[first] = append(l.phrases[first], phrase{rest: strings.Fields(rest), weight: weight{kind, n}})
			default:
				l.weights[item] = append(l.weights[item], weight{kind, n})
			}
		}
	}
	return l
}

func (l *list) add(item string) {
	l.words[item] = true
	l.all = append(l.all, item)
	switch {
	case !isASCII(item):
		l.phrases = append(l.phrases, item)
	case strings.Contains(item, " "):
		l.phrases = append(l.phrases, " "+item+" ")
	}
}

// has reports whether a word is in a list.
func (l *lists) has(name, word string) bool { return l.list[name].words[word] }

// in reports whether an item of a list occurs among words.
func (l *lists) in(name string, all []string) bool {
	if slices.ContainsFunc(all, func(w string) bool { return l.has(name, w) }) {
		return true
	}
	if len(l.list[name].phrases) == 0 {
		return false
	}
	padded := " " + strings.Join(all, " ") + " "
	return slices.ContainsFunc(l.list[name].phrases, func(p string) bool { return strings.Contains(padded, p) })
}

// cut returns a text without the item of a list with which it begins. After a word there is no letter.
func (l *lists) cut(name, text string) (rest string, ok bool) {
	for _, item := range l.list[name].all {
		if rest, ok = strings.CutPrefix(text, item); !ok {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest)
		if !unicode.IsLetter(next) || !isASCII(item) {
			return rest, true
		}
	}
	return text, false
}

// fields returns the words of a text in lower case.
func fields(low string) []string {
	return strings.FieldsFunc(low, func(r rune) bool { return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
