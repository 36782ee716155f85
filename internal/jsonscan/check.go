package jsonscan

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// IsObject reports whether a text is a JSON object and nothing else but white space.
func IsObject(text string) bool {
	at := Space(text, 0)
	if at == len(text) || text[at] != '{' {
		return false
	}
	end, _ := Check(text, at)
	return end >= 0 && Space(text, end) == len(text)
}

// Check returns the position after the value that begins at text[at], or -1 if it is not valid JSON, as [json.Valid] does,
// and whether any object in it has a key twice. It does not check whether the text is UTF-8.
func Check(text string, at int) (end int, twice bool) {
	c := checkers.Get().(*checker) //nolint:errcheck,forcetypeassert // nothing else is in it
	defer checkers.Put(c)
	c.text, c.twice = text, false
	end = c.value(at, 10_000)
	c.text = ""
	clear(c.names[:cap(c.names)])
	return end, c.twice
}

var checkers = sync.Pool{New: func() any { return new(checker) }}

// checker reads JSON in one pass.
type checker struct {
	text  string
	names []string // of the members so far of the objects that are open
	twice bool
}

// value returns the position after a value, or -1 if it is not valid or nested too deeply.
func (c *checker) value(at, depth int) int {
	if at >= len(c.text) || depth < 0 {
		return -1
	}
	first := c.text[at]
	switch {
	case first == '"':
		return stringEnd(c.text, at)
	case first == '{' || first == '[':
		return c.nested(at, depth-1)
	case first == '-' || '0' <= first && first <= '9':
		return numberEnd(c.text, at)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(c.text[at:], word) {
			return at + len(word)
		}
	}
	return -1
}

// nested is value for an object or an array.
func (c *checker) nested(at, depth int) int {
	isObject, closing := c.text[at] == '{', c.text[at]+2 // "}" is "{"+2, "]" is "["+2
	names := members{first: len(c.names)}
	defer func() { c.names = c.names[:names.first] }()
	at = Space(c.text, at+1)
	if at < len(c.text) && c.text[at] == closing {
		return at + 1
	}
	for at < len(c.text) {
		if isObject {
			end := stringEnd(c.text, at)
			if end < 0 {
				return -1
			}
			c.add(&names, Unquote(c.text[at:end]))
			at = Space(c.text, end)
			if at == len(c.text) || c.text[at] != ':' {
				return -1
			}
			at = Space(c.text, at+1)
		}
		at = c.value(at, depth)
		if at < 0 {
			return -1
		}
		at = Space(c.text, at)
		switch {
		case at == len(c.text):
			return -1
		case c.text[at] == closing:
			return at + 1
		case c.text[at] != ',':
			return -1
		}
		at = Space(c.text, at+1)
	}
	return -1
}

// members are the names of the members of an object so far: those of the checker from the first on.
type members struct {
	first int
	many  map[string]bool // the same, if there are many
}

// add adds a name to those of an object.
func (c *checker) add(m *members, name string) {
	const many = 24
	own := c.names[m.first:]
	switch {
	case m.many != nil:
		c.twice = c.twice || m.many[name]
		m.many[name] = true
		return
	case len(own) < many:
		c.twice = c.twice || slices.Contains(own, name)
	default:
		m.many = make(map[string]bool, 2*many)
		for _, n := range own {
			m.many[n] = true
		}
		c.add(m, name)
		return
	}
	c.names = append(c.names, name)
}

// stringEnd returns the position after a string literal, or -1 if it is not valid.
func stringEnd(text string, at int) int {
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	for at++; at < len(text); {
		for at+8 <= len(text) {
			special := special(text[at : at+8])
			if special > 0 {
				at += bits.TrailingZeros64(special) / 8
				break
			}
			at += 8
		}
		c := text[at:]
		switch {
		case c == "" || c[0] < ' ':
			return -1
		case c[0] == '"':
			return at + 1
		case c[0] != '\\':
			at++
		case len(c) > 1 && c[1] == 'u':
			if hex(c[2:]) < 0 {
				return -1
			}
			at += 6
		case len(c) == 1 || escaped[c[1]] == 0:
			return -1
		default:
			at += 2
		}
	}
	return -1
}

// special returns bits in the bytes of a word, of eight bytes, that do not stand for themselves in a string: control
// characters, quotes and backslashes. Only the lowest byte with a bit is one of them for sure.
func special(word string) uint64 {
	_ = word[7]
	w := uint64(word[0]) | uint64(word[1])<<8 | uint64(word[2])<<16 | uint64(word[3])<<24 |
		uint64(word[4])<<32 | uint64(word[5])<<40 | uint64(word[6])<<48 | uint64(word[7])<<56
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^(ones*'"'), w^(ones*'\\')
	return (w-ones*' ')&^w&highs | (quote-ones)&^quote&highs | (backslash-ones)&^backslash&highs
}

// numberEnd returns the position after a number, or -1 if it is not valid.
func numberEnd(text string, at int) int {
	digits := func() bool {
		from := at
		for at < len(text) && '0' <= text[at] && text[at] <= '9' {
			at++
		}
		return at > from
	}
	if text[at] == '-' {
		at++
	}
	if at < len(text) && text[at] == '0' {
		at++
	} else if !digits() {
		return -1
	}
	if at < len(text) && text[at] == '.' {
		at++
		if !digits() {
			return -1
		}
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if !digits() {
			return -1
		}
	}
	return at
}
