// Package digest makes one line of the facts in a text that is removed from the
// view: what an agent can need again word for word and cannot make up.
//
//	lines := digest.Lines(cleared, kept, digest.Options{Tokens: 40})
//	// "order_id: #W2378156; price: 272.33; yusuf_rossi_9620"
//
// Facts are identifiers, amounts, dates, e-mail addresses, links, paths, hashes,
// versions, hosts, phone numbers, error messages, names in quotes, names in
// programs and the values of telling keys. They are found by rules, without a
// model and in any language: a tokenizer splits lines into tokens ([shapeOf] has
// their kinds), and a scanner knows the key of each value. It reads JSON, also cut
// off or in a string of other JSON, Python literals, tables, "key: value" lines,
// listings, search results, diffs, logs, stack traces, HTML, code and prose.
//
// Each fact is in the line as it is in the text, so that a search finds it. In
// JSON, \u5f20 and \/ are written as the characters that they represent. A fact
// with little meaning of its own has its key in front. The line has nothing else,
// no control character and no line break.
//
// Facts that occur in what is kept, or in the line of another cleared text, are
// left out. The others are ranked by what they are worth for their cost in tokens.
//
// The page docs/digest.md has what this keeps of recorded conversations.
package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/tokens"
)

// Options limit the lines.
type Options struct {
	// Tokens is the longest line, by Counter. 0 or less: no lines.
	Tokens int

	// Counter counts the lines. It is called some dozen times for each, mostly for
	// a few words. nil: [tokens.Estimate].
	Counter tokens.Counter
}

// Cleared is a text that is removed from the view.
type Cleared struct {
	Text string

	// Tokens is the longest line of this text, if that is less than
	// [Options.Tokens]. 0: Options.Tokens; negative: no line.
	Tokens int

	// Of is the text that Text was made of, if the two differ. Only what occurs in
	// it is a fact. "": Text.
	Of string
}

// Kept is a text that remains in the view.
type Kept struct {
	Text string

	// Said reports whether it is from the user or the model, arguments of calls
	// included. What they write about is likely to be needed again.
	Said bool
}

// Lines returns a line for each cleared text, in their order: the facts that occur
// neither in what is kept nor in the line of another cleared text, as many as fit,
// those first that are most likely to be needed later. A line is "" if there are
// none or none that fits.
//
// kept should be all that the model will see, oldest first: the last texts of the
// user and the model count most. Of a longer text, cleared or kept, the first 256
// KiB and the last 64 KiB are read.
//
// The same arguments give the same lines, in time proportional to the length of
// all texts. The arguments are neither retained nor changed.
func Lines(cleared []Cleared, kept []Kept, opts Options) []string {
	if opts.Tokens <= 0 || len(cleared) == 0 {
		return make([]string, len(cleared))
	}
	p := newPool(cleared)
	find, about := p.look(kept)
	return p.lines(cleared, find, about, opts)
}

// look finds the facts and the topics in what is kept.
func (p *pool) look(kept []Kept) (*finder, topics) {
	find, about := newFinder(p.texts), topics{}
	for i, k := range kept {
		for _, text := range legible(k.Text) {
			find.show(text)
			if k.Said {
				about.add(text, len(kept)-i)
			}
		}
	}
	return find, about
}

// lines makes the lines of the texts in the pool, the newest first.
func (p *pool) lines(cleared []Cleared, find *finder, about topics, opts Options) []string {
	if opts.Counter == nil {
		opts.Counter = tokens.Estimate{}
	}
	lines := make([]string, len(cleared))
	for i, c := range slices.Backward(cleared) {
		d := draft{limit: opts.Tokens, counter: opts.Counter}
		if c.Tokens != 0 {
			d.limit = min(d.limit, c.Tokens)
		}
		for _, f := range p.ranked(i, find, about) {
			if d.full() {
				break
			}
			if g := p.longest(i, f); !d.add(g) && g != f {
				d.add(f)
			}
		}
		lines[i] = d.line()
		find.show(lines[i])
	}
	return lines
}

// draft collects the facts of a line, as long as they fit.
type draft struct {
	limit   int // tokens
	counter tokens.Counter

	picked []*fact // best first
	text   string  // about as long as the line
	bound  int     // its tokens at most
	misses int     // how many facts did not fit
}

// full reports whether it makes no sense to try more facts.
func (d *draft) full() bool {
	const most = 40
	return d.misses > most || d.limit <= 0
}

// add adds a fact and returns true, unless it does not fit.
func (d *draft) add(f *fact) bool {
	if occurs(f.text, d.text) {
		return true
	}
	if imitates(f.text) {
		return false
	}
	more := " " + f.text
	if isPhrase(f.text) {
		more = "," + more
	}
	if f.needsLabel() && !slices.ContainsFunc(d.picked, func(g *fact) bool { return g.group() == f.label || g.text == f.label }) {
		more = "; " + f.label + ":" + more
	}
	// The whole is counted only if the sum of the parts is too much: some counters
	// join what is next to each other.
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

// line returns the line of the picked facts. Those that rank last are dropped
// until it is within the limit and does not imitate a placeholder.
func (d *draft) line() string {
	for len(d.picked) > 0 {
		if text := compose(d.picked); d.counter.Count(text) <= d.limit && !imitates(text) {
			return text
		}
		d.picked = d.picked[:len(d.picked)-1]
	}
	return ""
}

// The groups of facts without a label.
const (
	words   = ""
	phrases = " "
)

// group returns the label of a fact in a line, or one of the groups without.
func (f *fact) group() string {
	switch {
	case f.needsLabel():
		return f.label
	case isPhrase(f.text):
		return phrases
	}
	return words
}

// compose writes facts with the same label together, then those without a label,
// then phrases without a label, each in the order of the text.
func compose(picked []*fact) string {
	var labels, parts []string
	groups := map[string][]string{}
	for _, f := range slices.SortedFunc(slices.Values(picked), func(a, b *fact) int { return cmp.Compare(a.seq, b.seq) }) {
		g := f.group()
		if isRepeated(f, picked) {
			continue
		}
		if g != words && g != phrases && groups[g] == nil {
			labels = append(labels, g)
		}
		groups[g] = append(groups[g], f.text)
	}
	groups[words] = slices.DeleteFunc(groups[words], func(w string) bool { return groups[w] != nil }) // the label is enough
	for _, g := range append(labels, words, phrases) {
		between := " "
		if slices.ContainsFunc(groups[g], isPhrase) {
			between = ", "
		}
		part := strings.Join(groups[g], between)
		if g != words && g != phrases {
			part = g + ": " + part
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

// isRepeated reports whether a fact and its label are part of a picked phrase.
func isRepeated(f *fact, picked []*fact) bool {
	return slices.ContainsFunc(picked, func(g *fact) bool {
		return g != f && isPhrase(g.text) && occurs(f.text, g.text) &&
			(!f.needsLabel() || f.group() == g.group() || occurs(f.label, g.text))
	})
}

// Identifier is a fact that cannot be guessed, and that no tool returns again when
// called for something similar: an id, an amount, an e-mail address, a link, a
// hash or a phone number.
type Identifier struct {
	Text  string // as it is in the text
	Label string // its key, if Text has little meaning without it; else ""
}

// Identifiers returns the identifiers of a text, each once, in its order. Of a
// long text the parts are read that [Lines] reads.
func Identifiers(text string) []Identifier {
	var found []Identifier
	seen := map[string]bool{}
	scan(text, func(f fact) {
		if seen[f.text] || !f.identifies() {
			return
		}
		seen[f.text] = true
		i := Identifier{Text: f.text}
		if f.needsLabel() {
			i.Label = f.label
		}
		found = append(found, i)
	})
	return found
}

// identifies reports whether a fact is an identifier by its kind or, if it is all
// of a value, by its key.
func (f *fact) identifies() bool {
	switch f.kind {
	case amount, email, link, id, hash:
		return true
	case number, code, text:
		return f.whole && f.role == idKey && !isPhrase(f.text)
	default:
		return false
	}
}
