package when

import (
	"cmp"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// wait is a decision not to edit, kept for the next calls: as long as what has been added since cannot change it, no plan is
// made. An edit is worth its price if its gain is 0 or more, and the gain of an edit from a position on is
//
//	read · Σ(tokens of a piece · calls since it became possible) − more · (cached tokens after the position that remain)
//
// where more is the price of writing a token to the cache less that of reading it. n calls later, in which at most `possible`
// tokens have become pieces and `added` tokens have come to the cache, an edit gains at most
//
//	from an old piece on:  gain + read · n · (frees + possible) − more · (added − possible)
//	from a new piece on:   read · n · possible − more · (cached tokens after the new pieces)
type wait struct {
	view        *middleware.View
	cached      int // number of its first messages that were in the cache
	read, write float64
	gain        float64 // of the best position, below 0
	frees       int     // tokens of all pieces
	last        int     // position of the last piece
}

// note remembers a decision not to edit.
func (e economy) note(v *middleware.View, pieces []Piece, d decision) {
	if e.decided == nil || !e.decided.inOrder {
		return
	}
	cached, whole := core.Cached(v, e.TTL)
	if d.met || !whole || len(pieces) == 0 || v.Dry() {
		v.Store(e.decided, nil)
		return
	}
	w := wait{view: v, cached: cached, gain: d.gain, frees: d.frees, last: pieces[len(pieces)-1].At}
	w.read, w.write = e.prices(v)
	v.Store(e.decided, w)
}

// Waits reports whether an editor whose trigger is [Decided] need not make a plan: what it has removed at most is not
// worth its price, by what was known of an earlier call.
func Waits(t middleware.Trigger, v *middleware.View) bool {
	if p, ok := t.(priced); ok {
		t = p.of(v)
	}
	e, ok := t.(economy)
	if !ok {
		return false
	}
	met, _ := e.pressed(v)
	return !met && e.waits(v)
}

// waits reports whether an earlier decision not to edit holds for sure.
func (e economy) waits(v *middleware.View) bool {
	if e.decided == nil || !e.decided.inOrder || len(v.Request().Force) > 0 {
		return false
	}
	w, ok := v.Load(e.decided).(wait)
	cached, whole := core.Cached(v, e.TTL)
	if !ok || !whole || core.Shared(v, w.view) < w.view.Len() {
		return false
	}
	if read, write := e.prices(v); read != w.read || write != w.write {
		return false
	}
	calls, news := w.since(v)
	possible, end := w.possible(v, news)
	added, after := tokensOf(v, w.cached, cached), tokensOf(v, end, cached)
	more := (w.write - w.read) * cmp.Or(e.Factor, 1)
	rent := w.read * float64(calls)
	fromOld := w.gain + rent*float64(w.frees+possible) - more*float64(added-possible)
	fromNew := rent*float64(possible) - more*float64(after)
	return fromOld < -1 && fromNew < -1
}

// since returns the calls since the decision, and the results and rounds that were not in the cache then.
func (w *wait) since(v *middleware.View) (calls int, news counts) {
	for i := w.cached; i < v.Len() && v.Len() > w.view.Len(); i++ {
		m := v.At(i)
		switch {
		case m.Role == message.RoleTool:
			news.results += len(m.Parts)
		case m.HasCalls():
			news.rounds++
		}
		if m.Role == message.RoleAssistant && i >= w.view.Len() {
			calls++
		}
	}
	return calls, news
}

// possible returns how many tokens may have become pieces, and the position after them. For each new result or round, one
// more after the last piece may have become possible, and with them all messages up to the next round. What is in the
// round of the last piece is not counted, since its other results may have been kept for another reason.
func (w *wait) possible(v *middleware.View, news counts) (tokens, end int) {
	end = w.last
	for end > 0 && v.At(end).Role != message.RoleAssistant {
		end--
	}
	laterRound := false
	for passed := (counts{}); end < v.Len() && news != (counts{}); end++ {
		if v.At(end).Role == message.RoleAssistant {
			if passed.results >= news.results && passed.rounds >= news.rounds {
				break
			}
			laterRound = laterRound || end > w.last
		}
		if laterRound {
			passed.add(v, end)
		}
		tokens += v.TokensOf(end)
	}
	return tokens, end
}

// tokensOf returns the tokens of the messages from one position to another.
func tokensOf(v *middleware.View, from, to int) (tokens int) {
	for i := from; i < to; i++ {
		tokens += v.TokensOf(i)
	}
	return tokens
}

// counts are numbers of results and rounds.
type counts struct{ results, rounds int }

// add counts message i, as a result only if it can be removed for sure: others do not count for what editors keep.
func (c *counts) add(v *middleware.View, i int) {
	const placeholder = 64 // more tokens than any
	m := v.At(i)
	switch {
	case m.Role == message.RoleAssistant && m.HasCalls():
		c.rounds++
	case m.Role == message.RoleTool && len(m.Parts) == 1 && v.TokensOf(i) > placeholder && v.Span(i).Edit == nil &&
		v.Protected(i)&(middleware.ProtectTool|middleware.ProtectWhole) == 0:
		c.results++
	}
}
