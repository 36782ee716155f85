// Package digest makes one line of the facts in a text that is removed from the
// view: what an agent can need again word for word and cannot make up.
//
//	lines := digest.Lines(cleared, kept, digest.Options{Tokens: 40})
//	// "order_id: #W2378156; price: 272.33; yusuf_rossi_9620"
//
// Facts are found by rules, without a model and in any language. A tokenizer splits
// lines into tokens, a scanner knows the key of each value, and the facts are ranked
// by what they are worth for their cost in tokens. The page docs/internals/digest.md has what
// is a fact, and what this keeps of recorded conversations.
//
// Each fact is in the line as it is in the text, so that a search finds it. In
// JSON, \u5f20 and \/ are written as the characters that they represent. A fact
// with little meaning of its own has its key in front. The line has nothing else,
// no control character and no line break.
package digest

import (
	"cmp"
	"net/netip"
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

	// Results are also kept now, and may be cleared later. A fact that only they show counts half: otherwise it would be
	// in no line once they are cleared, if their own facts are worth more.
	Results []string
}

// Cleared is a text that is removed from the view.
type Cleared struct {
	Text   string
	Tokens int    // the longest line, if less than [Options.Tokens]; 0: Options.Tokens, negative: no line
	Of     string // only what occurs in this text is a fact; "": Text
}

// Lines returns a line for each cleared text: the facts that occur neither in what
// is kept nor in the line of another cleared text, as many as fit, those first that
// are most likely to be needed later. A line is "" if there are none or none fits.
//
// kept and [Options.Results] should be all that the model will see. Of a longer text,
// cleared or kept, the first 256 KiB and the last 64 KiB are read.
//
// The same arguments give the same lines, in time proportional to the length of
// all texts. The arguments are neither retained nor changed.
func Lines(cleared []Cleared, kept []string, opts Options) []string {
	if opts.Tokens <= 0 || len(cleared) == 0 {
		return make([]string, len(cleared))
	}
	p := newPool(cleared)
	return p.lines(cleared, p.look(kept, opts.Results), opts)
}

// look finds the facts in what is kept.
func (p *pool) look(kept, results []string) *finder {
	find := newFinder(p.texts)
	for _, r := range results {
		for _, text := range legible(r) {
			find.mark(find.passing, text)
		}
	}
	for _, k := range kept {
		for _, text := range legible(k) {
			find.mark(find.shown, text)
		}
	}
	return find
}

// lines makes the lines of the texts in the pool, the newest first.
func (p *pool) lines(cleared []Cleared, find *finder, opts Options) []string {
	if opts.Counter == nil {
		opts.Counter = tokens.Estimate{}
	}
	const mostMisses = 40 // after these, no more facts are tried
	lines := make([]string, len(cleared))
	for i, c := range slices.Backward(cleared) {
		d := draft{limit: opts.Tokens, counter: opts.Counter}
		if c.Tokens != 0 {
			d.limit = min(d.limit, c.Tokens)
		}
		for _, f := range p.ranked(i, find) {
			if d.misses > mostMisses || d.limit <= 0 {
				break
			}
			if g := p.longest(i, f); !d.add(g) && g != f {
				d.add(f)
			}
		}
		lines[i] = d.line()
		find.mark(find.shown, lines[i])
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
	hasLabel := func(g *fact) bool { return g.text == f.label || g.needsLabel() && g.label == f.label }
	if f.needsLabel() && !slices.ContainsFunc(d.picked, hasLabel) {
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

// compose writes facts with the same label together, then those without a label,
// then phrases without a label, each in the order of the text.
func compose(picked []*fact) string {
	var labels, words, phrases, parts []string
	values := map[string][]string{}
	for _, f := range slices.SortedFunc(slices.Values(picked), func(a, b *fact) int { return cmp.Compare(a.seq, b.seq) }) {
		switch {
		case f.kind == lines:
			parts = append(parts, f.text) // the only one before the labels
		case isRepeated(f, picked):
		case f.needsLabel():
			if values[f.label] == nil {
				labels = append(labels, f.label)
			}
			values[f.label] = append(values[f.label], f.text)
		case isPhrase(f.text):
			phrases = append(phrases, f.text)
		default:
			words = append(words, f.text)
		}
	}
	for _, label := range labels {
		between := " "
		if slices.ContainsFunc(values[label], isPhrase) {
			between = ", "
		}
		parts = append(parts, label+": "+strings.Join(values[label], between))
	}
	words = slices.DeleteFunc(words, func(w string) bool { return values[w] != nil }) // the label is enough
	for _, part := range []string{strings.Join(words, " "), strings.Join(phrases, ", ")} {
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
			(!f.needsLabel() || g.needsLabel() && f.label == g.label || occurs(f.label, g.text))
	})
}

// Identifier is a fact that cannot be guessed, and that no tool returns again when
// called for something similar: an id, an amount, an e-mail address, a link, a
// hash, a phone number or an IP address.
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
	case host: // and no version
		return isAddress(f.text)
	default:
		return false
	}
}

// isAddress reports whether a text is an IP address, perhaps with a port.
func isAddress(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(s)
	return err == nil
}
