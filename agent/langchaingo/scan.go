package langchaingo

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unwraps reports whether a JSON object has this string as its one argument, as
// encoding/json reads it. It is asked for every call of every conversation, and
// so allocates nothing.
func unwraps(object, value string) bool {
	s := scanner{text: object}
	if s.token() != '{' {
		return false
	}
	found := false
	for s.token() == '"' {
		key := s.literal(argument)
		if s.token() != ':' {
			return false
		}
		s.space()
		switch {
		case !key:
			s.skip()
		case s.peek() == '"':
			s.at++
			found = s.literal(value)
		default:
			found = false
			s.skip()
		}
		if s.token() != ',' {
			break
		}
	}
	return found
}

// scanner reads valid JSON. Of other text it reads something, and ends.
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

// token returns the next byte that is no space, and 0 at the end.
func (s *scanner) token() byte {
	s.space()
	c := s.peek()
	s.at++
	return c
}

// literal reads the rest of a string and reports whether it is want.
func (s *scanner) literal(want string) bool {
	same := true
	for s.at < len(s.text) {
		if s.text[s.at] == '"' {
			s.at++
			break
		}
		got := s.char()
		r, n := utf8.DecodeRuneInString(want)
		same = same && n > 0 && r == got
		want = want[n:]
	}
	return same && want == ""
}

// char reads one character of a string.
func (s *scanner) char() rune {
	if s.text[s.at] != '\\' {
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += n
		return r
	}
	s.at++
	c := s.peek()
	s.at++
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		return s.unicode()
	}
	return rune(c)
}

// unicode reads the digits of an escape, and those of a second one that makes a
// pair with it.
func (s *scanner) unicode() rune {
	r := s.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if strings.HasPrefix(s.text[min(s.at, len(s.text)):], `\u`) {
		second := scanner{text: s.text, at: s.at + 2}
		if pair := utf16.DecodeRune(r, second.hex()); pair != utf8.RuneError {
			s.at = second.at
			return pair
		}
	}
	return utf8.RuneError
}

func (s *scanner) hex() rune {
	var r rune
	for range 4 {
		c := s.peek()
		s.at++
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		}
		r = r<<4 | rune(c&0xf)
	}
	return r
}

// skip reads a value.
func (s *scanner) skip() {
	for depth := 0; s.at < len(s.text); {
		switch s.text[s.at] {
		case '"':
			s.at++
			s.literal("")
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return // the end of a number stands before it
			}
			depth--
			if depth == 0 {
				s.at++
				return
			}
		case ',':
			if depth == 0 {
				return
			}
		}
		s.at++
	}
}
