package middleware

import (
	"errors"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Protection says what may not happen to a message. The values add up.
type Protection uint8

// The protections, as bits.
const (
	Whole Protection = 1 << iota // stays as it is: a system message, a pinned one, one with a compaction of the provider
	Words                        // its text stays: the first and the last user message
	Fresh                        // of the newest round, which no model has answered yet: results may be shortened, nothing else
)

// Protected returns what may not happen to message i. A message that a fold
// has put into the view is protected if it stands for one that is.
func (v *View) Protected(i int) Protection {
	s, c := v.span(i), v.call
	switch {
	case s.first < 0:
		return Whole
	case s.rec == nil, s.rec.Kind != Fold:
		return c.guard.at(c.body, s.first)
	}
	var p Protection
	for _, k := range c.guard.within(c.body, s.rec.Runs) {
		if c.standsFor(v.msgs[i], k) {
			p |= c.guard.at(c.body, k)
		}
	}
	return p
}

// spared reports whether parts in the place of those of message i of the body
// leave of it what is protected.
func (c *call) spared(i int, parts []message.Part) error {
	m, p := &c.body[i], c.guard.at(c.body, i)
	switch {
	case p&Whole != 0:
		return errors.New("it is protected, and stays as it is")
	case p&Words != 0 && !keepsWords(m.Parts, parts):
		return errors.New("the text of the first and of the last user message stays")
	case p&Fresh != 0:
		return onlyShortened(m.Parts, parts)
	}
	return nil
}

// keepsThinking reports whether parts in the place of those of message i of the
// body leave the thinking of the newest turn.
func (c *call) keepsThinking(i int, parts []message.Part) error {
	if i > c.guard.lastUser && thoughts(c.body[i].Parts) != thoughts(parts) {
		return errors.New("thinking of the newest turn stays, since providers want it back as it was")
	}
	return nil
}

// standsFor reports whether a message that a fold puts is message i of the body,
// which is protected: as it was, or as a rewrite might leave it.
func (c *call) standsFor(m message.Message, i int) bool {
	b := &c.body[i]
	return same(b, &m) ||
		b.Role == m.Role && b.Name == m.Name && c.spared(i, m.Parts) == nil && sameStructure(b.Parts, m.Parts) == nil
}

// guard knows the protected positions of a body.
type guard struct {
	firstUser, lastUser int   // -1: none
	fresh               int   // where the newest unanswered round begins; the end: there is none
	whole               []int // of what stays whole; never changed, only replaced
}

// newGuard returns the guard of an empty body.
func newGuard() guard { return guard{firstUser: -1, lastUser: -1} }

// see takes in the messages of the body from one on, behind those that it has seen.
func (g *guard) see(body []message.Message, from int) {
	g.whole = slices.Clip(g.whole) // others go on with the same beginning
	for i := from; i < len(body); i++ {
		if body[i].Role == message.RoleUser {
			g.lastUser = i
			if g.firstUser < 0 {
				g.firstUser = i
			}
		}
		if staysWhole(&body[i]) {
			g.whole = append(g.whole, i)
		}
	}
}

// end takes in that the body ends here.
func (g *guard) end(body []message.Message) {
	g.fresh = len(body)
	for i := range slices.Backward(body) {
		if body[i].Role == message.RoleAssistant {
			if body[i].HasCalls() {
				g.fresh = i
			}
			return
		}
	}
}

// at returns the protection of message i of the body.
func (g *guard) at(body []message.Message, i int) Protection {
	var p Protection
	m := &body[i]
	if staysWhole(m) {
		p |= Whole
	}
	if i == g.firstUser || i == g.lastUser {
		p |= Words
	}
	if i >= g.fresh && (i == g.fresh || m.Role == message.RoleTool) {
		p |= Fresh
	}
	return p
}

// staysWhole reports whether a message stays as it is wherever it stands. That
// holds for what a provider has made of earlier messages, which nobody else can
// read: the compaction blocks of Anthropic, the compaction items of OpenAI.
func staysWhole(m *message.Message) bool {
	if m.Role == message.RoleSystem || m.Hints.Pinned {
		return true
	}
	for _, p := range m.Parts {
		if o, ok := p.(message.Opaque); ok && strings.Contains(o.Kind, "compaction") {
			return true
		}
	}
	return false
}

// lasting returns the positions of what no edit can take away, now or ever, in
// order: at a first question that is not whole, its text.
func (g *guard) lasting() []int {
	at, found := slices.BinarySearch(g.whole, g.firstUser)
	if found || g.firstUser < 0 {
		return g.whole
	}
	return slices.Insert(slices.Clone(g.whole), at, g.firstUser)
}

// within returns the protected positions inside the runs of a fold, in order.
func (g *guard) within(body []message.Message, runs []message.Run) []int {
	var found []int
	for _, r := range runs {
		for i := r.First; i <= r.Last; i++ {
			if g.at(body, i) != 0 {
				found = append(found, i)
			}
		}
	}
	return found
}
