package scribe

import (
	"slices"
	"strings"
	"unicode"
)

// heading returns the words of a heading without numbers and markup, in lower
// case: that of "## 2. Key **findings**:" is "key findings".
func heading(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "**", ""), "__", "")
	line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("#*_:：-—.。】]」)）", r) })
	return strings.ToLower(line)
}

// sectionsOf counts the headings of a section: lines of its name alone, or of its
// name, a colon, and what it says; and those of them that are marked as headings,
// since an item of another section may look like one.
func sectionsOf(text, section string) (lines, marked int) {
	want := heading(section)
	for line := range strings.Lines(text) {
		if !isHeading(line, want) {
			continue
		}
		lines++
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") {
			marked++
		}
	}
	return lines, marked
}

func isHeading(line, want string) bool {
	name, _, found := strings.Cut(line, ":")
	if !found {
		name, _, _ = strings.Cut(line, "：")
	}
	return heading(line) == want || heading(name) == want
}

func isMark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// nothings are what stands where there is nothing to say.
var nothings = []string{"", "none", "nothing", "n/a", "无"}

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
		if !slices.Contains(nothings, rest) {
			return true
		}
	}
	return false
}
