package middleware

import (
	"cmp"
	"slices"
)

// past knows how long the prompts of a conversation were, by the meter. It is
// asked for one length after the other, ascending.
type past struct {
	call  *call
	made  int // length of the body when the newest edit was made
	freed int // by all edits

	length int      // up to where tokens were summed up
	sum    int      // so many, with all that is sent beside the body
	asked  bool     // for changes
	before change   // the last change so far, and what all so far have freed
	ahead  []change // by all edits and those that they cover, in order
}

// change is what an edit took away from some length of the body on, or gave
// back, when a fold swallowed it.
type change struct{ made, freed int }

func (c *call) past() *past {
	p := &past{call: c, sum: c.overhead()}
	for _, it := range c.track.found.list {
		p.made = max(p.made, it.Made)
		p.freed += c.freed(it)
	}
	return p
}

// freed returns the tokens by which an edit makes the prompt shorter.
func (c *call) freed(it item) int {
	n := -it.tokens
	for _, run := range it.Runs {
		for _, k := range c.toks[run.First : run.Last+1] {
			n += k
		}
	}
	return n
}

// prompt returns the tokens of the prompt for the first messages of the body,
// and the length that the body had when it was last edited before.
func (p *past) prompt(length int) (counted, made int) {
	for ; p.length < length; p.length++ {
		p.sum += p.call.toks[p.length]
	}
	if p.made <= length {
		return p.sum - p.freed, p.made
	}
	if !p.asked {
		p.list()
	}
	for ; len(p.ahead) > 0 && p.ahead[0].made <= length; p.ahead = p.ahead[1:] {
		p.before = change{p.ahead[0].made, p.before.freed + p.ahead[0].freed}
	}
	return p.sum - p.before.freed, p.before.made
}

func (p *past) list() {
	p.asked = true
	for _, it := range p.call.track.found.list {
		p.take(it, -1)
	}
	slices.SortStableFunc(p.ahead, func(a, b change) int { return cmp.Compare(a.made, b.made) })
}

// take takes in an edit that was in force until the body had a length; -1: it
// still is.
func (p *past) take(it item, until int) {
	freed := p.call.freed(it)
	p.ahead = append(p.ahead, change{it.Made, freed})
	if until >= 0 {
		p.ahead = append(p.ahead, change{until, -freed})
	}
	for _, u := range it.Under {
		p.take(p.call.chain.weigh(u, p.call), it.Made)
	}
}

// overhead returns the tokens of all that is sent beside the messages of the
// body, by the meter.
func (c *call) overhead() int {
	n := c.chain.meter.Once() + c.track.toolTokens
	for _, k := range c.track.leadToks {
		n += k
	}
	return n
}
