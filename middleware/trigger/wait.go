package trigger

import (
	"cmp"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// wait is a decision not to edit. It saves work in the next calls: as long as what has been added since cannot change the
// decision, no plan is made.
type wait struct {
	view        *middleware.View
	cached      int
	read, write float64
	gain        float64 // of the best position, below 0
	frees       int     // of all pieces
	next        int     // position of the last piece
}

// note remembers a decision not to edit.
func (e economy) note(v *middleware.View, pieces []Piece, d decision) {
	if e.decided == nil || !e.decided.inOrder {
		return
	}
	cached, whole := v.Cached(e.TTL)
	if d.met || !whole || len(pieces) == 0 || v.Dry() {
		v.Store(e.decided, nil)
		return
	}
	w := wait{view: v, cached: cached, gain: d.gain, frees: d.frees, next: pieces[len(pieces)-1].At}
	w.read, w.write = e.prices(v)
	v.Store(e.decided, w)
}

// Waits reports whether an editor whose trigger is [Decided] need not make a plan: what it has removed at most is not
// worth its price, by what was known of an earlier call.
func Waits(t middleware.Trigger, v *middleware.View) bool {
	switch t := t.(type) {
	case economy:
		met, _ := t.pressed(v)
		return !met && t.waits(v)
	case priced:
		return Waits(t.of(v), v)
	}
	return false
}

// waits reports whether an earlier decision not to edit holds for sure. Since then, calls have added to what is paid for
// the pieces, and at most as many results and rounds have become pieces as there are new ones.
func (e economy) waits(v *middleware.View) bool {
	if e.decided == nil || !e.decided.inOrder || len(v.Request().Force) > 0 {
		return false
	}
	w, ok := v.Load(e.decided).(wait)
	cached, whole := v.Cached(e.TTL)
	if !ok || !whole || v.Shared(w.view) < w.view.Len() {
		return false
	}
	if read, write := e.prices(v); read != w.read || write != w.write {
		return false
	}
	calls, added := w.since(v)
	possible, end := w.possible(v, added)
	rewritten, kept := tokensOf(v, w.cached, cached), tokensOf(v, end, cached)
	more := (w.write - w.read) * cmp.Or(e.Factor, 1)
	rent := w.read * float64(calls)
	before := w.gain + rent*float64(w.frees+possible) + more*float64(possible-rewritten)
	return before < -1 && rent*float64(possible)-more*float64(kept) < -1
}

// since returns the calls since the decision, and what is new since: also what was new then, as no model had seen it.
func (w *wait) since(v *middleware.View) (calls int, added parts) {
	for i := w.cached; i < v.Len() && v.Len() > w.view.Len(); i++ {
		m := v.At(i)
		switch {
		case m.Role == message.RoleTool:
			added.results += len(m.Parts)
		case m.HasCalls():
			added.rounds++
		}
		if m.Role == message.RoleAssistant && i >= w.view.Len() {
			calls++
		}
	}
	return calls, added
}

// possible returns how many tokens may have become pieces, and the position after them. All of the round of the last piece
// may, and it counts for nothing.
func (w *wait) possible(v *middleware.View, added parts) (tokens, end int) {
	end = w.next
	for end > 0 && v.At(end).Role != message.RoleAssistant {
		end--
	}
	other := false
	for passed := (parts{}); end < v.Len() && added != (parts{}); end++ { // up to the next round
		if v.At(end).Role == message.RoleAssistant {
			if passed.results >= added.results && passed.rounds >= added.rounds {
				break
			}
			other = other || end > w.next
		}
		if other {
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

// parts counts results and rounds.
type parts struct{ results, rounds int }

// add counts message i, as a result only if it can be removed for sure: others do not count for what editors keep.
func (p *parts) add(v *middleware.View, i int) {
	const placeholder = 64 // more tokens than any
	m := v.At(i)
	switch {
	case m.Role == message.RoleAssistant && m.HasCalls():
		p.rounds++
	case m.Role == message.RoleTool && len(m.Parts) == 1 && v.TokensOf(i) > placeholder && v.Span(i).Edit == nil &&
		v.Protected(i)&(middleware.Tool|middleware.Whole) == 0:
		p.results++
	}
}
