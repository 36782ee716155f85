package digest

import "strings"

// fact is something hard that a text says.
type fact struct {
	text  string
	label string // its key, if there is one that can stand in a line
	kind  kind
	role  role // of its key

	line  lineKind // where it stands first
	row   int      // likewise: how many lines, lists and objects begin before it
	whole bool     // it is all of a value
	leads bool     // it is the number in front of a line

	id    int32 // of its string
	seq   int   // its place among the facts of its text
	score int   // by which it is ranked
}

// merge learns from another place where the same fact stands.
func (f *fact) merge(g *fact) {
	if f.line == plain {
		f.line = g.line
	}
	if f.role <= anyRole && g.role > f.role {
		f.label, f.role = g.label, g.role
	}
	f.whole = f.whole || g.whole
	f.leads = f.leads && g.leads
}

// labelled reports whether a fact says little without its key.
func (f *fact) labelled() bool {
	if f.label == "" {
		return false
	}
	switch f.kind {
	case number, amount, date, clock, code, word, name, phone, hash:
		return true
	case id: // credit_card_7815826 says what it is
		return (f.whole || f.role > anyRole) && traitsOf(f.text).lower < 3
	default:
		return false
	}
}

// isPhrase reports whether a fact is several words.
func (f *fact) isPhrase() bool { return strings.IndexByte(f.text, ' ') >= 0 }

// kind is what a fact looks like.
type kind uint8

const (
	none    kind = iota
	number       // 1633, 54.04, 15%
	amount       // $54.04, 1,299元
	date         // 2024-05-15, 16 May 2024, 2026年3月15日
	clock        // 15:00, 12:30:05
	email        // ann@example.com
	link         // https://example.com/a
	path         // /a/b.go, a/b_c
	file         // b.go
	id           // HAT045, #W123, credit_card_7815826
	hash         // 4afd4e47, 3f2504e0-4f89-11d3-9a0c-0305e82c3301
	version      // v1.26.8, 1.2.3
	host         // 127.0.0.1, localhost:8080
	phone        // +1 555 123 4567
	symbol       // getUser, get_user, self.model
	code         // JFK
	slug         // ready-to-ship
	name         // several words in quotes, or all of a value
	word         // any other word in quotes, or that is a value
	fault        // the message of an error
	kinds
)
