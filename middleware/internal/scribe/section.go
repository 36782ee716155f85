package scribe

import (
	"strings"
	"unicode"
)

// heading returns the words of a heading without numbers and markup, in lower
// case: that of "## 2. Key **findings**:" is "key findings".
func heading(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "**", ""), "__", "")
	line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("#*_:：-—.。】]」", r) })
	return strings.ToLower(line)
}

// sectionsOf counts the headings of a section: lines of its name alone, or of its
// name, a colon, and what it says.
func sectionsOf(text, section string) int {
	n, want := 0, heading(section)
	for line := range strings.Lines(text) {
		if isHeading(line, want) {
			n++
		}
	}
	return n
}

func isHeading(line, want string) bool {
	name, _, found := strings.Cut(line, ":")
	if !found {
		name, _, _ = strings.Cut(line, "：")
	}
	return heading(line) == want || heading(name) == want
}

func isMark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// says reports whether something stands under the headings, or behind them.
func says(text string, sections []string) bool {
	for line := range strings.Lines(text) {
		rest := heading(line)
		for _, s := range sections {
			if isHeading(line, heading(s)) {
				rest = strings.TrimFunc(strings.TrimPrefix(rest, heading(s)), isMark)
				break
			}
		}
		if rest != "" {
			return true
		}
	}
	return false
}
