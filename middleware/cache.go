package middleware

import (
	"math"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// Cache is what is known of the provider's prompt cache in one call. Tokens are on the scale of all sizes and events of the
// call: see [Size].
type Cache struct {
	Prompt int // tokens of the request: as the provider reports them, or as in Report.View if it does not
	// Prefix is how many tokens of the request are the same, from its beginning on, as in the last answered call with the
	// same history, or with the one that it continues. 0: nothing is, the model or the tools differ, or there was no call.
	Prefix int
	Read   int    // tokens of the request that were read from the cache, as the provider reports; 0: none, or not reported
	Miss   string // why the provider could not read more, in its own word, such as messages_changed; "": not reported
	Missed int    // tokens of the request that it could not read for that reason, as it reports

	// Broken names the cause by which the request does not begin with all that the call before has sent. "": it does, or
	// there was no call. "model" and "tools": the caller asks another model, or declares other tools. "history": the caller
	// has changed messages that were sent. "edit": an event of this call reports it, or one of a failed call before it: an
	// edit, its end, a repair. "chain": the chain, without another event than one of kind Missed.
	Broken string
}

// cached returns how many first messages of the view the provider has in its cache, by the history: those before the
// newest answer, which the call for it has sent, up to the first one that an edit of this call changes. whole is false if
// that is not all that the call before has sent: the cache has expired, or there was no call, or an edit breaks the prefix.
//
// The cache has expired if the first message since that call that has a time is older than ttl; without times, it has
// not. A ttl of 0 is that of the table of models: exactly, if requests mark what is cached, and at least an hour if the
// provider caches by itself, since it may keep a prefix longer. If the table has none, the cache does not expire.
func (v *View) cached(ttl time.Duration) (n int, whole bool) {
	body := v.session.Body
	answer := len(body) - 1
	for answer >= 0 && body[answer].Role != message.RoleAssistant {
		answer--
	}
	if answer < 0 || v.expired(body[answer:], ttl) {
		return 0, false
	}
	first := v.firstEdited()
	end := min(answer, first)
	for n = v.Len(); n > 0 && v.span(n-1).Last >= end; { // the answer is near the end
		n--
	}
	return n, first >= answer
}

// expired reports whether the cache has expired for sure since the call whose answer is the first of the messages.
func (v *View) expired(since []*message.Message, ttl time.Duration) bool {
	if c := v.model.Cache; ttl == 0 {
		if ttl = c.TTL; c.Auto && ttl > 0 {
			ttl = max(ttl, c.LongTTL, time.Hour)
		}
	}
	if ttl <= 0 {
		return false
	}
	for i := range since {
		if at := since[i].Time; !at.IsZero() {
			return v.session.chain.env.Clock().Sub(at) > ttl
		}
	}
	return false
}

// firstEdited returns the first position after the leading system messages that an edit of this call covers, or MaxInt.
func (v *View) firstEdited() int {
	first := math.MaxInt
	if !v.unsaved {
		return first
	}
	for _, it := range v.list {
		if it.HistoryLen == len(v.session.Body) {
			first = min(first, it.Runs[0].First)
		}
	}
	return first
}

// The price of a token that is read from the cache and of one that is written to it, in those of an input token, if
// prices are unknown: the usual ones that make an edit most expensive.
const (
	cautiousRead  = 0.1
	cautiousWrite = 1.25
)

// cachePrices returns the price of a token that is read from the provider's cache, and of one that is written to it, in
// those of an input token. If the table of models has no prices for the request's model, known is false, and the result
// is 0.1 and 1.25.
func (v *View) cachePrices() (read, write float64, known bool) {
	p := v.model.Price
	if p.Input <= 0 {
		return cautiousRead, cautiousWrite, false
	}
	r := p.At(v.size.Tokens)
	return float64(r.CacheRead) / float64(r.Input), float64(r.CacheWrite) / float64(r.Input), true
}

// Economics are what edits cost and save, net of the provider's prompt cache.
type Economics struct {
	Freed     int         // tokens by which the prompt becomes shorter
	Rewritten int         // tokens after the first change that were in the cache, and are written to it again
	BreakEven float64     // number of calls, this one included, in which reading less has paid for writing again
	Cost      models.Cost // of writing again instead of reading; 0: nothing, or the prices are unknown
	Saves     models.Cost // in each call, as long as the cache is warm; 0: nothing, or the prices are unknown
}

// economics returns what the step from one view to the next costs and saves. first is the first position that differs.
func economics(before, after *View, first int) Economics {
	e := Economics{Freed: before.size.Tokens - after.size.Tokens}
	cached, _ := before.cached(0)
	if cached > first {
		end, again := before.span(cached-1).Last, 0
		for i := first; i < after.Len(); i++ {
			if after.span(i).First <= end {
				again += after.TokensOf(i)
			}
		}
		e.Rewritten = before.size.Charged(again)
	}
	return e.price(before)
}

// price computes what depends on prices.
func (e Economics) price(v *View) Economics {
	read, write, known := v.cachePrices()
	more := max(write-read, 0) * float64(e.Rewritten)
	less := read * float64(e.Freed)
	if e.BreakEven = 0; more > 0 && less > 0 {
		e.BreakEven = more / less
	}
	if known {
		input := float64(v.model.Price.At(v.size.Tokens).Input)
		e.Cost, e.Saves = models.Cost(math.Round(more*input)), models.Cost(math.Round(less*input))
	}
	return e
}

// plus returns the economics of both edits together.
func (e Economics) plus(o Economics, v *View) Economics {
	return Economics{Freed: e.Freed + o.Freed, Rewritten: e.Rewritten + o.Rewritten}.price(v)
}
