package digest

import (
	"slices"

	"github.com/laconic-go/laconic/tokens"
)

// Options say how long the lines may be.
type Options struct {
	// Tokens is the most that a line may take, by Counter. 0 or less: there are
	// no lines.
	Tokens int

	// Counter counts the lines. It is asked some dozen times for each, mostly for
	// a few words. nil: [tokens.Estimate].
	Counter tokens.Counter
}

// Cleared is a text that is about to leave the view.
type Cleared struct {
	Text string

	// Tokens is the most that the line of this text may take, where that is less
	// than [Options.Tokens]. 0: as much as Options.Tokens; negative: no line.
	Tokens int

	// Of is the text that Text was made of, where the two differ. Only what occurs
	// in it is a fact. "": Text itself.
	Of string
}

// Kept is a text that stays in the view.
type Kept struct {
	Text string

	// Said reports whether the user or the model said it, be it in the arguments
	// of a call. What they speak of is likely to be needed again.
	Said bool
}

// Lines returns a line for each text that is cleared, in their order: facts that
// occur neither in what is kept nor in the line of another, those first that are
// most likely to be needed later. It is "" for a text that has none, or none that
// is short enough.
//
// What is kept should be all that the model will see, oldest first: what was
// said last counts most. Of a text that is longer, cleared or kept, the first 256
// KiB and the last 64 KiB are looked at.
//
// The same arguments always give the same lines, in time proportional to the
// length of all texts. Nothing is kept of the arguments, and they are not changed.
func Lines(cleared []Cleared, kept []Kept, opts Options) []string {
	if opts.Tokens <= 0 || len(cleared) == 0 {
		return make([]string, len(cleared))
	}
	p := newPool(cleared)
	find, about := p.look(kept)
	return p.lines(cleared, find, about, opts)
}

// lines makes the lines of the texts of the pool.
func (p *pool) lines(cleared []Cleared, find *finder, about topics, opts Options) []string {
	if opts.Counter == nil {
		opts.Counter = tokens.Estimate{}
	}
	lines := make([]string, len(cleared))
	for i, c := range slices.Backward(cleared) { // what is new is likely to be needed first
		d := draft{limit: opts.Tokens, counter: opts.Counter}
		if c.Tokens != 0 {
			d.limit = min(d.limit, c.Tokens)
		}
		p.fill(&d, i, find, about)
		lines[i] = d.line()
		find.show(lines[i])
	}
	return lines
}

// look reads what is kept.
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

// fill adds facts of text i to its line until no more fit.
func (p *pool) fill(d *draft, i int, find *finder, about topics) {
	for _, f := range p.ranked(i, find, about) {
		if d.full() {
			return
		}
		if g := p.longest(i, f); !d.add(g) && g != f {
			d.add(f)
		}
	}
}
