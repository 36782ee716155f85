package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/tokens"
)

// draft is a line that is put together from facts, as long as they fit.
type draft struct {
	limit   int // tokens
	counter tokens.Counter

	picked []*fact // best first
	text   string  // all of them, one behind the other
	bound  int     // tokens that this has at most
	misses int     // how many facts did not fit
}

// full reports whether trying more facts is no use.
func (d *draft) full() bool {
	const tries = 40
	return d.misses > tries || d.limit <= 0
}

// add takes a fact, unless it does not fit. It reports false if so.
func (d *draft) add(f *fact) bool {
	if says(d.text, f.text) {
		return true
	}
	if pretends(f.text) {
		return false
	}
	more := " " + f.text
	if f.isPhrase() {
		more = "," + more
	}
	if f.labelled() && !slices.ContainsFunc(d.picked, func(g *fact) bool { return f.sharesLabel(g) || g.text == f.label }) {
		more = "; " + f.label + ":" + more
	}
	// A count of the whole is asked for where the sum of those of the parts is too
	// large: a counter may join what is side by side.
	bound := d.bound + 1 + d.counter.Count(more)
	if bound > d.limit {
		bound = d.counter.Count(d.text + more)
	}
	if bound > d.limit {
		d.misses++
		return false
	}
	d.picked = append(d.picked, f)
	d.text += more
	d.bound = bound
	return true
}

// line returns what is picked as one line that is not above the limit, and that
// does not pretend to be more than facts.
func (d *draft) line() string {
	for len(d.picked) > 0 {
		if text := compose(d.picked); d.counter.Count(text) <= d.limit && !pretends(text) {
			return text
		}
		d.picked = d.picked[:len(d.picked)-1]
	}
	return ""
}

// compose writes facts with the same label together, behind them those without
// one, and last those of several words, each in the order of their text.
func compose(picked []*fact) string {
	var groups [][]*fact
	var words, phrases []*fact
	for _, f := range slices.SortedFunc(slices.Values(unrepeated(picked)), func(a, b *fact) int { return cmp.Compare(a.seq, b.seq) }) {
		k := slices.IndexFunc(groups, func(g []*fact) bool { return f.sharesLabel(g[0]) })
		switch {
		case !f.labelled() && f.isPhrase():
			phrases = append(phrases, f)
		case !f.labelled():
			words = append(words, f)
		case k < 0:
			groups = append(groups, []*fact{f})
		default:
			groups[k] = append(groups[k], f)
		}
	}
	words = slices.DeleteFunc(words, func(f *fact) bool { // a label is enough
		return slices.ContainsFunc(groups, func(g []*fact) bool { return g[0].label == f.text })
	})
	for _, bare := range [][]*fact{words, phrases} {
		if len(bare) > 0 {
			groups = append(groups, bare)
		}
	}
	var b strings.Builder
	for i, group := range groups {
		if i > 0 {
			b.WriteString("; ")
		}
		if group[0].labelled() {
			b.WriteString(group[0].label + ": ")
		}
		writeGroup(&b, group)
	}
	return b.String()
}

// says reports whether a string stands in a text as words of its own: W12 does
// not stand in W123.
func says(text, s string) bool {
	for from := 0; ; from++ {
		k := strings.Index(text[from:], s)
		if k < 0 {
			return false
		}
		from += k
		if occurs(s, text, from) {
			return true
		}
	}
}

// unrepeated returns the facts that are not said by another one of several words,
// which has the key of the fact as well.
func unrepeated(picked []*fact) []*fact {
	return slices.DeleteFunc(slices.Clone(picked), func(f *fact) bool {
		return slices.ContainsFunc(picked, func(g *fact) bool {
			return g != f && g.isPhrase() && says(g.text, f.text) && (!f.labelled() || f.sharesLabel(g) || says(g.text, f.label))
		})
	})
}

// writeGroup writes facts with a comma between them where a space would not do.
func writeGroup(b *strings.Builder, group []*fact) {
	between := " "
	if slices.ContainsFunc(group, (*fact).isPhrase) {
		between = ", "
	}
	for i, f := range group {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(f.text)
	}
}

// sharesLabel reports whether both have a label in the line, and the same.
func (f *fact) sharesLabel(g *fact) bool {
	return f.label == g.label && f.labelled() && g.labelled()
}
