package middleware

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// How a gauge learns. In scripts that tokenizers know little of, as Devanagari
// and Ethiopic, cl100k_base makes 3.2 tokens of one that is estimated.
const (
	leastRate  = 0.5  // tokens charged for one by the meter: below this, and
	mostRate   = 4    // above that, a usage is not believed
	firstGain  = 2000 // counted tokens that the first prompt weighs at most
	priorGain  = 100  // and that the prior rate weighs
	forgetting = 0.85 // what an addition still weighs when the next comes
)

// gauge is what the provider has told about the size of the prompts of a
// conversation. It turns tokens by the meter into those that will be charged:
//
//	charged then + rate × (counted now − counted then)
//
// What the meter gets wrong about all that has been there before, as the frame
// of the tools, cancels out; and a prompt that was edited since is not taken
// for what it was. Texts in ideographs have a rate of their own, since there
// tokenizers differ most: o200k_base takes 0.72 tokens for one, cl100k_base
// 1.07. The zero gauge has been told nothing.
type gauge struct {
	at      int // length of the body of the newest prompt that was told; 0: none
	charged int // its tokens
	counted int // the same by the meter

	plain, wide lesson
	fresh       int // counted tokens of the wide messages from at on
}

// lesson is what additions were charged, and counted, older ones weighing less.
type lesson struct{ charged, counted float64 }

func (l *lesson) rate(prior float64) float64 {
	return (l.charged + priorGain*prior) / (l.counted + priorGain)
}

func (l *lesson) learn(charged, counted float64) {
	if plausible(charged, counted) {
		l.charged = forgetting*l.charged + charged
		l.counted = forgetting*l.counted + counted
	}
}

// plausible reports whether so many tokens by the meter may be charged so.
func plausible(charged, counted float64) bool {
	return counted > 0 && charged >= leastRate*counted && charged <= mostRate*counted
}

// priors are the rates to begin with.
type priors struct{ plain, wide float64 }

// reads returns what will be charged for so many tokens by the meter, wide of
// which are those of wide messages that are new.
func (g *gauge) reads(counted, wide int, p priors) int {
	n, fresh := float64(counted), float64(wide)
	switch more := float64(counted - g.counted); {
	case g.at == 0:
		n *= g.plain.rate(p.plain)
	case 2*counted < g.counted: // so much is gone that what is left says more than what was there
		n *= g.mean()
	case more < fresh:
		n = float64(g.charged) + g.mean()*(more-fresh) + g.wide.rate(p.wide)*fresh
	default:
		n = float64(g.charged) + g.plain.rate(p.plain)*(more-fresh) + g.wide.rate(p.wide)*fresh
	}
	if g.at > 0 {
		n = min(n, mostRate*float64(counted))
	}
	return int(math.Round(max(n, leastRate*float64(counted))))
}

// cut makes the gauge one of a conversation that has only the first messages in
// common. What it has learned stays.
func (g *gauge) cut(common int) {
	if g.at > common {
		g.at, g.charged, g.counted = 0, 0, 0
	}
	g.fresh = 0
}

// mean is the rate of the newest prompt as a whole.
func (g *gauge) mean() float64 { return float64(g.charged) / float64(g.counted) }

// tell takes in that the prompt for a body of so many messages, which was last
// edited when the body had made of them, was charged. Additions teach a rate,
// wide tokens of them that of ideographs; what was edited in between does not.
// A size that cannot be is not believed: some servers cut what is too long, and
// tell what is left.
func (g *gauge) tell(at, charged, counted, made, wide int, p priors) (believed bool) {
	if !plausible(float64(charged), float64(counted)) {
		return false
	}
	if gained, added := float64(charged-g.charged), float64(counted-g.counted); g.at == 0 || made <= g.at {
		if g.at == 0 { // of a long beginning only so much, for the sake of what comes
			share := min(1, firstGain/added)
			gained, added, wide = gained*share, added*share, int(float64(wide)*share)
		}
		if w := float64(wide); w > added/2 {
			g.wide.learn(gained-g.plain.rate(p.plain)*(added-w), w)
		} else {
			g.plain.learn(gained-g.wide.rate(p.wide)*w, added-w)
		}
	}
	g.at, g.charged, g.counted, g.fresh = at, charged, counted, 0
	return true
}

// wideTokens returns the counted tokens of the wide messages that are new and
// that the view has as they are.
func (v *View) wideTokens() int {
	t := v.call.track
	n := t.gauge.fresh
	if n == 0 {
		return 0
	}
	for _, it := range slices.Backward(v.list) {
		if it.last() < t.gauge.at {
			break
		}
		for _, run := range it.Runs {
			for i := max(run.First, t.gauge.at); i <= run.Last; i++ {
				if t.wide[i] {
					n -= t.toks[i]
				}
			}
		}
	}
	return n
}

// isWide reports whether most of what a message says are ideographs or other
// letters from U+3000 to U+9FFF.
func isWide(m *message.Message) bool {
	wide, length := 0, 0
	for _, p := range m.Parts {
		var s string
		switch p := p.(type) {
		case message.Text:
			s = p.Text
		case message.Thinking:
			s = p.Text
		case message.ToolResult:
			s = p.Text
		case message.ToolCall:
			s = p.Arguments
		case message.Media, message.Opaque:
		}
		wide += wideBytes(s)
		length += len(s)
	}
	return 2*wide > length
}

// wideBytes returns about how many bytes of a text belong to such letters. It
// takes samples, since a long text takes long to read.
func wideBytes(s string) int {
	const samples = 64
	step := max(1, len(s)/samples)
	hits, taken := 0, 0
	for i := step / 2; i < len(s); i += step {
		k := i
		for k > 0 && k > i-3 && s[k]&0xC0 == 0x80 { // inside of a letter, which says at its first byte what it is
			k--
		}
		if 0xE3 <= s[k] && s[k] <= 0xE9 {
			hits++
		}
		taken++
	}
	if taken == 0 {
		return 0
	}
	return len(s) * hits / taken
}

// calibrate lets the track's gauge take in what has been told since: to this
// chain by the model, or to whoever made the history.
func (c *chain) calibrate(ctx context.Context, req *Request, cl *call) {
	t := cl.track
	tell := func(at, charged, counted, made int) {
		if !t.gauge.tell(at, charged, counted, made, t.gauge.fresh, cl.priors()) && t.said.once(string(UsageIgnored)) {
			c.tell(ctx, req, Event{Kind: UsageIgnored, By: "middleware", Why: fmt.Sprintf(
				"the provider reported %d tokens for a prompt of %d by our count; if it cut what is too long, tell it the window, "+
					"else give Env.Counter a counter that fits", charged, counted)})
		}
	}
	var past *past
	from := max(t.gauged-1, 0) // the answer to the newest may have come since
	for i := from; i < len(t.body); i++ {
		if m := &t.body[i]; i > t.gauge.at && m.Role == message.RoleAssistant && m.Usage != nil && m.Usage.Input > 0 {
			if past == nil {
				past = cl.past()
			}
			counted, made := past.prompt(i)
			tell(i, m.Usage.Input, counted, made)
		}
		if i >= t.gauged && t.wide[i] {
			t.gauge.fresh += t.toks[i]
		}
		if p, ok := c.memo.told(t.ids[i]); ok && i+1 >= t.gauge.at {
			tell(i+1, p.charged, p.counted, p.made)
		}
	}
	t.gauged = len(t.body)
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
