package ledger

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/prose"
)

// mostArguments are read of one call, in bytes.
const mostArguments = 1 << 20

// field is a string in the arguments of a call, with the key that is nearest in
// front of it.
type field struct {
	key, raw string // raw: with the escapes of JSON
}

// fields yields the strings of JSON, however deep they are. JSON that is cut off
// or broken yields what stands before that.
func fields(arguments string) iter.Seq[field] {
	return func(yield func(field) bool) {
		text, key := prose.Head(arguments, mostArguments), ""
		for {
			from := strings.IndexByte(text, '"')
			if from < 0 {
				return
			}
			text = text[from+1:]
			end := stringEnd(text)
			if end < 0 {
				return
			}
			s := text[:end]
			text = text[end+1:]
			if rest := strings.TrimLeft(text[:min(len(text), 64)], " \t\r\n"); strings.HasPrefix(rest, ":") {
				key = s
			} else if !yield(field{key: key, raw: s}) {
				return
			}
		}
	}
}

// stringEnd returns where the quote is that ends a string; -1: nowhere.
func stringEnd(text string) int {
	for i := 0; ; {
		k := strings.IndexByte(text[i:], '"')
		if k < 0 {
			return -1
		}
		i += k
		slashes := i
		for slashes > 0 && text[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
		i++
	}
}

// text returns the string itself, of a long one the beginning. Escapes that JSON
// does not know stay as they are.
func (f field) text(most int) string {
	raw := f.raw
	if len(raw) > most {
		raw = prose.Head(raw, most)
		for slashes := len(raw) - len(strings.TrimRight(raw, `\`)); slashes%2 == 1; slashes-- {
			raw = raw[:len(raw)-1] // half of an escape
		}
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(`"`+raw+`"`), &s) != nil {
		return raw
	}
	return s
}
