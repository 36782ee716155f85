package message

import (
	"encoding/json"
	"strings"
)

// isObject reports whether arguments are a JSON object. Each check of a list
// asks it of every call, and most arguments are plain, so these are told by one
// look at each byte; for all else encoding/json has the word.
func isObject(arguments string) bool {
	p := plainJSON{text: arguments}
	p.space()
	if p.peek() != '{' {
		return false
	}
	if p.value(8) {
		p.space()
		if p.at == len(p.text) {
			return true
		}
	}
	return json.Valid([]byte(arguments))
}

// plainJSON reads JSON without escapes, exponents, and depth. What it accepts is
// valid; what it does not accept may be.
type plainJSON struct {
	text string
	at   int
}

// peek returns the next byte; 0 at the end.
func (p *plainJSON) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *plainJSON) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *plainJSON) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *plainJSON) value(depth int) bool {
	switch c := p.peek(); {
	case depth == 0:
		return false
	case c == '{':
		return p.list('}', depth, true)
	case c == '[':
		return p.list(']', depth, false)
	case c == '"':
		return p.str()
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return true
		}
	}
	return false
}

// list reads an object or an array, whose first byte is next.
func (p *plainJSON) list(end byte, depth int, keys bool) bool {
	p.at++
	p.space()
	if p.take(end) {
		return true
	}
	for {
		p.space()
		if keys {
			if !p.str() {
				return false
			}
			p.space()
			if !p.take(':') {
				return false
			}
			p.space()
		}
		if !p.value(depth - 1) {
			return false
		}
		p.space()
		if p.take(end) {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *plainJSON) str() bool {
	if !p.take('"') {
		return false
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return true
		case c == '\\' || c < ' ':
			return false
		}
	}
	return false
}

func (p *plainJSON) number() bool {
	p.take('-')
	switch {
	case p.take('0'):
	case !p.digits():
		return false
	}
	if p.take('.') {
		return p.digits()
	}
	return true
}

func (p *plainJSON) digits() bool {
	from := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}
