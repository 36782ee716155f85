// Package digest makes one line of the facts in a text that is removed from the view: what an agent can need again word for
// word and cannot make up.
//
//	lines := digest.Lines(cleared, kept, digest.Options{Tokens: 40})
//	// "order_id: #W2378156; price: 272.33; yusuf_rossi_9620"
//
// Facts are found by rules, without a model and in any language. Package lex reads the tokens, a scanner knows the key of each
// value, and the facts are ranked by what they are worth for their cost in tokens. Each is in the line as it is in the text,
// but for escapes of JSON. One with little meaning of its own has its key in front. The line has no control character and no
// line break. The page docs/internals/digest.md has what is a fact, and what this keeps of recorded conversations.
package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/tokens"
)

// Options limit the lines.
type Options struct {
	Tokens  int            // the longest line, by Counter; 0 or less: no lines
	Counter tokens.Counter // called some dozen times for a line, mostly for a few words; nil: [tokens.Estimate]
	Results []string       // are also kept now, and may be cleared later: a fact that only they show counts half
}

// Cleared is a text that is removed from the view.
type Cleared struct {
	Text   string
	Tokens int    // the longest line, if less than [Options.Tokens]; 0: Options.Tokens, negative: no line
	Of     string // only what occurs in this text is a fact; "": Text
}

// Lines returns a line for each cleared text: the facts that occur neither in what is kept nor in the line of another cleared
// text, as many as fit, those first that are most likely to be needed later. A line is "" if no fact fits.
//
// kept and [Options.Results] should be all that the model will see. Of a longer text, cleared or kept, the first 256 KiB and
// the last 64 KiB are read. The same arguments give the same lines, in time proportional to the length of all texts. The
// arguments are neither retained nor changed.
func Lines(cleared []Cleared, kept []string, opts Options) []string {
	if opts.Tokens <= 0 || len(cleared) == 0 {
		return make([]string, len(cleared))
	}
	p := newPool(cleared)
	p.look(opts.Results, passing)
	p.look(kept, shown)
	all, counter := make([]string, len(cleared)), cmp.Or[tokens.Counter](opts.Counter, tokens.Estimate{})
	for i, c := range slices.Backward(cleared) {
		d := draft{limit: opts.Tokens, counter: counter}
		if c.Tokens != 0 {
			d.limit = min(d.limit, c.Tokens)
		}
		d.fill(p.ranked(i))
		all[i] = d.line()
		for _, f := range d.picked {
			f.mark.in = shown
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
}

// fill adds the facts that fit.
func (d *draft) fill(ranked []*fact) {
	const most = 40 // facts that do not fit
	for misses := 0; misses < most && len(ranked) > 0; ranked = ranked[1:] {
		f := ranked[0]
		shows := func(g *fact) bool { return f.isIn(g) || f.kind == text && strings.Contains(f.text, g.text) }
		if slices.ContainsFunc(d.picked, shows) || imitates(f.text) {
			continue
		}
		more := " " + f.text
		isKeyed := slices.ContainsFunc(d.picked, func(g *fact) bool { return g.key == f.key })
		if f.key != "" && !isKeyed {
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
		d.picked = append(slices.DeleteFunc(d.picked, func(g *fact) bool { return g.isIn(f) }), f)
		d.text += more
		d.bound = bound
	}
}

// isIn reports whether a line with another fact shows the fact, as whole words.
func (f *fact) isIn(other *fact) bool {
	k := strings.Index(other.text, f.text)
	isPart := k >= 0 && len(f.text) < len(other.text) && !lex.SplitsWord(other.text, k) && !lex.SplitsWord(other.text, k+len(f.text))
	return isPart || f.text == other.key
}

// line returns the line of the picked facts. Those that rank last are dropped until it is within the limit and does not imitate
// a placeholder.
func (d *draft) line() string {
	for ; len(d.picked) > 0; d.picked = d.picked[:len(d.picked)-1] {
		if text := compose(d.picked); d.counter.Count(text) <= d.limit && !imitates(text) {
			return text
		}
	}
	return ""
}

// compose writes what failed, then facts with the same key together, then those without a key, then those of
// several words, each in the order of the text.
func compose(picked []*fact) string {
	var parts, keys, words, phrases []string
	values := map[string][]string{}
	for _, f := range slices.SortedFunc(slices.Values(picked), func(a, b *fact) int { return cmp.Compare(a.seq, b.seq) }) {
		switch {
		case f.kind == failed:
			parts = append(parts, f.text)
		case f.key != "":
			if values[f.key] == nil {
				keys = append(keys, f.key)
			}
			values[f.key] = append(values[f.key], f.text)
		case isPhrase(f.text):
			phrases = append(phrases, f.text)
		default:
			words = append(words, f.text)
		}
	}
	for _, key := range keys {
		between := " "
		if slices.ContainsFunc(values[key], isPhrase) {
			between = ", "
		}
		parts = append(parts, key+": "+strings.Join(values[key], between))
	}
	if len(words) > 0 {
		parts = append(parts, strings.Join(words, " "))
	}
	return strings.Join(append(parts, phrases...), "; ")
}

// isPhrase reports whether a text has several words.
func isPhrase(text string) bool { return strings.IndexByte(text, ' ') >= 0 }
