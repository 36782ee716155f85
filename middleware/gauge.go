package middleware

import (
	"context"
	"fmt"
	"math"

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

// calibrate lets the track's gauge take in what has been told since: to this
// chain by the model, or to whoever made the history.
func (c *chain) calibrate(ctx context.Context, req *Request, cl *call) {
	t := cl.track
	tell := func(at, charged, counted, made int) {
		if !t.gauge.tell(at, charged, counted, made, t.gauge.fresh, cl.priors()) && t.conversation.once(req, string(UsageIgnored)) {
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

// learn remembers what the prompt was charged that the view has become. 0
// teaches nothing.
func (v *View) learn(charged int) {
	if charged <= 0 || len(v.call.ids) == 0 {
		return
	}
	p := prompt{charged: charged, counted: v.counted()}
	for _, it := range v.list {
		p.made = max(p.made, it.Made)
	}
	v.call.chain.memo.tell(v.call.ids[len(v.call.ids)-1], p)
}
