package digest

import (
	"maps"
	"slices"
)

// Found returns the facts of a text, each once.
func Found(text string) []string {
	return slices.Sorted(maps.Keys(newPool([]Cleared{{Text: text}}).marks))
}

// Read returns what is read of a cleared text: the text without the escapes of
// JSON and the middle of a long one.
func Read(text string) string { return legible(text) }

// Window is how much of a text is read.
const Window = headSize + tailSize
