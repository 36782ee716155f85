// Package calibrate learns from what providers report: how many tokens a prompt was
// charged, and how long a prompt may be. It knows nothing of requests.
package calibrate

import "math"

// Bounds and weights of the calibration. In scripts that tokenizers know little of, such
// as Devanagari and Ethiopic, cl100k_base makes 3.2 tokens of one estimated token.
const (
	minRate    = 0.5  // tokens charged for one counted token: below this, and
	maxRate    = 4    // above this, a reported usage is not believed
	firstGain  = 2000 // counted tokens that the first prompt weighs at most
	priorGain  = 100  // counted tokens that the prior rate weighs
	forgetting = 0.85 // weight of an addition when the next one comes

	highRate  = 2.5  // tokens charged for one counted token that are suspicious in a prompt of at least
	highLeast = 1000 // counted tokens: shorter ones are mostly what the provider adds
	highCalls = 3    // such prompts in a row are reported
)

// Tokens turns counted tokens into the tokens that the provider will charge:
//
//	charged then + rate × (counted now − counted then)
//
// A constant error of the meter, such as the frame around tools, cancels out. Texts in
// ideographs have a rate of their own, since tokenizers differ most there: o200k_base
// makes 0.72 tokens of an ideograph, cl100k_base 1.07. The zero Tokens has learned
// nothing.
type Tokens struct {
	At      int // number of messages of the newest prompt with a reported usage; 0: none
	Charged int // its tokens as reported
	Counted int // its tokens as counted
	Wide    int // counted tokens of the wide messages from At on
	Fresh   int // of all messages from At on

	plain, wide rate
	before      float64 // rate of the prompt before the newest one as a whole; 0: there was none
	cut         cut
	high        int // prompts in a row that were charged too much
}

// Priors are the rates to begin with: tokens charged for one counted token.
type Priors struct{ Plain, Wide float64 }

// rate is what additions were charged and counted; older ones weigh less.
type rate struct{ charged, counted float64 }

func (r *rate) value(prior float64) float64 {
	return (r.charged + priorGain*prior) / (r.counted + priorGain)
}

func (r *rate) learn(charged, counted float64) {
	if Plausible(charged, counted) {
		r.charged = forgetting*r.charged + charged
		r.counted = forgetting*r.counted + counted
	}
}

// Plausible reports whether the charge for a prompt can be right, given its counted tokens.
func Plausible(charged, counted float64) bool {
	return counted > 0 && charged >= minRate*counted && charged <= maxRate*counted
}

// Estimate returns the tokens that will be charged for a number of counted tokens, wide of
// which are in wide messages that no reported prompt had. open is how many of them no reported prompt has settled: those
// that were added since, and as many as were removed; without a report, all. plainRate is the rate for a counted token of
// texts that are not wide.
func (t *Tokens) Estimate(counted, wide int, p Priors) (charged, open int, plainRate float64) {
	plainRate = t.plain.value(p.Plain)
	n := float64(counted)
	if t.At == 0 {
		return int(math.Round(max(n*plainRate, minRate*n))), counted, plainRate
	}
	more, fresh := n-float64(t.Counted), float64(wide)
	switch {
	case 2*counted < t.Counted: // what is left is more typical than what was there
		n *= t.Mean()
	case more < fresh:
		n = float64(t.Charged) + t.removed()*(more-fresh) + t.wide.value(p.Wide)*fresh
	default:
		n = float64(t.Charged) + plainRate*(more-fresh) + t.wide.value(p.Wide)*fresh
	}
	n = min(max(n, minRate*float64(counted)), maxRate*float64(counted))
	return int(math.Round(n)), min(counted, t.Fresh+max(0, t.Counted+t.Fresh-counted)), plainRate
}

// removed returns the rate for a counted token that is removed, mostly of old texts. If the newest prompt was charged more
// than those before, that belongs to its newest texts.
func (t *Tokens) removed() float64 {
	if t.before > 0 {
		return min(t.Mean(), t.before)
	}
	return t.Mean()
}

// Mean returns the rate of the newest reported prompt as a whole.
func (t *Tokens) Mean() float64 { return float64(t.Charged) / float64(t.Counted) }

// KeepFirst makes the calibration that of a conversation that has only the first messages in
// common. The rates stay, and so does a limit.
func (t *Tokens) KeepFirst(common int) {
	if t.At > common {
		t.At = 0
		t.Charged = 0
		t.Counted = 0
		t.before = 0
	}
	if t.cut.top.At > common {
		t.cut.top, t.cut.low = Prompt{}, Prompt{}
	}
	t.Wide, t.Fresh = 0, 0
}

// Learn takes the usage that was reported for a prompt. What was appended since the last report changes a rate. A usage that
// cannot be right, or is too low for its prompt, is not used: some servers cut a prompt and report the rest. If they do, the
// count starts from the rates alone. If no charge has ever grown with its prompt, nothing was measured, and nothing is known.
func (t *Tokens) Learn(p Prompt, pr Priors, s Source) Verdict {
	verdict := t.cut.judge(p, min(t.plain.value(pr.Plain), t.wide.value(pr.Wide)), s)
	switch {
	case verdict == Truncated:
		t.At = 0
		t.Charged = 0
		t.Counted = 0
		return verdict
	case verdict == Doubtful && !t.cut.grew:
		*t = Tokens{Wide: t.Wide, Fresh: t.Fresh, cut: t.cut}
	}
	switch {
	case !Plausible(float64(p.Charged), float64(p.Counted)):
		return Impossible
	case verdict == Believed:
		t.cut.accept(p.Charged)
		if p.At > t.At && t.isHigh(p) {
			verdict = High
		}
		t.learn(p, pr)
	}
	return verdict
}

// LearnForeign takes what a history says of a prompt that this process has not sent, and reports whether it can be that of this
// history: it may have been changed since. Then this is not the only report that is wrong.
func (t *Tokens) LearnForeign(p Prompt, pr Priors, s Source) bool {
	const likely = 2 // times the prior rate
	charged, counted := float64(p.Charged), float64(p.Counted)
	gained, added := p.Charged-t.Charged, p.Counted-t.Counted
	possible := charged <= likely*max(pr.Plain, pr.Wide)*counted && (t.At == 0 || added < leastAdded || gained <= maxRate*added)
	return possible && t.Learn(p, pr, s) == Believed
}

// isHigh reports whether a prompt is the last of several in a row that were charged too much.
func (t *Tokens) isHigh(p Prompt) bool {
	t.high++
	if p.Counted < highLeast || float64(p.Charged) < highRate*float64(p.Counted) {
		t.high = 0
	}
	return t.high == highCalls
}

func (t *Tokens) learn(p Prompt, pr Priors) {
	if gained, added := float64(p.Charged-t.Charged), float64(p.Counted-t.Counted); t.At == 0 || p.Since <= t.At {
		w := float64(t.Wide)
		if t.At == 0 { // a long beginning counts only in part: what is added later is typical
			share := min(1, firstGain/added)
			gained *= share
			added *= share
			w = math.Trunc(w * share)
		}
		if w > added/2 {
			t.wide.learn(gained-t.plain.value(pr.Plain)*(added-w), w)
		} else {
			t.plain.learn(gained-t.wide.value(pr.Wide)*w, added-w)
		}
	}
	if t.At > 0 && t.At < p.At {
		t.before = t.Mean()
	}
	t.At = p.At
	t.Charged = p.Charged
	t.Counted = p.Counted
	t.Wide = 0
	t.Fresh = 0
}
