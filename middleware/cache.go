package middleware

import (
	"math"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// Cached returns how many first messages of the view the provider has in its cache, by the history: those before the
// newest answer, which the call for it has sent, up to the first one that the caller or an edit of this call changes. whole is
// false if that is not all that the call before has sent: the cache has expired, or there was no call, or an edit breaks the prefix.
//
// The cache has expired if the first message since that call that has a time is older than ttl; without times, if this process
// has sent the last request of the conversation longer ago. A ttl of 0 is that of the table of models: exactly, if requests mark
// what is cached, and at least an hour if the provider caches by itself, since it may keep a prefix longer. If the table has
// none, the cache does not expire.
func (v *View) Cached(ttl time.Duration) (n int, whole bool) {
	answer := v.session.newestAnswer()
	if answer < 0 || v.expired(v.session.Body[answer:], ttl) {
		return 0, false
	}
	first := v.firstEdited()
	if last := v.session.track.State.last.Load(); last != nil { // a client may change old messages itself
		answer = min(answer, history.Shared(v.session.IDs, last.ids))
	}
	end := min(answer, first)
	for n = v.Len(); n > 0 && v.span(n-1).Last >= end; { // the answer is near the end
		n--
	}
	return n, first >= answer
}

// expired reports whether the cache has expired for sure since the call whose answer is the first of the messages.
func (v *View) expired(since []*message.Message, ttl time.Duration) bool {
	if c := v.model.Cache; ttl == 0 {
		ttl = c.TTL
		if c.Auto && ttl > 0 {
			ttl = max(ttl, c.LongTTL, time.Hour)
		}
	}
	if ttl <= 0 {
		return false
	}
	var at time.Time
	if last := v.session.track.State.last.Load(); last != nil { // messages of wire have no times
		at = last.time
	}
	for i := range since {
		if t := since[i].Time; !t.IsZero() {
			at = t
			break
		}
	}
	return !at.IsZero() && v.session.chain.env.Clock().Sub(at) > ttl
}

// firstEdited returns the first position after the leading system messages that an edit of this call covers, or MaxInt.
func (v *View) firstEdited() int {
	first := math.MaxInt
	if !v.unsaved() {
		return first
	}
	for _, it := range v.list {
		if it.HistoryLen == len(v.session.Body) {
			first = min(first, it.Runs[0].First)
		}
	}
	return first
}

// economics returns what the step from one view to the next costs and saves. first is the first position that differs.
func economics(before, after *View, first int) report.Economics {
	e := report.Economics{Freed: before.size.Tokens - after.size.Tokens}
	cached, _ := before.Cached(0)
	if cached > first {
		end, again := before.span(cached-1).Last, 0
		for i := first; i < after.Len(); i++ {
			if after.span(i).First <= end {
				again += after.TokensOf(i)
			}
		}
		e.Rewritten = before.size.Charged(again)
	}
	return priced(e, before)
}

// priced returns economics with what depends on prices.
func priced(e report.Economics, v *View) report.Economics {
	read, write, known := v.model.Price.InCache(v.size.Tokens)
	more := max(write-read, 0) * float64(e.Rewritten)
	less := read * float64(e.Freed)
	e.BreakEven = 0
	if more > 0 && less > 0 {
		e.BreakEven = more / less
	}
	if known {
		input := float64(v.model.Price.At(v.size.Tokens).Input)
		e.Cost, e.Saves = models.Cost(math.Round(more*input)), models.Cost(math.Round(less*input))
	}
	return e
}
