package quotes

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options define how much is kept.
type Options struct {
	Tokens   int            // of the section, at most, by Counter
	Counter  tokens.Counter // is asked for one piece at a time, and for the section
	Language text.Language  // of the heading; "": English
}

// Limits of a message, in tokens.
const (
	whole = 150 // a message with more is shortened
	end   = 75  // of each end of it that is kept
)

// Changed is before a sentence that a later one corrects, Standing before standing orders. More is
// the first line if rules have no room.
const (
	Changed  = "(changed later) "
	Standing = "(standing order) "

	indent = "  "  // of the further lines of an item
	gap    = "[…]" // the line for what is left out of a message
)

type wording struct{ more string }

var (
	english = wording{"(there is more, for which there is no room)"}
	chinese = wording{"(还有其他要求,此处放不下)"}
)

// Text returns the section with its heading, without a line break at its end, or "" if there is
// nothing to tell or no room. The same set gives the same text.
func (s *Set) Text(o Options) string {
	heading, more := o.Language.Headings().Quotes, "\n- "+text.Pick(o.Language, &english, &chinese).more
	for room := o.Tokens; ; {
		p := s.pick(o.Counter, room-o.Counter.Count(heading)-o.Counter.Count(more)-2)
		lines := p.lines()
		if len(lines) == 0 {
			return ""
		}
		section := heading
		if p.missing() {
			section += more
		}
		for _, l := range lines {
			section += "\n- " + strings.ReplaceAll(l, "\n", "\n"+indent)
		}
		section = strings.ReplaceAll(section, "\n"+indent+"\n", "\n\n")
		over := o.Counter.Count(section) - o.Tokens
		if over <= 0 {
			return section
		}
		room -= over // a counter may need more for the whole than for its parts
	}
}

// picker takes pieces as long as there is room.
type picker struct {
	*Set

	count  tokens.Counter
	room   int // tokens
	missed int // in a row, for which there was no room
	cost   []int
	short  []bool // by message: it is shortened
	wanted []bool
	taken  []bool
	order  []bool // standing orders
}

// pick takes all that is wanted, or of that what is worth most.
func (s *Set) pick(count tokens.Counter, room int) *picker {
	p := &picker{
		Set: s, count: count, room: room, cost: make([]int, len(s.all)), short: make([]bool, len(s.said)),
		wanted: make([]bool, len(s.all)), taken: make([]bool, len(s.all)),
		order: s.ordered(),
	}
	all := 0
	for at, m := range slices.Backward(s.said) {
		if m.repeated {
			continue
		}
		p.want(at)
		for i := m.from; i < m.to; i++ {
			if p.wanted[i] {
				all += p.cost[i]
			}
		}
	}
	if all <= room {
		p.taken = p.wanted
		return p
	}
	p.choose()
	return p
}

// ordered returns which pieces are standing orders. An order that is a piece word for word, as in an earlier section, is
// no other. What corrects an order is one in its place.
func (s *Set) ordered() []bool {
	const enough = 24 // bytes of an order that is a part of a sentence
	marks := make([]bool, len(s.all))
	for _, o := range s.orders {
		exact, parts := false, []int(nil)
		for i := range s.all {
			line := oneLine(s.all[i].text)
			in := strings.Contains(line, o) && (2*len(o) >= len(line) || len(o) >= enough)
			switch {
			case isCourtesy(line):
			case line == o:
				marks[i], exact = true, true
			case in || strings.Contains(o, line):
				parts = append(parts, i)
			}
		}
		for _, i := range parts {
			marks[i] = marks[i] || !exact
		}
	}
	for i := range s.all {
		if k := s.all[i].corrects; k >= 0 && marks[k] {
			marks[i], marks[k] = true, false
		}
	}
	return marks
}

// want marks what is wanted of a message, and counts it.
func (p *picker) want(at int) {
	m := &p.said[at]
	p.short[at] = !m.resumed && p.isLong(m)
	for i := m.from; i < m.to; i++ {
		if p.wanted[i] = (!p.short[at] || p.order[i] || p.inMiddle(i)) && !p.all[i].gap; p.wanted[i] {
			p.cost[i] = p.costOf(i)
		}
	}
	if p.short[at] {
		p.wantEnds(m)
	}
}

// isLong reports whether a message is longer than those that are kept whole.
func (p *picker) isLong(m *said) bool {
	const perToken = 16 // bytes, at most
	var b strings.Builder
	for i := m.from; i < m.to; i++ {
		b.WriteString(p.all[i].text)
		if b.Len() > whole*perToken {
			return true
		}
	}
	return p.count.Count(b.String()) > whole
}

// wantEnds marks both ends of a message that is shortened.
func (p *picker) wantEnds(m *said) {
	for _, way := range [...]struct{ from, to, by int }{{m.from, m.to, 1}, {m.to - 1, m.from - 1, -1}} {
		left := end
		for i := way.from; i != way.to && left > 0; i += way.by {
			p.cost[i] = p.costOf(i)
			if left -= p.cost[i]; left >= 0 || i == way.from {
				p.wanted[i] = true
			}
		}
	}
}

// costOf returns the tokens of a piece.
func (p *picker) costOf(i int) int {
	const line = 2
	n := p.count.Count(p.mark(i) + p.shown(i))
	if i == p.said[p.all[i].of].from || p.mark(i) != "" {
		n += line
	}
	return n
}

// shown returns the text of a piece: of a long one in a message that is shortened, its beginning and its end.
func (p *picker) shown(i int) string {
	const longest = 4 * whole // code points
	s := p.all[i].text
	if !p.short[p.all[i].of] || len(s) <= longest || utf8.RuneCountInString(s) <= longest {
		return s
	}
	line := oneLine(s)
	return text.Line(line, longest/2) + " " + text.Line(shorten.Tail(line, longest/2), longest/2) + s[len(strings.TrimRight(s, "\n")):]
}

// choose takes the pieces of each rank, newest first, and then the rest of each message.
func (p *picker) choose() {
	const patience = 64 // pieces in a row without room after which no more are tried
	ranks := p.takeOrders()
	for _, r := range [...]rank{rule, request} {
		p.missed = 0
		for i := len(p.all) - 1; i >= 0 && p.missed < patience; i-- {
			if ranks[i] == r {
				p.take(i)
			}
		}
	}
	p.missed = 0
	p.takeRest(ranks, patience)
}

// takeOrders takes the orders, newest first, and returns the ranks of the pieces. An order without room gets the rank of its
// text.
func (p *picker) takeOrders() []rank {
	ranks := make([]rank, len(p.all))
	for i := len(p.all) - 1; i >= 0; i-- {
		switch {
		case !p.wanted[i]:
		case !p.order[i]:
			ranks[i] = p.rank(i)
		default:
			ranks[i] = order
			p.take(i)
			if !p.taken[i] {
				ranks[i], p.order[i], p.cost[i] = judge(p.all[i].text), false, 0
			}
		}
	}
	return ranks
}

// takeRest takes the rest of each message as a whole, newest first.
func (p *picker) takeRest(ranks []rank, patience int) {
	for at := len(p.said) - 1; at >= 0 && p.missed < patience; at-- {
		var rest []int
		for i := p.said[at].from; i < p.said[at].to; i++ {
			if p.wanted[i] && !p.taken[i] && ranks[i] == other {
				rest = append(rest, i)
			}
		}
		p.pay(rest)
	}
}

// take takes a piece and those that it refers to, or nothing.
func (p *picker) take(i int) {
	const deepest = 3
	var chain []int
	for k := i; k >= 0 && len(chain) <= deepest; k = p.all[k].needs {
		if !p.taken[k] {
			chain = append(chain, k)
		}
	}
	p.pay(chain)
}

func (p *picker) pay(chosen []int) {
	cost := 0
	for _, i := range chosen {
		if p.cost[i] == 0 {
			p.cost[i] = p.costOf(i)
		}
		cost += p.cost[i]
	}
	if cost > p.room {
		p.missed++
		return
	}
	p.room -= cost
	p.missed = 0
	for _, i := range chosen {
		p.taken[i] = true
	}
}

// missing reports whether a rule has no room, now or in an earlier section. Marks of orders do not count: what has no
// room is not known as an order later.
func (p *picker) missing() bool {
	for i := range p.all {
		if p.wanted[i] && !p.taken[i] && judge(p.all[i].text) == rule {
			return true
		}
	}
	return p.Set.missing
}

// mark returns what is before a piece.
func (p *picker) mark(i int) string {
	switch c := &p.all[i]; {
	case c.changed:
		return Changed
	case p.order[i]:
		return Standing
	}
	return ""
}

// lines returns what is taken. Neighbours in a message are one line, as they were written.
func (p *picker) lines() (lines []string) {
	before := -1
	for i, taken := range p.taken {
		if !taken {
			continue
		}
		joins := before >= 0 && p.all[before].of == p.all[i].of && p.mark(before) == "" && p.mark(i) == ""
		switch last := len(lines) - 1; {
		case joins && before == i-1:
			lines[last] += p.shown(i)
		case joins:
			lines[last] = strings.TrimRight(lines[last], " \t\n") + "\n" + gap + "\n" + strings.TrimLeft(p.shown(i), "\n")
		default:
			lines = append(lines, p.mark(i)+strings.TrimLeft(p.shown(i), " \t\n"))
		}
		before = i
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\n")
	}
	return lines
}
