package quotes

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Limits, in tokens.
const (
	whole  = 150 // a message with more is shortened
	end    = 75  // of each end of it that is kept
	middle = 300 // of what is between them that is kept
	short  = 16  // a message with at most so many is kept before others
	half   = 2   // the part of the room for these
	brief  = 20  // a request with more ranks lower
)

// Correction is before what a person wrote into a summary.
const Correction = "(correction by a person) "

const (
	bullet  = "\n- "
	indent  = "  "  // of the further lines of an item
	gap     = "[…]" // the line for what is left out of a message
	english = "(there is more, for which there is no room)"
	chinese = "(还有其他要求,此处放不下)"
)

// indented indents the further lines of an item.
var indented = strings.NewReplacer("\n\n", "\n\n"+indent, "\n", "\n"+indent)

// Text returns the section with its heading, without a line break at its end, or "" if there is
// nothing to keep or no room. The same set gives the same text.
func (s *Set) Text(o text.Options) string {
	p := picker{Set: s, all: slices.Clone(s.all), count: o.Counter.Count}
	for _, m := range p.said {
		if !m.repeated {
			p.want(m)
		}
	}
	heading, more := o.Language.Headings().Quotes, bullet+text.Pick(o.Language, english, chinese)
	for room := o.Tokens - p.count(heading+more); ; {
		missing := p.choose(room) || s.missing
		lines := p.lines()
		if len(lines) == 0 {
			return ""
		}
		section := heading
		if missing {
			section += more
		}
		section += bullet + strings.Join(lines, bullet)
		over := p.count(section) - o.Tokens
		if over <= 0 {
			return section
		}
		room -= over // a counter may need more for the whole than for its parts
	}
}

// picker decides what is kept.
type picker struct {
	*Set

	all   []passage
	count func(string) int
}

// want marks what is wanted of a message: of a long one both ends, and what is strange in its middle.
func (p *picker) want(m message) {
	all := p.all[m.from:m.to]
	size, before := 0, 0
	for i := range all {
		s := &all[i]
		s.cost = p.count(s.text)
		size += s.cost
		if i == 0 || s.mark != "" {
			s.cost += p.count(bullet + s.mark)
		}
	}
	isLong := !m.resumed && size > whole
	for i := range all {
		s := &all[i]
		atEnd := i == 0 || i == len(all)-1 || before+s.cost <= end || size-before <= end
		s.inside = isLong && !atEnd
		s.wanted = !s.inside && strings.TrimSpace(s.text) != gap
		before += s.cost
	}
	if isLong {
		compare(all)
		wantStrange(all)
	}
}

// choose takes of what is wanted what is worth most, as far as there is room. It reports whether a rule has no room.
func (p *picker) choose(room int) (missing bool) {
	const least = 300 // tokens: in less, there is no room for what is not a rule
	cost := 0
	for i := range p.all {
		p.all[i].taken = false
		if p.all[i].wanted {
			cost += p.all[i].cost
		}
	}
	if cost > room {
		for i := range p.all {
			p.judge(i)
		}
		p.dropRepeated()
		if room >= least {
			room -= p.takeShort(room / half)
		}
	}
	for r := correction; r >= unknown; r-- {
		for i := range slices.Backward(p.all) {
			if s := &p.all[i]; s.wanted && !s.taken && s.rank == r {
				room -= p.take(i, room)
				missing = missing || r >= rule && !s.taken
			}
		}
	}
	return missing
}

// dropRepeated drops passages of longer messages that a later one has as well, such as lines of pasted logs.
func (p *picker) dropRepeated() {
	const least = 6 // tokens
	seen := map[string]bool{}
	for i := range slices.Backward(p.all) {
		if s, line := &p.all[i], strings.TrimSpace(p.all[i].text); s.cost >= least && s.mark == "" {
			s.wanted = s.wanted && !seen[line]
			seen[line] = true
		}
	}
}

// takeShort takes short messages as a whole, those of the highest rank first, of equal rank the newest, and returns their cost.
func (p *picker) takeShort(room int) (cost int) {
	for r := correction; r > chat; r-- {
		for _, m := range slices.Backward(p.said) {
			all, of := p.all[m.from:m.to], 0
			highest := unknown
			for i := range all {
				of += all[i].cost
				highest = max(highest, all[i].rank)
			}
			if highest != r || of > short || cost+of > room || m.repeated || all[0].taken {
				continue
			}
			cost += of
			for i := range all {
				all[i].taken = true
			}
		}
	}
	return cost
}

// take takes a passage with those that it refers to, and returns their cost. It returns 0 if there is no room.
func (p *picker) take(last, room int) (cost int) {
	first := last
	for p.all[first].refers {
		first--
	}
	all := p.all[first : last+1]
	for i := range all {
		if !all[i].taken {
			cost += all[i].cost
		}
	}
	if cost > room {
		return 0
	}
	for i := range all {
		all[i].taken = true
	}
	return cost
}

// lines returns what is taken. Neighbours in a message are one line, as they were written.
func (p *picker) lines() (lines []string) {
	before := -1
	for i, s := range p.all {
		if !s.taken {
			continue
		}
		joins := before >= 0 && p.all[before].of == s.of && p.all[before].mark+s.mark == ""
		last := len(lines) - 1
		switch {
		case joins && before == i-1:
			lines[last] += s.text
		case joins:
			lines[last] = strings.TrimRight(lines[last], " \t\n") + "\n" + gap + "\n" + strings.TrimLeft(s.text, "\n")
		default:
			lines = append(lines, s.mark+strings.TrimLeft(s.text, " \t\n"))
		}
		before = i
	}
	for i, l := range lines {
		lines[i] = indented.Replace(strings.TrimRight(l, " \t\n"))
	}
	return lines
}

// compare finds how much each passage of a long message, most of which is pasted, differs from the others: by words that occur
// nowhere else in it, by its language, since it stands between blank lines or code, and since it speaks to someone.
func compare(all []passage) {
	const quarter = 4                                                        // of the passages: a language of more is not foreign
	added := [...]float64{0.3, 0.3, 1}                                       // to the share of words
	in, last, spoken := map[string]int{}, map[string]int{}, map[string]int{} // in how many passages a word is, and the last one
	words, languages := make([][]string, len(all)), make([]string, len(all))
	for i, s := range all {
		words[i] = word.FindAllString(strings.ToLower(s.text), -1)
		for _, w := range words[i] {
			if last[w] <= i {
				in[w], last[w] = in[w]+1, i+1
			}
		}
		if !s.code {
			languages[i] = language(words[i])
		}
		spoken[languages[i]]++
	}
	for i := range all {
		s, others := &all[i], slices.DeleteFunc(slices.Clone(words[i]), func(w string) bool { return in[w] == 1 })
		s.strange = float64(len(words[i])-len(others)) / float64(max(1, len(words[i])))
		if s.code {
			continue
		}
		said := read(s.text)
		speaks := said.has("person") || said.begins("imperative") || endsIn(s.text, "?", "？") && said.has("polite")
		isForeign := languages[i] != "" && quarter*spoken[languages[i]] < len(all)-spoken[""]
		for reason, is := range []bool{speaks, stands(all, i), isForeign} {
			if is {
				s.strange, s.own = s.strange+added[reason], true
			}
		}
	}
}

// stands reports whether a passage is alone between blank lines, or between code or lists.
func stands(all []passage, i int) bool {
	if i == 0 || i == len(all)-1 || all[i].list {
		return false
	}
	s, before, after := &all[i], &all[i-1], &all[i+1]
	isBlank := strings.HasSuffix(before.text, "\n\n") && strings.HasSuffix(s.text, "\n\n") && s.text[0] != '#'
	return isBlank || (before.code || before.list) && (after.code || after.list)
}

// language returns the list of frequent words of which a text has most, or "" if it has none, or as many of two.
func language(words []string) (best string) {
	said, most := " "+strings.Join(words, " ")+" ", 0
	for name, items := range lists {
		n := 0
		for k := 0; k < len(items) && strings.HasPrefix(name, "words "); k++ {
			n += strings.Count(said, items[k])
		}
		if n > most {
			best, most = name, n
		} else if n == most {
			best = ""
		}
	}
	return best
}

// wantStrange marks what is strange in the middle of a long message, and rules, as far as there is room for them: a paste
// repeats its words, and what the user adds to it has others.
func wantStrange(all []passage) {
	const least = 0.4
	var strange []*passage
	for i := range all {
		if s := &all[i]; !s.wanted && !s.code && (s.strange >= least || judge(s.text) >= rule) {
			strange = append(strange, s)
		}
	}
	slices.SortStableFunc(strange, func(a, b *passage) int { return cmp.Compare(b.strange, a.strange) })
	room := middle
	for _, s := range strange {
		s.wanted = s.cost <= room
		if s.wanted {
			room -= s.cost
		}
	}
}

// word matches a word, or a Chinese character.
var word = regexp.MustCompile(`\p{Han}|[\p{L}\p{M}'’-]+`)
