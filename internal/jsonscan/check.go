package jsonscan

import (
	"slices"
	"strings"
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
	c := checker{text: text}
	return c.value(at, 10_000), c.twice
}

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
	switch first := c.text[at]; {
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
	if at = Space(c.text, at+1); at < len(c.text) && c.text[at] == closing {
		return at + 1
	}
	for at < len(c.text) {
		if isObject {
			end := stringEnd(c.text, at)
			if end < 0 {
				return -1
			}
			c.add(&names, Unquote(c.text[at:end]))
			if at = Space(c.text, end); at == len(c.text) || c.text[at] != ':' {
				return -1
			}
			at = Space(c.text, at+1)
		}
		if at = c.value(at, depth); at < 0 {
			return -1
		}
		switch at = Space(c.text, at); {
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
	switch own := c.names[m.first:]; {
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

// plain are the bytes that stand for themselves in a string.
var plain = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= ' ' && b != '"' && b != '\\'
	}
	return t
}()

// stringEnd returns the position after a string literal, or -1 if it is not valid.
func stringEnd(text string, at int) int {
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	for at++; at < len(text); {
		switch c := text[at]; {
		case plain[c]:
			at++
		case c == '"':
			return at + 1
		case c != '\\' || at+1 == len(text):
			return -1
		case text[at+1] == 'u':
			if hex(text[at+2:]) < 0 {
				return -1
			}
			at += 6
		case strings.IndexByte(`"\/bfnrt`, text[at+1]) < 0:
			return -1
		default:
			at += 2
		}
	}
	return -1
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
