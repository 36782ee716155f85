// Package quotes keeps what the user said, word for word, as far as there is room.
//
//	s := &quotes.Set{}
//	s.Add("Budget cap is $500 total. Never exceed it without approval. Thanks!")
//	section := s.Text(quotes.Options{Tokens: 3000, Counter: counter})
//
// Every message of at most 150 tokens is kept as it is. Of a longer one the first and the
// last 75 tokens are kept, in whole sentences, and from its middle the sentences that look
// like orders or values of the user: see rank.go. Only if all this does not fit, sentences
// are chosen, of equal rank the newest:
//
//   - standing orders that somebody else has found; see [Set.Order];
//   - rules: what the user forbids, or demands from now on;
//   - requests, and sentences with a value: a number, a name, a path, a quotation;
//   - the rest of each message as a whole, except for courtesies.
//
// Then a sentence is kept with the one that it refers to: "Never exceed it" with the sentence
// before, an item with the line above its list, "No, 9090" with what it corrects. What a later
// sentence corrects is marked, and comes last. What programs write in the user's name is not
// kept. Of a message the first and the last 16 KiB are read.
package quotes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Set holds the messages of the user. The zero value is empty. It is not safe for concurrent use.
type Set struct {
	said    []said  // oldest first
	all     []piece // of all messages, in order
	newest  map[string]int
	recent  []int    // positions of the newest pieces that may be corrected, newest last
	orders  []string // standing orders, each as one line
	missing bool     // an earlier section had no room for all rules
}

// said is a message of the user, or a line of an earlier section.
type said struct {
	from, to int  // its pieces
	resumed  bool // from an earlier section: it is not shortened again
	repeated bool // a later message is the same
	material bool // most of it is code, or output of a program
	han      bool // most of its sentences are Chinese or Japanese
}

// piece is a sentence, or a line.
type piece struct {
	text     string // as it was written, with the white space around it
	of       int    // position of its message
	needs    int    // position of the piece that it refers to, or -1
	corrects int    // position of what it corrects, or -1
	item     bool   // it begins a list item
	gap      bool   // it stands for what an earlier section has left out
	code     bool   // it is code, or output of a program, without a comment
	han      bool   // it has Chinese or Japanese characters
	changed  bool   // a later piece corrects it
	content  content
}

// Add adds a text of the user. Texts are added oldest first. Of a summary that the caller passes
// back, the section of the user's words is added.
func (s *Set) Add(said string) {
	if text.IsRecord(said) {
		sections, _ := text.SectionsOf(said)
		s.Resume(sections.Quotes)
		return
	}
	s.add(own(said), false)
}

// Order tells which lines, word for word apart from white space, are standing orders. The pieces
// that they are in, or consist of, come first and are marked.
func (s *Set) Order(lines ...string) {
	for _, o := range lines {
		if o = oneLine(o); o != "" && !slices.Contains(s.orders, o) {
			s.orders = append(s.orders, o)
		}
	}
}

// own returns a text without what programs write in the user's name.
func own(said string) string {
	bare := strings.TrimSpace(said)
	for _, start := range words.list["harness messages"].all {
		if strings.HasPrefix(bare, start) {
			return ""
		}
	}
	if !strings.Contains(said, "</") {
		return said
	}
	for _, name := range words.list["harness elements"].all {
		for {
			before, rest, found := strings.Cut(said, "<"+name)
			_, after, closed := strings.Cut(rest, "</"+name+">")
			if !found || !closed {
				break
			}
			said = before + after
		}
	}
	return said
}

// add adds a message.
func (s *Set) add(whole string, resumed bool) {
	head, tail := text.Ends(whole)
	whole = strings.TrimSpace(text.Clean(head + "\n" + tail))
	if whole == "" {
		return
	}
	if s.newest == nil {
		s.newest = map[string]int{}
	}
	if i, ok := s.newest[whole]; ok {
		s.said[i].repeated = true
	}
	at, from := len(s.said), len(s.all)
	s.newest[whole] = at
	s.said = append(s.said, said{from: from, resumed: resumed})
	r := reading{Set: s, of: at, from: from, lead: -1}
	for part := range text.Pieces(whole) {
		r.add(part)
	}
	s.close(&s.said[at])
}

// reading is a message that is divided into pieces.
type reading struct {
	*Set

	of, from int  // the message, and its first piece
	lead     int  // the line above a list; -1: none
	fenced   bool // inside of a fence of code
}

// add adds a piece, or appends it to the last one.
func (r *reading) add(part string) {
	bare := strings.TrimSpace(part)
	last := len(r.all) - 1
	if bare == "" && last >= r.from {
		r.all[last].text += part
		return
	}
	fence := strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")
	r.fenced = r.fenced != fence
	p := piece{text: part, of: r.of, needs: -1, corrects: -1, item: text.IsItem(bare), gap: bare == gap}
	p.code = p.gap || fence || comment(bare) == "" && (r.fenced || isCode(bare))
	if last >= r.from && !p.code && !p.item && r.all[last].goesOn(bare) {
		r.all[last].text += part
		return
	}
	p.code = p.code || p.isIndented()
	if last >= r.from && !p.code && !r.all[last].code {
		p.needs, r.lead = r.needs(&p, bare, last, r.lead)
	} else if !p.item {
		r.lead = -1
	}
	p.han = strings.ContainsFunc(bare, isIdeograph)
	if !p.code && endsIn(bare, ":", "：") {
		r.lead = len(r.all)
	}
	r.all = append(r.all, p)
}

// close finds what most of a message is, and what it corrects.
func (s *Set) close(m *said) {
	m.to = len(s.all)
	codes, hans := 0, 0
	for i := m.from; i < m.to; i++ {
		if s.all[i].code {
			codes++
		}
		if s.all[i].han {
			hans++
		}
		s.correct(i)
	}
	m.material, m.han = 2*codes > m.to-m.from, 2*hans > m.to-m.from
}

// isIndented reports whether a line is set in as code is.
func (p *piece) isIndented() bool {
	indented := strings.HasPrefix(p.text, "\t") || strings.HasPrefix(p.text, "  ")
	return indented && !p.item && comment(strings.TrimSpace(p.text)) == ""
}

// goesOn reports whether a line continues the sentence of a piece.
func (p *piece) goesOn(line string) bool {
	const longest = 1 << 10 // bytes
	before := strings.TrimRight(p.text, " \t")
	if p.code || !strings.HasSuffix(before, "\n") || strings.HasSuffix(before, "\n\n") || len(before) > longest {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(before))
	next, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(next) && (unicode.IsLetter(last) || unicode.IsDigit(last) || last == ',')
}

// needs returns what a piece refers to: the line above its list, or the piece before it.
func (s *Set) needs(p *piece, bare string, before, lead int) (needs, newLead int) {
	switch {
	case p.item && lead >= 0:
		return lead, lead
	case strings.HasSuffix(strings.TrimRight(s.all[before].text, " \t"), "\n\n"):
		return -1, -1
	case refersBack(bare):
		return before, lead
	}
	return -1, lead
}

// correct finds what a piece corrects: the newest piece on the same subject in an earlier message,
// or, if it names no subject, the newest with a value of the same form.
func (s *Set) correct(i int) {
	const mostRecent = 64
	c := &s.all[i]
	if c.code || len(c.text) > 1<<10 {
		return
	}
	c.content = contentOf(strings.TrimSpace(c.text))
	if c.content.marked || c.content.states || c.content.rejected != nil {
		c.corrects = s.corrected(c)
	}
	if k := c.corrects; k >= 0 {
		s.all[k].changed = true
		if c.needs < 0 && len(c.content.words) <= elliptic {
			c.needs = k
		}
	}
	s.recent = append(s.recent[max(0, len(s.recent)-mostRecent+1):], i)
}

func (s *Set) corrected(c *piece) int {
	for _, replaces := range [...]func(c, old *content) bool{(*content).replaces, (*content).replacesValue} {
		for _, k := range slices.Backward(s.recent) {
			if old := &s.all[k]; old.of != c.of && replaces(&c.content, &old.content) && judge(old.text) > other {
				return k
			}
		}
	}
	return -1
}

// Resume adds the lines of a section that [Set.Text] has written. It serves if the texts of the
// user are no longer available.
func (s *Set) Resume(section string) {
	lines, missing := parse(section)
	s.missing = s.missing || missing
	for _, line := range lines {
		line, changed := strings.CutPrefix(line, Changed)
		line, standing := strings.CutPrefix(line, Standing)
		if standing {
			s.Order(line)
		}
		from := len(s.all)
		s.add(line, true)
		for i := from; i < len(s.all); i++ {
			s.all[i].changed = s.all[i].changed || changed
		}
	}
}

// Orders returns the standing orders in a section that [Set.Text] has written.
func Orders(section string) (orders []string) {
	lines, _ := parse(section)
	for _, line := range lines {
		if order, ok := strings.CutPrefix(line, Standing); ok {
			orders = append(orders, order)
		}
	}
	return orders
}

// parse returns the lines of a section, and whether there was no room for all rules.
func parse(section string) (lines []string, missing bool) {
	in := false
	for line := range strings.SplitSeq(section, "\n") {
		item, isItem := strings.CutPrefix(line, "- ")
		more, isMore := strings.CutPrefix(line, indent)
		switch last := len(lines) - 1; {
		case line == text.English.Headings().Quotes, line == text.Chinese.Headings().Quotes:
			in = true
		case !in:
		case isItem && (item == english.more || item == chinese.more):
			missing = true
		case isItem:
			lines = append(lines, item)
		case last >= 0 && (isMore || line == ""):
			lines[last] += "\n" + more
		default:
			in = false
		}
	}
	return lines, missing
}

// oneLine returns a text as one line.
func oneLine(s string) string { return text.Line(s, len(s)+1) }
