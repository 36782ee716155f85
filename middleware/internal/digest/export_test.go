package digest

import (
	"slices"

	"github.com/laconic-go/laconic/tokens"
)

// Found returns the facts of a text, each once.
func Found(text string) []string { return newPool([]Cleared{{Text: text}}).texts }

// LinesOfLengths does what Lines does, for several lengths, and reads the texts
// once.
func LinesOfLengths(cleared []Cleared, kept []string, lengths []int) [][]string {
	p := newPool(cleared)
	find := p.look(kept, nil)
	shown := slices.Clone(find.shown)
	lines := make([][]string, len(lengths))
	for i, n := range lengths {
		copy(find.shown, shown)
		lines[i] = p.lines(cleared, find, Options{Tokens: n})
	}
	return lines
}

// Read returns what is read of a cleared text: the text without the escapes of
// JSON and the middle of a long one.
func Read(text string) []string { return legible(text) }

// Occurs reports whether a string is found in a text.
func Occurs(s, text string) bool {
	f := newFinder([]string{s})
	f.mark(f.shown, text)
	return f.shown[0]
}

// OccursIn reports whether a string is in a text as whole words.
var OccursIn = occurs

// Parts returns the keys and the values of the line of a text.
func Parts(text string, limit int) (keys, values []string) {
	p := newPool([]Cleared{{Text: text}})
	find := p.look(nil, nil)
	d := draft{limit: limit, counter: tokens.Estimate{}}
	for _, f := range p.ranked(0, find) {
		d.add(f)
	}
	for _, f := range d.picked {
		values = append(values, f.text)
		if f.needsLabel() {
			keys = append(keys, f.label)
		}
	}
	return keys, values
}

// KindNames are the names of the kinds.
var KindNames = [kinds]string{
	number: "number", amount: "amount", date: "date", email: "email", link: "link", path: "path", file: "file", id: "id",
	hash: "hash", host: "host", symbol: "symbol", code: "code", text: "text", fault: "fault", lines: "lines",
}

// ShapeOf returns the name of the kind of a token; "" for a word of a sentence.
func ShapeOf(word string) string { return KindNames[shapeOf(word)] }

// Window is how much of a text is read.
const Window = headSize + tailSize

// Unescaped replaces the escapes of JSON.
var Unescaped = unescaped
