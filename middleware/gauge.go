package middleware

import (
	"cmp"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// How a gauge learns.
const (
	leastRate  = 0.5  // tokens charged for one by the meter: beyond this, and
	mostRate   = 3    // beyond that, a usage is not believed
	firstGain  = 2000 // counted tokens that the first prompt weighs at most
	priorGain  = 300  // and that the table of models weighs
	forgetting = 0.85 // what an addition still weighs when the next comes
)

// gauge is what the provider has told about the size of the prompts of a
// conversation. It turns tokens by the meter into those that will be charged:
//
//	charged then + rate × (counted now − counted then)
//
// What the meter gets wrong about all that has been there before, as the frame
// of the tools, cancels out; and a prompt that was edited since is not taken
// for what it was. The zero gauge has been told nothing.
type gauge struct {
	at      int // length of the body of the newest prompt that was told; 0: none
	charged int // its tokens
	counted int // the same by the meter

	gained, added float64 // what additions were charged, and counted, older ones weighing less
}

// rate is what is charged for one token by the meter. The prior is believed
// until the conversation tells better.
func (g *gauge) rate(prior float64) float64 {
	return (g.gained + priorGain*prior) / (g.added + priorGain)
}

// reads returns what will be charged for so many tokens by the meter.
func (g *gauge) reads(counted int, prior float64) int {
	if g.at == 0 {
		return int(math.Round(prior * float64(counted)))
	}
	charged := float64(g.charged) + g.rate(prior)*float64(counted-g.counted)
	return int(math.Round(max(charged, leastRate*float64(counted))))
}

// tell takes in that the prompt for a body of so many messages, which was last
// edited when the body had made of them, was charged. Additions teach the rate;
// what was edited in between does not. A size that cannot be is not believed:
// some servers cut what is too long, and tell what is left.
func (g *gauge) tell(at, charged, counted, made int) {
	if !plausible(charged, counted) {
		return
	}
	gained, added := charged-g.charged, counted-g.counted
	switch {
	case g.at == 0:
		g.added = float64(min(added, firstGain))
		g.gained = float64(gained) / float64(added) * g.added
	case made <= g.at && plausible(gained, added):
		g.gained = forgetting*g.gained + float64(gained)
		g.added = forgetting*g.added + float64(added)
	}
	g.at, g.charged, g.counted = at, charged, counted
}

// plausible reports whether so many tokens by the meter may be charged so.
func plausible(charged, counted int) bool {
	return counted > 0 && float64(charged) >= leastRate*float64(counted) && float64(charged) <= mostRate*float64(counted)
}

// calibrate lets the track's gauge take in what has been told since: to this
// chain by the model, or to whoever made the history.
func (c *chain) calibrate(cl *call) {
	t := cl.track
	from := max(t.gauged-1, 0) // the answer to the newest may have come since
	t.gauged = len(t.body)
	var past *past
	for i := from; i < len(t.body); i++ {
		if m := &t.body[i]; i > t.gauge.at && m.Role == message.RoleAssistant && m.Usage != nil && m.Usage.Input > 0 {
			if past == nil {
				past = cl.past()
			}
			counted, made := past.prompt(i)
			t.gauge.tell(i, m.Usage.Input, counted, made)
		}
		if p, ok := c.memo.told(t.ids[i]); ok && i+1 >= t.gauge.at {
			t.gauge.tell(i+1, p.charged, p.counted, p.made)
		}
	}
}

// learn remembers what the prompt was charged that the view has become. A nil
// view, and a usage that tells nothing, teach nothing.
func (v *View) learn(u message.Usage) {
	if v == nil || u.Input <= 0 || len(v.call.ids) == 0 {
		return
	}
	p := prompt{charged: u.Input, counted: v.counted()}
	for _, it := range v.list {
		p.made = max(p.made, it.Made)
	}
	v.call.chain.memo.tell(v.call.ids[len(v.call.ids)-1], p)
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

// past knows how long the prompts of a conversation were, by the meter.
type past struct {
	call    *call
	made    int      // length of the body when the newest edit was made
	freed   int      // by all edits
	changes []change // by all edits and those that they cover, in order; nil: not asked for
}

// change is what an edit took away from some length of the body on, or gave
// back, when a fold swallowed it.
type change struct{ made, freed int }

func (c *call) past() *past {
	p := &past{call: c}
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
	counted = p.call.overhead()
	for _, n := range p.call.toks[:length] {
		counted += n
	}
	if p.made <= length {
		return counted - p.freed, p.made
	}
	for _, c := range p.list() {
		if c.made > length {
			break
		}
		counted, made = counted-c.freed, c.made
	}
	return counted, made
}

func (p *past) list() []change {
	if p.changes == nil {
		for _, it := range p.call.track.found.list {
			p.take(it, -1)
		}
		slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Compare(a.made, b.made) })
	}
	return p.changes
}

// take takes in an edit that was in force until the body had a length; -1: it
// still is.
func (p *past) take(it item, until int) {
	freed := p.call.freed(it)
	p.changes = append(p.changes, change{it.Made, freed})
	if until >= 0 {
		p.changes = append(p.changes, change{until, -freed})
	}
	for _, u := range it.Under {
		p.take(p.call.chain.weigh(u, p.call), it.Made)
	}
}
