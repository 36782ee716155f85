// Package quotes keeps what the user said, word for word, as far as there is room.
//
//	s := &quotes.Set{}
//	s.Add("Budget cap is $500 total. Never exceed it without approval. Thanks!")
//	lines, all := s.Lines(quotes.Options{Tokens: 800, Counter: counter})
//
// When room is short, these are kept in this order, of each kind what was said first, so that
// what was kept once stays:
//
//   - standing orders that somebody else has found; see [Set.Order]
//   - rules: what the user forbids, demands, prefers, permits or withdraws, conditions,
//     manner and format, limits, goals and roles;
//   - sentences with a value: a number, a name, a path, a quotation;
//   - other requests;
//   - all other sentences, in whole paragraphs, the newest first.
//
// A sentence is kept with the one that it refers to: "Never exceed it" with the sentence
// before, an item with the line above its list, "No, 9090" with what it corrects. What a later
// sentence corrects comes last and is marked. Courtesies, questions, code, logs, tables and
// quoted lines are not kept, and the middle of a long paste only as far as it addresses the
// reader.
//
// English and Chinese are known by their words. In other languages only the form counts: values,
// exclamations, paragraphs. Of a message the first and the last 16 KiB are read.
package quotes

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Set holds the sentences of the user. The zero value is empty. It keeps texts of the
// messages and is not safe for concurrent use.
type Set struct {
	all     []sentence     // oldest first
	newest  map[string]int // position in all, by text
	recent  []int          // positions of the newest sentences that may be corrected, newest last
	blocks  int            // paragraphs so far
	missing bool           // an earlier section had no room for all rules
	orders  []string       // standing orders, each as one line
}

// sentence is a sentence of the user.
type sentence struct {
	text    string
	rank    rank
	plain   rank // of an order: the rank that it would have otherwise
	block   int  // number of its paragraph
	since   int  // position of what it corrects, or its own
	needs   int  // position of the sentence that it refers to, or -1
	code    bool // it looks like code
	clear   bool // it is understood without that one
	changed bool // a later sentence corrects it
	content content
}

// longest is the number of code points of a sentence; a longer one is shortened.
const longest = 400

// Add adds a text of the user. Texts are added oldest first.
func (s *Set) Add(said string) {
	head, tail := text.Ends(said)
	s.add(head, len(head)+len(tail))
	s.add(tail, len(head)+len(tail))
}

// Order tells which lines, word for word apart from white space, are standing orders in the
// texts that are added afterwards. The sentences that they are in, or consist of, come first
// and are marked. A line in what is not kept otherwise, such as a code block, is kept by
// itself.
func (s *Set) Order(lines ...string) {
	for _, o := range lines {
		if o = oneLine(o); o != "" && !slices.Contains(s.orders, o) {
			s.orders = append(s.orders, o)
		}
	}
}

// ordersIn returns the orders that a text contains.
func (s *Set) ordersIn(part string) (found []string) {
	if len(s.orders) == 0 {
		return nil
	}
	part = oneLine(part)
	for _, o := range s.orders {
		if strings.Contains(part, o) {
			found = append(found, o)
		}
	}
	return found
}

// isOrder reports whether a sentence is, or is part of, an order, or one of those in its text
// is most of it. It removes what it has in common with them from rest.
func (s *Set) isOrder(sentence, kept string, orders []string, rest *[]string) (yes bool) {
	const enough = 24 // bytes of an order that is a part of a sentence
	if len(s.orders) == 0 {
		return false
	}
	whole := oneLine(sentence)
	if whole != kept { // an earlier section has the excerpt
		orders = s.orders
	}
	for _, o := range orders {
		switch {
		case strings.Contains(whole, o):
			yes = yes || 2*len(o) >= len(whole) || len(o) >= enough
		case strings.Contains(o, whole), strings.Contains(o, kept):
			yes = true
		default:
			continue
		}
		*rest = slices.DeleteFunc(*rest, func(other string) bool { return other == o })
	}
	return yes && !isCourtesy(sentence)
}

// oneLine returns a text as one line.
func oneLine(s string) string { return text.Line(s, len(s)+1) }

// add adds a part of a message of the given number of bytes.
func (s *Set) add(part string, size int) {
	const (
		paste = 6 << 10 // bytes: a message that is longer contains material
		own   = 2 << 10 // bytes at each end of it that the user may have written
	)
	from := len(s.all)
	lead := -1 // the line above a list
	read := 0
	orders := s.ordersIn(part)
	rest := slices.Clone(orders)
	for t := range text.Sentences(part) {
		if t.First {
			s.blocks++
		}
		inPaste := size > paste && read > own && len(part)-read > own
		read += len(t.Text) + 1
		before := len(s.all) - 1
		if before < from || s.all[before].block != s.blocks || s.all[before].code {
			before = -1
		}
		c := sentence{text: excerpt(t.Text), block: s.blocks, needs: -1}
		c.rank, c.code = rankOf(t.Text, inPaste)
		switch {
		case t.Heading, t.First && !t.Item:
			lead = -1
		case t.Item && lead >= 0:
			c.needs = lead
			c.rank = max(c.rank, min(s.all[lead].rank, rule))
		case before >= 0 && refersBack(t.Text):
			c.needs = before
		case before >= 0 && isShort(t.Text):
			c.needs, c.clear = before, true
		}
		if s.isOrder(t.Text, c.text, orders, &rest) {
			c.plain, c.rank = c.rank, order
		}
		s.put(c)
		if endsInColon(t.Text) && !t.Heading {
			lead = len(s.all) - 1
		}
	}
	s.putOrders(rest)
}

// putOrders adds orders that are in no sentence. A long one would not be found again.
func (s *Set) putOrders(orders []string) {
	for _, o := range orders {
		if utf8.RuneCountInString(o) <= longest {
			s.blocks++
			s.put(sentence{text: o, rank: order, block: s.blocks, needs: -1})
		}
	}
}

// put appends a sentence, and finds what it repeats and what it corrects.
func (s *Set) put(c sentence) {
	const mostRecent = 64
	if c.rank == none {
		s.all = append(s.all, c)
		return
	}
	if s.newest == nil {
		s.newest = map[string]int{}
	}
	at := len(s.all)
	c.since = at
	if i, ok := s.newest[c.text]; ok {
		s.all[i].rank = none
	}
	s.newest[c.text] = at
	if c.content = contentOf(c.text); c.content.marked || c.content.rejected != nil {
		c.rank = max(c.rank, request)
	}
	if c.rank > other {
		if i := s.corrected(&c); i >= 0 {
			old := &s.all[i]
			old.changed = true
			c.rank, c.since = max(c.rank, old.rank), min(c.since, old.since)
			if old.rank == order {
				old.rank = old.plain
			}
			if (c.needs < 0 || c.clear) && len(c.content.words) <= elliptic {
				c.needs, c.clear = i, false
			}
		}
		s.recent = append(s.recent[max(0, len(s.recent)-mostRecent+1):], at)
	}
	s.all = append(s.all, c)
}

// corrected returns the position of what a sentence corrects: the newest sentence on the same subject, or, if it names
// none, the newest with a value of the same form; -1: nothing.
func (s *Set) corrected(c *sentence) int {
	for _, replaces := range [...]func(c, old *content) bool{(*content).replaces, (*content).replacesValue} {
		for _, i := range slices.Backward(s.recent) {
			old := &s.all[i]
			if old.rank > none && old.block != c.block && replaces(&c.content, &old.content) {
				return i
			}
		}
	}
	return -1
}

// Options define how much is kept.
type Options struct {
	Tokens  int            // of all lines, at most, by Counter
	Others  int            // tokens up to which sentences are kept that are neither rules nor have values
	Counter tokens.Counter // is asked for one sentence at a time
}

// Lines returns what is kept, oldest first, one line for neighbouring sentences, and whether
// all rules are kept.
func (s *Set) Lines(o Options) (lines []string, all bool) {
	p := picker{Set: s, counter: o.Counter, room: o.Tokens, taken: make([]bool, len(s.all))}
	all = !s.missing
	for _, i := range s.byRank() {
		if p.missed < patience && p.take(i) {
			continue
		}
		all = all && s.all[i].rank < rule
	}
	p.room -= max(0, o.Tokens-o.Others)
	p.missed = 0
	for at := len(s.all); at > 0 && p.missed < patience; {
		from := at - 1
		for from > 0 && s.all[from-1].block == s.all[at-1].block {
			from--
		}
		p.takeAll(from, at)
		at = from
	}
	return p.lines(), all
}

// byRank returns the positions of rules, values and requests, the most valuable first.
func (s *Set) byRank() []int {
	var order []int
	for i := range s.all {
		if s.all[i].rank > other {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &s.all[a], &s.all[b]
		switch {
		case x.changed && !y.changed:
			return 1
		case y.changed && !x.changed:
			return -1
		}
		return cmp.Or(cmp.Compare(y.rank, x.rank), cmp.Compare(x.since, y.since), cmp.Compare(b, a))
	})
	return order
}

// picker takes sentences as long as there is room.
type picker struct {
	*Set

	counter tokens.Counter
	room    int // tokens
	missed  int // in a row, for which there was no room
	taken   []bool
}

// patience is the number of sentences in a row without room after which no more are tried.
const patience = 32

// take takes a sentence and those that it refers to, or it alone if that is clear, or nothing.
func (p *picker) take(i int) bool {
	const deepest = 3
	var chain []int
	cost := 0
	for k := i; k >= 0 && len(chain) <= deepest; k = p.all[k].needs {
		if !p.taken[k] {
			chain = append(chain, k)
			cost += p.cost(k)
		}
	}
	if cost > p.room && p.all[i].clear && !p.taken[i] {
		return p.pay([]int{i}, p.cost(i))
	}
	return p.pay(chain, cost)
}

// takeAll takes the rest of a paragraph, or nothing.
func (p *picker) takeAll(from, to int) {
	var rest []int
	cost := 0
	for i := from; i < to; i++ {
		if p.all[i].rank > none && !p.taken[i] {
			rest = append(rest, i)
			cost += p.cost(i)
		}
	}
	p.pay(rest, cost)
}

func (p *picker) pay(chosen []int, cost int) bool {
	if cost > p.room {
		p.missed++
		return false
	}
	p.room -= cost
	p.missed = 0
	for _, i := range chosen {
		p.taken[i] = true
	}
	return true
}

// cost returns the tokens of a sentence in a line of its own.
func (p *picker) cost(i int) int {
	const line = 2
	return p.counter.Count(p.all[i].mark()+p.all[i].text) + line
}

// Changed is before a sentence that a later one corrects, Standing before standing orders.
const (
	Changed  = "(changed later) "
	Standing = "(standing order) "
)

// mark returns what is before a sentence.
func (c *sentence) mark() string {
	switch {
	case c.changed:
		return Changed
	case c.rank == order:
		return Standing
	}
	return ""
}

// lines returns what is taken. Neighbours of a paragraph are in one line.
func (p *picker) lines() (lines []string) {
	before := -1
	for i, taken := range p.taken {
		if !taken {
			continue
		}
		c := &p.all[i]
		joins := before >= 0 && before == i-1 && (p.all[before].block == c.block || c.needs == before)
		if joins && !c.changed && p.all[before].mark() == c.mark() {
			lines[len(lines)-1] += " " + c.text
		} else {
			lines = append(lines, c.mark()+c.text)
		}
		before = i
	}
	return lines
}

// Resume adds a line that [Set.Lines] has returned. It serves if the text of the user is no
// longer available.
func (s *Set) Resume(line string) {
	line, changed := strings.CutPrefix(line, Changed)
	line, standing := strings.CutPrefix(line, Standing)
	if standing {
		s.Order(line)
	}
	from := len(s.all)
	s.Add(line)
	for i := from; i < len(s.all); i++ {
		s.all[i].changed = s.all[i].changed || changed
	}
}

// ResumeMissing notes that an earlier section had no room for all rules.
func (s *Set) ResumeMissing() { s.missing = true }
