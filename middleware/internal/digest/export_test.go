package digest

import (
	"maps"
	"slices"

	"github.com/laconic-go/laconic/tokens"
)

// Found returns the facts of a text, each once.
func Found(text string) []string {
	return slices.Sorted(maps.Keys(newPool([]Cleared{{Text: text}}).marks))
}

// Read returns what is read of a cleared text: the text without the escapes of
// JSON and the middle of a long one.
func Read(text string) string { return legible(text) }

// Parts returns the keys and the values of the line of a text.
func Parts(text string, limit int) (keys, values []string) {
	d := draft{limit: limit, counter: tokens.Estimate{}}
	d.fill(newPool([]Cleared{{Text: text}}).ranked(0))
	for _, f := range d.picked {
		values = append(values, f.text)
		keys = append(keys, f.key)
	}
	return keys, values
}

// Window is how much of a text is read.
const Window = headSize + tailSize
