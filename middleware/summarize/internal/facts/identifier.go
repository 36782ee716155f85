package facts

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// What is read for identifiers, in bytes.
const (
	ofText           = 2 << 10   // of each text
	ofAllTexts       = 256 << 10 // of all
	longestArguments = 2 << 10   // longer ones are what is written, not what is meant
)

// longestIdentifier is what one has at most, with its label, in bytes. What is
// longer is left out: half of it would be wrong.
const longestIdentifier = 160

// identifiers returns those that were seen, the oldest first, and behind them
// those that were spoken of, which are likelier to be needed: the newest, about so
// many tokens or more.
func (l *Ledger) identifiers(most int) []line {
	var lines []line
	found := map[string]bool{}
	rest := ofAllTexts
	for _, texts := range [...][]string{l.spoken, l.seen} {
		for _, s := range slices.Backward(texts) {
			if len(lines) > most || rest <= 0 {
				break
			}
			s = text.Head(s, ofText)
			rest -= len(s)
			for _, i := range slices.Backward(digest.Identifiers(s)) {
				if !found[i.Text] {
					found[i.Text] = true
					lines = appendIdentifier(lines, i)
				}
			}
		}
	}
	slices.Reverse(lines)
	return lines
}

// appendIdentifier appends one, unless it cannot stand in a line, or is none but
// what stands for one in a template.
func appendIdentifier(lines []line, i digest.Identifier) []line {
	s := i.Label + i.Text
	if len(s) > longestIdentifier || text.Line(s, longestIdentifier) != s || strings.ContainsAny(s, "{}<>;") {
		return lines
	}
	return append(lines, line{label: i.Label, text: i.Text})
}
