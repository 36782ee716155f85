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
	p.look(opts.Results, passing)
	p.look(kept, shown)
	return p.lines(cleared, opts)
}

// lines makes the lines of the texts in the pool, the newest first.
func (p *pool) lines(cleared []Cleared, opts Options) []string {
	if opts.Counter == nil {
		opts.Counter = tokens.Estimate{}
	}
	all := make([]string, len(cleared))
	for i, c := range slices.Backward(cleared) {
		d := draft{limit: opts.Tokens, counter: opts.Counter}
		if c.Tokens != 0 {
			d.limit = min(d.limit, c.Tokens)
		}
		d.fill(p.ranked(i))
		all[i] = d.line()
		for _, f := range d.picked {
			p.sight[f.id] = shown
		}
	}
	return all
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

// fill adds the facts that fit.
func (d *draft) fill(ranked []*fact) {
	const mostMisses = 40
	misses := 0
	inside := map[string]bool{} // what the picked facts contain
	for _, f := range ranked {
		if d.limit <= 0 || misses > mostMisses {
			return
		}
		if inside[f.text] || imitates(f.text) {
			continue
		}
		more := " " + f.text
		if isPhrase(f.text) {
			more = "," + more
		}
		if f.needsKey() && !slices.ContainsFunc(d.picked, func(g *fact) bool { return g.key == f.key && g.needsKey() }) {
			more = "; " + f.key + ":" + more
		}
		// The whole is counted only if the sum of the parts is too much: some counters join what is next to each other.
		bound := d.bound + 1 + d.counter.Count(more)
		if bound > d.limit {
			bound = d.counter.Count(d.text + more)
		}
		if bound > d.limit {
			misses++
			continue
		}
		d.picked, d.text, d.bound = append(d.picked, f), d.text+more, bound
		if inside[f.key] = true; f.kind == text || isPhrase(f.text) {
			scan(f.text, func(g fact) { inside[g.text] = true })
		}
	}
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

// compose writes the range of numbered lines, then facts with the same key together, then those without a key, then phrases
// without a key, each in the order of the text.
func compose(picked []*fact) string {
	const words, phrases = "", ","
	var keys, parts []string
	values := map[string][]string{}
	for _, f := range slices.SortedFunc(slices.Values(picked), func(a, b *fact) int { return cmp.Compare(a.seq, b.seq) }) {
		key := words
		switch {
		case f.kind == lines:
			parts = append(parts, f.text)
			continue
		case f.needsKey():
			if key = f.key + ": "; values[key] == nil {
				keys = append(keys, key)
			}
		case isPhrase(f.text):
			key = phrases
		}
		values[key] = append(values[key], f.text)
	}
	values[words] = slices.DeleteFunc(values[words], func(w string) bool { return values[w+": "] != nil })
	for _, key := range append(keys, words, phrases) {
		between := " "
		if slices.ContainsFunc(values[key], isPhrase) {
			between = ", "
		}
		if len(values[key]) > 0 {
			parts = append(parts, strings.TrimPrefix(key, phrases)+strings.Join(values[key], between))
		}
	}
	return strings.Join(parts, "; ")
}

// isPhrase reports whether a text has several words.
func isPhrase(text string) bool { return strings.IndexByte(text, ' ') >= 0 }

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
		if f.needsKey() {
			i.Label = f.key
		}
		found = append(found, i)
	})
	return found
}

// identifies reports whether a fact is an identifier by its kind or its key.
func (f *fact) identifies() bool {
	switch f.kind {
	case amount, email, link, id, hash:
		return true
	case number, code, text:
		return ids.Has(lastWord(f.key)) && !isPhrase(f.text)
	case host: // an address, and no version
		return strings.Count(f.text, ".") == 3 && strings.Trim(f.text, digits+".:") == ""
	default:
		return false
	}
}
