package microcompact

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/laconic-go/laconic/store"
)

// longestValue is how many code points a value may have in arguments that are
// shortened.
const longestValue = 60

// shortArguments returns arguments that are longer than a limit of code points as
// a JSON object that is shorter: with the same keys in the same order, and
// placeholders for long values, or, if that is still longer than the limit, or if
// the arguments are no object, with nothing but their length. It returns false if
// they are within the limit, or would not get shorter. What says that something is
// missing names the handle of all of them.
func shortArguments(arguments string, limit int, h store.Handle) (short string, ok bool) {
	n := longer(arguments, limit)
	if n == 0 {
		return "", false
	}
	short, ok = shortMembers(arguments, h)
	if !ok || longer(short, limit) > 0 {
		short = gone{chars: n, handle: h}.arguments()
	}
	return short, length(short) < n
}

// shortMembers returns a JSON object without white space between its members, in
// which long values are placeholders. It returns false if the text is none.
func shortMembers(text string, h store.Handle) (short string, ok bool) {
	s := scanner{text: text}
	s.space()
	if s.peek() != '{' || !json.Valid([]byte(text)) {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('{')
	s.at++
	for s.space(); s.peek() != '}'; s.space() {
		if s.peek() == ',' {
			b.WriteByte(',')
			s.at++
			s.space()
		}
		b.WriteString(s.value())
		s.space()
		s.at++ // the colon
		b.WriteByte(':')
		s.space()
		v := s.value()
		if n := chars(v); n > longestValue {
			v = `"` + gone{chars: n, handle: h}.placeholder() + `"`
		}
		b.WriteString(v)
	}
	b.WriteByte('}')
	return b.String(), true
}

// scanner reads JSON that is known to be valid.
type scanner struct {
	text string
	at   int
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// value returns the value that begins here, as it is written, and goes behind it.
func (s *scanner) value() string {
	from := s.at
	for depth := 0; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"':
			s.str()
			if depth == 0 {
				return s.text[from:s.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s.text[from:s.at]
			}
			depth--
			if depth == 0 {
				s.at++
				return s.text[from:s.at]
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.text[from:s.at]
			}
		}
		s.at++
	}
	return s.text[from:s.at]
}

// str goes behind the string that begins here.
func (s *scanner) str() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
}

// chars returns how many code points a JSON value has: of a string those that it
// means, of all else those that are written.
func chars(value string) int {
	if value == "" || value[0] != '"' {
		return length(value)
	}
	n := 0
	for text := value[1 : len(value)-1]; text != ""; n++ {
		text = text[charSize(text):]
	}
	return n
}

// charSize returns how many bytes the first character of a JSON string takes.
func charSize(text string) int {
	const short, long = 2, 6 // \n, \u000a
	switch {
	case text[0] != '\\':
		_, size := utf8.DecodeRuneInString(text)
		return size
	case len(text) < long || text[1] != 'u':
		return min(short, len(text))
	}
	if len(text) >= 2*long && text[long] == '\\' && text[long+1] == 'u' &&
		utf16.DecodeRune(unit(text), unit(text[long:])) != utf8.RuneError {
		return 2 * long
	}
	return long
}

// unit reads \u000a; -1 if it is none.
func unit(text string) rune {
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
