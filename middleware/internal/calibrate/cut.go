package calibrate

import (
	"cmp"
	"regexp"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/tokens"
)

// Constants of the search for servers that cut long prompts without an error. In 12,000 recorded
// calls the charge has grown by at least 0.7 of what was added, and an edited prompt was charged at
// least 0.86 of what was predicted, by any counter but one of bytes.
const (
	leastAdded   = 50   // counted tokens that must be added before growth is compared
	shareCharged = 0.5  // of what was added: a charge that has grown by less has stalled
	sharePredict = 0.85 // of a prediction: the charge of an edited prompt that is below is too low
	cheapest     = 0.6  // of the charge by a model: what another one charges for the same prompt
	nearLimit    = 1.25 // times the limit: an accepted prompt that is longer ends the limit
)

// cut finds out whether the server reads only a part of each prompt and reports no error. The
// sign are two reports in a row that are too low for their prompts.
type cut struct {
	top   Prompt  // the longest prompt since the last edit
	low   Prompt  // the first one that was charged too little since then; At 0: none
	most  int     // tokens of the longest prompt of all
	drift float64 // product of charges by predictions of edited prompts in a row that were charged too little

	limit int // tokens that are accepted; 0: the server does not cut
	since int // number of reports since the limit was found
}

// Verdict is the result of comparing a report with its prompt.
type Verdict uint8

// The verdicts.
const (
	Believed   Verdict = iota
	Doubtful           // too low for the prompt, for the first time
	Impossible         // the charge cannot be that of the prompt
	High               // believed, but as those before it too high to be right without a reason
	Truncated          // too low again: the server cuts prompts
)

// Limit returns how long a prompt may be before the server cuts it; 0: it does not.
func (t *Tokens) Limit() int { return t.cut.limit }

// Forget makes later reports incomparable with those so far, as those of another model are.
func (t *Tokens) Forget() { t.cut, t.high = cut{}, 0 }

// judge returns whether a report is too low for its prompt. The growth of the charge is compared
// with that of the prompt only if messages were appended and nothing else was changed. Of an
// edited prompt the charge is compared with a prediction, 0 if there is none, if the counter is
// a good one.
func (c *cut) judge(p Prompt, predicted, rate float64, s Source) Verdict {
	if s.Refuses {
		c.limit, c.top, c.low = 0, Prompt{}, Prompt{}
		return Believed
	}
	appended := p.Edited <= c.top.At
	half := 2*p.Charged >= c.top.Charged // a server that cuts fills half of its window at least
	low, drift := false, 1.0
	switch {
	case c.top.At == 0:
	case appended:
		low = p.stalls(c.top, rate, s)
	case s.Good && half && predicted > float64(c.most): // else it is shorter than one that was read
		if drift = c.drifted(p.WithCache, predicted); drift < sharePredict {
			drift = c.drifted(p.WithCache+s.unsure(0, p.At), predicted)
		}
		low = drift < sharePredict
	}
	c.most = max(c.most, p.Charged)
	switch {
	case !low:
		if c.low, c.drift = (Prompt{}), drift; !appended || p.Charged >= c.top.Charged {
			c.top = p
		}
		return Believed
	case !half:
		return Doubtful
	case c.low.At == 0:
		c.low = p
		return Doubtful
	case p.At <= c.low.At, appended && !p.stalls(c.low, rate, s) && p.mayBeOf(c.top): // the same again, or another model charges
		return Doubtful
	}
	c.limit, c.since = max(c.top.Charged, c.low.Charged, p.Charged), 0
	return Truncated
}

// drifted returns the product with one more charge: predictions that start from a charge which
// is a little too low are too low as well.
func (c *cut) drifted(charged int, predicted float64) float64 {
	return min(1, cmp.Or(c.drift, 1)*float64(charged)/predicted)
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

// mayBeOf reports whether a charge that does not follow from an earlier one may be that of a
// model with another tokenizer.
func (p Prompt) mayBeOf(since Prompt) bool {
	return p.rate() > cheapest*since.rate()
}

func (p Prompt) rate() float64 { return float64(p.Charged) / float64(p.Counted) }

// Source is the history that reports are about.
type Source struct {
	History *edit.History
	Good    bool // the counter of the history is an estimate or a tokenizer, and not a rule of thumb
	Refuses bool // the provider has refused a prompt as too long, so it does not cut prompts
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
