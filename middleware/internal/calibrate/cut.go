package calibrate

import (
	"regexp"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/tokens"
)

// Constants of the search for servers that cut long prompts without an error. In 12,000 recorded calls the charge has grown by
// at least 0.7 of what was appended.
const (
	leastAdded   = 50   // counted tokens that must be appended before growth is compared
	shareCharged = 0.5  // of what was appended: a charge that has grown by less has stalled
	nearLimit    = 1.25 // times the limit: an accepted prompt that is longer ends the limit
)

// cut finds out whether the server reads only a part of each prompt and reports no error. The sign are two reports in a row
// that have not grown with their prompts, from one that reports of before have grown to. Only prompts to which messages were
// appended are compared.
type cut struct {
	last Prompt // the report before
	top  Prompt // the longest prompt that was charged in full, and that all later ones begin with
	low  Prompt // the first one that was charged too little since then; At 0: none
	grew bool   // a charge has grown with its prompt

	limit int // tokens that are accepted; 0: the server does not cut
	since int // number of reports since the limit was found
}

// Verdict is the result of comparing a report with its prompt.
type Verdict uint8

// The verdicts.
const (
	Believed   Verdict = iota
	Doubtful           // too low for the prompt, for the first time, or the same as for other prompts
	Impossible         // the charge cannot be that of the prompt
	High               // believed, but as those before it too high to be right without a reason
	Truncated          // too low again: the server cuts prompts
)

// Limit returns how long a prompt may be before the server cuts it; 0: it does not.
func (t *Tokens) Limit() int { return t.cut.limit }

// Forget makes later reports incomparable with those so far, as those of another model are.
func (t *Tokens) Forget() { t.cut, t.high = cut{}, 0 }

// judge returns whether a report is too low for its prompt. The same charge for another prompt is not that of the prompt.
func (c *cut) judge(p Prompt, rate float64, s Source) Verdict {
	if s.Refuses {
		c.limit = 0
	}
	appended := c.top.At > 0 && p.Since <= c.top.At
	low := p.Charged == c.last.Charged && 8*max(p.Counted-c.last.Counted, c.last.Counted-p.Counted) > p.Counted
	if appended {
		low = p.stalls(c.top, rate, s)
	}
	c.last = p
	switch {
	case !low:
		c.grew = c.grew || appended && p.Counted-c.top.Counted >= leastAdded
		c.low = (Prompt{})
		if !appended || p.Charged > c.top.Charged {
			c.top = p
		}
		return Believed
	case c.low.At == 0:
		c.low = p
		return Doubtful
	case !appended, !c.grew, s.Refuses,
		2*p.Charged < c.top.Charged, // a server that cuts fills half of its window at least
		!p.stalls(c.low, rate, s):
		return Doubtful
	}
	c.limit, c.since = max(c.top.Charged, c.low.Charged, p.Charged), 0
	return Truncated
}

// accept takes a prompt that was charged in full. A limit is given up after as many prompts as a
// learned window is.
func (c *cut) accept(charged int) {
	if c.limit == 0 {
		return
	}
	c.since++
	switch {
	case c.since >= expiry, float64(charged) > nearLimit*float64(c.limit):
		c.limit = 0
	default:
		c.limit = max(c.limit, charged)
	}
}

// stalls reports whether a charge has hardly grown since an earlier prompt to which messages
// were appended. rate is the charge for a counted token.
func (p Prompt) stalls(since Prompt, rate float64, s Source) bool {
	added := p.Counted - since.Counted
	gained := float64(max(p.Charged-since.Charged, p.WithCache-since.WithCache))
	rate = min(1, rate, since.rate())
	tooLow := func() bool { return added >= leastAdded && gained < shareCharged*rate*float64(added) }
	if !tooLow() {
		return false
	}
	added = min(added, s.sure(since.At, p.At))
	return tooLow()
}

func (p Prompt) rate() float64 { return float64(p.Charged) / float64(p.Counted) }

// Source is the history that reports are about.
type Source struct {
	History *edit.History
	Refuses bool // long prompts are refused, or the window is declared: none is cut
}

// sure returns how many tokens the messages from the first to before the second position have at
// least: less the thinking that a new question makes old, which some providers do not charge.
func (s Source) sure(from, to int) (n int) {
	estimate, asked := tokens.Meter{Framing: s.History.Meter.Framing}, false
	for i := from; i < to; i++ {
		m := s.History.Body[i]
		n += min(s.History.Tokens[i], estimate.Message(*m)) - s.unsure(i, i+1)
		asked = asked || m.Role == message.RoleUser
	}
	for i := from - 1; asked && i >= 0 && s.History.Body[i].Role != message.RoleUser; i-- {
		n -= s.unsure(i, i+1)
	}
	return n
}

// unsure returns how many tokens of these messages providers may charge differently or not at
// all: those of thinking, media, data of the provider, and drawn lines.
func (s Source) unsure(from, to int) (n int) {
	for i := from; i < to; i++ {
		for _, p := range s.History.Body[i].Parts {
			switch p := p.(type) {
			case message.Thinking, message.Media, message.Opaque:
				n += s.History.Meter.Part(p)
			case message.ToolResult:
				if p.Content != nil {
					n += s.History.Meter.Part(p.Content)
				}
				n += s.drawn(p.Text)
			case message.Text:
				n += s.drawn(p.Text)
			case message.ToolCall:
				n += s.drawn(p.Arguments)
			}
		}
	}
	return n
}

// drawing matches a part of a drawn line or another row of marks. Tokenizers differ by a factor of 60 in how many are one token.
var drawing = regexp.MustCompile(`[^\pL\pN\s]{9,}`)

// drawn returns the tokens of the drawn lines of a text.
func (s Source) drawn(text string) int {
	without := drawing.ReplaceAllLiteralString(text, "")
	if len(without) == len(text) {
		return 0
	}
	m := s.History.Meter
	return m.Part(message.Text{Text: text}) - m.Part(message.Text{Text: without})
}
