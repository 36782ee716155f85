package digest

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// The words in front of a line.
const (
	someFacts = "some facts: "
	afterStop = "Some facts: " // behind a sentence
)

// Placeholder returns the text that stands for a cleared result, with its line.
// What is there already comes first, so that a handle stands where it always
// does:
//
//	[cleared]                         [cleared; some facts: total: 54.04]
//	[cleared: recall kqvmzhtwrcxa]    [cleared: recall kqvmzhtwrcxa; some facts: total: 54.04]
//	[It was left out.]                [It was left out. Some facts: total: 54.04]
//	(gone)                            (gone) [some facts: total: 54.04]
//
// The text stays as it is if the line is empty.
func Placeholder(text, line string) string {
	if line == "" {
		return text
	}
	inner, ok := strings.CutSuffix(text, "]")
	switch {
	case !ok && text == "":
		return "[" + someFacts + line + "]"
	case !ok:
		return text + " [" + someFacts + line + "]"
	case strings.HasSuffix(inner, "."):
		return inner + " " + afterStop + line + "]"
	default:
		return inner + "; " + someFacts + line + "]"
	}
}

// frame returns about how many tokens a placeholder with a line has beside those
// of both.
func frame(by tokens.Counter) int { return by.Count(" ["+someFacts) + 1 }

// Most returns about how many tokens a line of so many adds to a placeholder, at
// most.
func Most(by tokens.Counter, line int) int { return line + frame(by) }

// leftIn returns what a line is made of where a middleware has put a text in
// place of a result before: of a placeholder, its line, each group of facts on a
// line of its own; else the text.
func leftIn(text string) string {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") || strings.ContainsAny(text, "\n") || json.Valid([]byte(text)) {
		return text
	}
	for _, words := range []string{someFacts, afterStop} {
		if _, line, ok := strings.Cut(text[:len(text)-1], words); ok {
			return strings.ReplaceAll(line, "; ", "\n")
		}
	}
	return ""
}

// pretends reports whether a text looks as if a placeholder said it: as if it led
// to something in the archive, or began a line. What a tool says must not do so.
func pretends(text string) bool {
	return len(store.HandlesIn(text)) > 0 || strings.Contains(text, someFacts) || strings.Contains(text, afterStop)
}
