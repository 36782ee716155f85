package quotes

import (
	_ "embed" // for words.txt
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed words.txt
var file string

// words has what words.txt contains.
var words = parseLists(file)

type lists struct{ list map[string]*list } // by name

type list struct {
	all     []string
	words   map[string]bool
	phrases map[string][][]string // by their first word
	inside  []string              // of scripts without spaces
}

func parseLists(file string) lists {
	l := lists{list: map[string]*list{}}
	for line := range strings.Lines(file) {
		name, items, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if l.list[name] == nil {
			l.list[name] = &list{words: map[string]bool{}, phrases: map[string][][]string{}}
		}
		for item := range strings.SplitSeq(items, ",") {
			if item = strings.TrimSpace(item); item != "" {
				l.list[name].add(item)
			}
		}
	}
	return l
}

func (l *list) add(item string) {
	l.all = append(l.all, item)
	switch said := strings.Fields(item); {
	case strings.ContainsFunc(item, isIdeograph):
		l.inside = append(l.inside, item)
	case len(said) > 1:
		l.phrases[said[0]] = append(l.phrases[said[0]], said)
	default:
		l.words[item] = true
	}
}

// has reports whether a word is in a list.
func (l *lists) has(name, word string) bool {
	return l.list[name].words[word] || word != "" && word[0] >= utf8.RuneSelf && slices.Contains(l.list[name].inside, word)
}

// in reports whether an item of a list occurs in a sentence in lower case, of which the words are also given.
func (l *lists) in(name, low string, said []string) bool {
	list := l.list[name]
	for i, w := range said {
		if list.words[w] {
			return true
		}
		for _, phrase := range list.phrases[w] {
			if n := len(phrase); n <= len(said)-i && slices.Equal(said[i:i+n], phrase) {
				return true
			}
		}
	}
	if isASCII(low) {
		return false
	}
	if len(list.inside) > 0 && name != "harmless" {
		for _, harmless := range l.list["harmless"].inside {
			low = strings.ReplaceAll(low, harmless, "")
		}
	}
	return slices.ContainsFunc(list.inside, func(item string) bool { return strings.Contains(low, item) })
}

// cut returns a text without the item of a list with which it begins. After a word there is no letter.
func (l *lists) cut(name, text string) (rest string, ok bool) {
	for _, item := range l.list[name].all {
		if rest, ok = strings.CutPrefix(text, item); !ok {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest)
		if !unicode.IsLetter(next) || strings.ContainsFunc(item, isIdeograph) {
			return rest, true
		}
	}
	return text, false
}

func (l *lists) begins(name, text string) bool {
	_, ok := l.cut(name, text)
	return ok
}

// fields returns the words of a text in lower case.
func fields(low string) []string {
	return strings.FieldsFunc(low, func(r rune) bool { return r != '\'' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
