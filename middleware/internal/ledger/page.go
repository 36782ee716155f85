package ledger

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/tokens"
)

// page is a text that is put together from sections, as long as there is room.
type page struct {
	counter tokens.Counter
	room    int // tokens
	taken   []section
}

// section is a title, or two, with lines below, the oldest first.
type section struct {
	titles [2]string
	lines  []line
	joined bool   // all in one line, in which those of one label stand together
	share  int    // it keeps one of so many parts of the room, if it needs that much; 0: none
	note   string // stands above the lines once older ones have left; "": nothing does
	cut    bool   // older lines have left
}

type line struct {
	label  string // in front of the text; "": none
	text   string
	second bool // it stands below the second title
}

// cost returns what a line adds to a text, rather too much than too little: a
// counter may round down, or join what is side by side.
func (p *page) cost(line string) int { return max(p.counter.Count(line), 1) + 1 }

// share adds sections. Each takes what it can and leaves to those behind it what
// they keep.
func (p *page) share(sections []section) {
	keeps := make([]int, len(sections))
	others := 0
	for i, s := range sections {
		if s.share > 0 {
			_, keeps[i] = p.fitting(s, p.room/s.share)
		}
		others += keeps[i]
	}
	for i, s := range sections {
		others -= keeps[i]
		p.take(s, others)
	}
}

// take adds a section, of its lines the newest that fit, and leaves at least so
// many tokens to others. It reports whether all its lines fit.
func (p *page) take(s section, others int) (all bool) {
	n, cost := p.fitting(s, p.room-others)
	all = n == len(s.lines)
	if n > 0 {
		s.lines = s.lines[len(s.lines)-n:]
		s.cut = s.cut || !all
		p.taken = append(p.taken, s)
		p.room -= cost
	}
	return all
}

// fitting returns how many of the newest lines of a section fit into so many
// tokens, and what they take.
func (p *page) fitting(s section, most int) (n, cost int) {
	titled, labels := [2]bool{}, map[string]bool{}
	for n < len(s.lines) {
		l := s.lines[len(s.lines)-1-n]
		more := p.cost("- " + l.text)
		if l.label != "" && !labels[l.label] {
			more += p.cost(l.label + ": ")
		}
		k := 0
		if l.second {
			k = 1
		}
		if !titled[k] {
			more += p.cost(s.titles[k])
		}
		if cost+more > most {
			break
		}
		titled[k], labels[l.label] = true, s.joined
		cost += more
		n++
	}
	return n, cost
}

// text writes the page, which has at most so many tokens. "": it is empty.
func (p *page) text(heading string, most int) string {
	for len(p.taken) > 0 {
		var b strings.Builder
		b.WriteString(heading)
		for _, s := range p.taken {
			b.WriteString(s.text())
		}
		if p.counter.Count(b.String()) <= most {
			return b.String()
		}
		last := len(p.taken) - 1
		if p.taken[last] = p.taken[last].shorter(); len(p.taken[last].lines) == 0 {
			p.taken = p.taken[:last]
		}
	}
	return ""
}

// shorter returns a section without its oldest line. The note leaves before the
// last line does.
func (s section) shorter() section {
	if s.cut && s.note != "" && len(s.lines) == 1 {
		s.note = ""
		return s
	}
	s.lines, s.cut = s.lines[1:], true
	return s
}

// together returns the lines with those of one label where the first of them is.
func (s section) together() []line {
	if !s.joined {
		return s.lines
	}
	var out []line
	for _, l := range s.lines {
		at := len(out)
		if l.label != "" {
			for k := range out {
				if out[k].label == l.label {
					at = k + 1
				}
			}
		}
		out = slices.Insert(out, at, l)
	}
	return out
}

// text writes a section, with a line break in front of each line.
func (s section) text() string {
	var b strings.Builder
	for k, title := range s.titles {
		between, label := "\n- ", ""
		for _, l := range s.together() {
			if l.second != (k == 1) {
				continue
			}
			if title != "" {
				b.WriteString("\n" + title)
				title = ""
				if s.cut && s.note != "" {
					b.WriteString("\n- " + s.note)
				}
			}
			switch l.label {
			case "":
				b.WriteString(between + l.text)
			case label:
				b.WriteString(", " + l.text)
			default:
				b.WriteString(between + l.label + ": " + l.text)
			}
			if s.joined {
				between, label = "; ", l.label
			}
		}
	}
	return b.String()
}
