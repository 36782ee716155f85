package quotes

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options define how much is kept.
type Options struct {
	Tokens   int            // of the section, at most, by Counter
	Counter  tokens.Counter // is asked for one piece at a time, and for the section
	Language text.Language  // of the heading; "": English
}

// Limits, in tokens.
const (
	whole  = 150 // a message with more is shortened
	end    = 75  // of each end of it that is kept
	middle = 300 // of what is between them that is kept
	brief  = 20  // a request with more ranks lower
)

// Standing is before standing orders.
const Standing = "(standing order) "

const (
	indent  = "  "  // of the further lines of an item
	gap     = "[…]" // the line for what is left out of a message
	english = "(there is more, for which there is no room)"
	chinese = "(还有其他要求,此处放不下)"
)

// Text returns the section with its heading, without a line break at its end, or "" if there is
// nothing to keep or no room. The same set gives the same text.
func (s *Set) Text(o Options) string {
	heading, more := o.Language.Headings().Quotes, "\n- "+english
	if o.Language == text.Chinese {
		more = "\n- " + chinese
	}
	for room := o.Tokens; ; {
		p := picker{Set: s, all: slices.Clone(s.all), count: o.Counter.Count, missing: s.missing}
		p.pick(room - p.count(heading+more) - 2)
		lines := p.lines()
		if len(lines) == 0 {
			return ""
		}
		section := heading
		if p.missing {
			section += more
		}
		for _, l := range lines {
			section += "\n- " + strings.ReplaceAll(strings.TrimRight(l, " \t\n"), "\n", "\n"+indent)
		}
		section = strings.ReplaceAll(section, "\n"+indent+"\n", "\n\n")
		over := p.count(section) - o.Tokens
		if over <= 0 {
			return section
		}
		room -= over // a counter may need more for the whole than for its parts
	}
}

// picker takes pieces as long as there is room.
type picker struct {
	*Set

	all     []piece
	count   func(string) int
	missing bool // a rule has no room
}

// pick takes all that is wanted, or of that what is worth most.
func (p *picker) pick(room int) {
	p.markOrders()
	p.markChanged()
	all := 0
	for _, m := range p.said {
		if !m.repeated {
			all += p.want(m)
		}
	}
	for i := range p.all {
		s := &p.all[i]
		if s.taken = s.wanted && all <= room; s.wanted && !s.taken {
			s.rank = s.judge()
		}
	}
	for r := order; r > none; r-- {
		for i := len(p.all) - 1; i >= 0; i-- {
			s := &p.all[i]
			if !s.wanted || s.taken || s.rank != r {
				continue
			}
			room -= p.takeOrDemote(i, room)
		}
	}
}

// takeOrDemote takes a piece, or ranks it anew if there is no room. A line of code has the same rank without its mark, and
// costs less: it is tried again. The cost is returned, 0 if nothing is taken.
func (p *picker) takeOrDemote(i, room int) int {
	s := &p.all[i]
	before, marked := s.rank, s.mark != ""
	if cost := p.take(i, room); cost > 0 {
		return cost
	}
	p.missing = p.missing || before == rule
	p.demote(i)
	if marked && s.rank == before {
		return p.take(i, room)
	}
	return 0
}

// demote ranks a piece anew that had no room: it is a standing order no more, and costs as much as one that never was.
func (p *picker) demote(i int) {
	s := &p.all[i]
	if s.mark == Standing {
		s.mark = ""
		s.cost = p.costOf(i)
	}
	s.rank = s.judge()
}

// costOf returns the tokens of a piece, with the beginning of its line if it begins one.
func (p *picker) costOf(i int) int {
	s := &p.all[i]
	if i == p.said[s.of].from || s.mark != "" {
		return p.count(s.text) + p.count("\n- "+s.mark)
	}
	return p.count(s.text)
}

// markOrders finds which pieces are standing orders. An order that is a piece word for word, as in an earlier section, is
// no other.
func (p *picker) markOrders() {
	const enough = 24 // bytes of an order that is a part of a sentence
	for _, o := range p.orders {
		exact := slices.ContainsFunc(p.all, func(s piece) bool { return oneLine(s.text) == o })
		for i := range p.all {
			line := oneLine(p.all[i].text)
			in := strings.Contains(line, o) && (2*len(o) >= len(line) || len(o) >= enough) || strings.Contains(o, line)
			if (line == o || !exact && in) && !read(lower(line)).isCourtesy() {
				p.all[i].mark = Standing
			}
		}
	}
}

// want marks what is wanted of a message: of a long one, both ends and what is strange in its middle. It returns the cost.
func (p *picker) want(m said) (cost int) {
	all := p.all[m.from:m.to]
	size := 0
	for i := range all {
		all[i].cost = p.count(all[i].text)
		size += all[i].cost
	}
	left, isLong := size, !m.resumed && size > whole // left: from here to the end
	lead := false                                    // the line above a list is wanted
	var inside []*piece
	for i := range all {
		s := &all[i]
		atEnd := i == 0 || i == len(all)-1 || size-left+s.cost <= end || left <= end
		left -= s.cost
		lead = lead && s.item
		s.wanted = (!isLong || atEnd || lead || s.mark == Standing) && strings.TrimSpace(s.text) != gap
		lead = lead || s.wanted && endsIn(s.text, ":", "：")
		if !s.wanted && !s.code {
			inside = append(inside, s)
		}
	}
	if isLong {
		wantStrange(inside, wordsOf(all))
	}
	for i := range all {
		s := &all[i]
		if i == 0 || s.mark != "" {
			s.cost += p.count("\n- " + s.mark)
		}
		cost += s.cost * count(s.wanted)
	}
	return cost
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

var word = regexp.MustCompile(`\p{Han}|[\p{L}\p{M}'’-]+`)

// wordsOf counts the words, and the Chinese characters, of pieces.
func wordsOf(all []piece) map[string]int {
	n := map[string]int{}
	for _, s := range all {
		for _, w := range word.FindAllString(strings.ToLower(s.text), -1) {
			n[w]++
		}
	}
	return n
}

// block is a sentence, or a short list with the line above it.
type block struct {
	pieces  []piece
	of      []*piece
	cost    int
	strange float64 // the share of its words that occur nowhere else in its message
}

// wantStrange marks the sentences whose words occur nowhere else in their message, those with most of them first: what
// somebody pastes repeats its words, and what the user writes into it has others, in any language. A short list is judged as
// a whole. If there is room left, rules follow.
func wantStrange(inside []*piece, elsewhere map[string]int) {
	const least = 0.4 // of the words
	blocks := blocksOf(inside)
	for i := range blocks {
		own, n := wordsOf(blocks[i].pieces), 0
		for w, k := range own {
			n += count(elsewhere[w] == k)
		}
		blocks[i].strange = float64(n) / float64(max(1, len(own)))
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(b.strange, a.strange) })
	room := middle
	for _, b := range blocks {
		if b.cost <= room && (b.strange >= least || judge(b.pieces[0].text) == rule) {
			room -= b.cost
			for _, s := range b.of {
				s.wanted = true
			}
		}
	}
}

// blocksOf joins the items of a list, and the line above it, as long as they are short.
func blocksOf(inside []*piece) (blocks []block) {
	for _, s := range inside {
		if last := len(blocks) - 1; last >= 0 && s.item && blocks[last].cost+s.cost <= middle {
			b := &blocks[last]
			if before := b.pieces[len(b.pieces)-1]; before.item || endsIn(before.text, ":", "：") {
				b.pieces, b.of, b.cost = append(b.pieces, *s), append(b.of, s), b.cost+s.cost
				continue
			}
		}
		blocks = append(blocks, block{pieces: []piece{*s}, of: []*piece{s}, cost: s.cost})
	}
	return blocks
}

// judge returns the rank of a piece.
func (s *piece) judge() rank {
	r := judge(s.text)
	switch {
	case s.code:
		return other
	case s.mark == Standing:
		return order
	case s.mark != "":
		return other
	case r == request && s.cost > brief:
		return long
	}
	return r
}

// take takes a piece and those that it refers to, and returns their cost. It returns 0 if there is no room.
func (p *picker) take(i, room int) (cost int) {
	const most = 4
	if p.all[i].cost > room {
		return 0
	}
	chain, from := []int{i}, p.said[p.all[i].of].from
	for k := i; len(chain) < most && k > from && p.refersBack(k); chain = append(chain, k) {
		k--
		for p.all[i].item && k > from && p.all[k].item {
			k--
		}
	}
	chain = slices.DeleteFunc(chain, func(k int) bool { return p.all[k].taken })
	for _, k := range chain {
		cost += p.all[k].cost
	}
	if cost > room {
		return 0
	}
	for _, k := range chain {
		p.all[k].taken = true
	}
	return cost
}

// refersBack reports whether a piece is not understood without the one before it, or the line above its list.
func (p *picker) refersBack(i int) bool {
	s, before := &p.all[i], &p.all[i-1]
	if s.code || before.code || s.item {
		return !s.code && s.item
	}
	said := read(lower(strings.TrimSpace(s.text)))
	return !strings.HasSuffix(before.text, "\n\n") && (said.begins("links") || said.has("pronouns"))
}

// lines returns what is taken. Neighbours in a message are one line, as they were written.
func (p *picker) lines() (lines []string) {
	before := -1
	for i, s := range p.all {
		if !s.taken {
			continue
		}
		joins := before >= 0 && p.all[before].of == s.of && p.all[before].mark+s.mark == ""
		switch last := len(lines) - 1; {
		case joins && before == i-1:
			lines[last] += s.text
		case joins:
			lines[last] = strings.TrimRight(lines[last], " \t\n") + "\n" + gap + "\n" + strings.TrimLeft(s.text, "\n")
		default:
			lines = append(lines, s.mark+strings.TrimLeft(s.text, " \t\n"))
		}
		before = i
	}
	return lines
}
