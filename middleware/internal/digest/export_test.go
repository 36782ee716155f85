package digest

import "slices"

// Found returns the facts of a text, each once.
func Found(text string) []string { return newPool([]Cleared{{Text: text}}).texts }

// LinesOfLengths does what Lines does, for several lengths, and reads the texts
// once.
func LinesOfLengths(cleared []Cleared, kept []Kept, lengths []int) [][]string {
	p := newPool(cleared)
	find, about := p.look(kept)
	shown := slices.Clone(find.shown)
	lines := make([][]string, len(lengths))
	for i, n := range lengths {
		copy(find.shown, shown)
		lines[i] = p.lines(cleared, find, about, Options{Tokens: n})
	}
	return lines
}

// Read returns what is read of a text that is cleared: the text itself, but for
// escapes of JSON and the middle of a long one.
func Read(text string) []string {
	parts := window(text)
	for i := range parts {
		if looksLikeJSON(parts[0]) {
			parts[i] = plainJSON(parts[i])
		}
	}
	return parts
}

// Occurs reports whether a string is found in a text.
func Occurs(s, text string) bool {
	f := newFinder([]string{s})
	f.show(text)
	return f.shown[0]
}

// KindNames are the names of the kinds.
var KindNames = [kinds]string{
	number: "number", amount: "amount", date: "date", clock: "clock", email: "email", link: "link", path: "path", file: "file", id: "id",
	hash: "hash", version: "version", host: "host", phone: "phone", symbol: "symbol", code: "code", slug: "slug", name: "name", word: "word",
	fault: "fault",
}

// ShapeOf returns the name of what a word looks like; "": like a word of a
// sentence.
func ShapeOf(word string) string { return KindNames[shapeOf(word)] }

// Window is how much of a text is looked at.
const Window = headSize + tailSize

// PlainJSON and BareJSON resolve escapes.
var (
	PlainJSON = plainJSON
	BareJSON  = bareJSON
)
