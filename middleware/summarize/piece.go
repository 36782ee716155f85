package summarize

import (
	"slices"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// piece is what is folded whole or not at all: a unit, or what an earlier fold
// has put.
type piece struct {
	message.Run // positions of the view

	tokens  int                // by the meter
	earlier *middleware.Record // the fold of ours that has put it; nil: none has
	section int                // how many system messages stand before it
	time    time.Time          // of its newest message that has one, or of a message before; zero: none has
}

// summary reports whether the piece is an earlier summary.
func (p piece) summary() bool { return p.earlier != nil }

// messages returns how many messages the piece counts as.
func (p piece) messages() int {
	if p.summary() {
		return 1
	}
	return p.Len()
}

// pieces returns what may be folded of a view, in order; nothing, if that is
// earlier summaries alone.
func (e *editor) pieces(v *middleware.View) []piece {
	units := joined(v)
	cut := e.cut(v, units)
	var out []piece
	section, last, news := 0, time.Time{}, false
	for _, u := range units {
		p := piece{Run: u.Run, section: section, earlier: ours(v, u.First)}
		free := u.First < cut || p.summary() && e.Strategy.one()
		for i := u.First; i <= u.Last; i++ {
			m := v.At(i)
			if m.Role == message.RoleSystem && !p.summary() {
				section++
			}
			if !m.Time.IsZero() {
				last = m.Time
			}
			p.tokens += v.TokensOf(i)
			free = free && v.Protected(i) == 0 && (!e.PreserveMemory || !m.Hints.Memory)
		}
		if p.time = last; free {
			out, news = append(out, p), news || !p.summary()
		}
	}
	if !news {
		return nil
	}
	return out
}

// joined returns the units of a view, with what one fold has put as one of them.
func joined(v *middleware.View) []message.Unit {
	units := message.Units(v.Messages())
	out := units[:0]
	for _, u := range units {
		if n := len(out); n > 0 && ofOneFold(v, out[n-1].Last, u.First) {
			out[n-1].Last = u.Last
			continue
		}
		out = append(out, u)
	}
	return out
}

// ofOneFold reports whether the same fold has put two neighbouring messages.
func ofOneFold(v *middleware.View, i, k int) bool {
	e := v.Span(i).Edit
	return e != nil && e.Kind == middleware.Fold && e == v.Span(k).Edit
}

// ours returns the fold of this middleware that has put a message, as it was made
// by it, whoever has changed the message since; nil: none has.
func ours(v *middleware.View, i int) *middleware.Record {
	for e := v.Span(i).Edit; e != nil && e.Kind == middleware.Fold; {
		if e.By == Name {
			return e
		}
		if len(e.Under) != 1 || len(e.Under[0].Runs) == 0 || !slices.Equal(e.Under[0].Runs, e.Runs) {
			return nil
		}
		e = e.Under[0]
	}
	return nil
}

// cut returns the position from which on all stays.
func (e *editor) cut(v *middleware.View, units []message.Unit) int {
	cut := v.Len() - max(0, e.Keep)
	rounds, turns, room := e.KeepRounds, e.KeepTurns, e.KeepTokens
	for _, u := range slices.Backward(units) {
		tokens := 0
		for i := u.First; i <= u.Last; i++ {
			tokens += v.TokensOf(i)
		}
		tokens = v.Size().Charged(tokens)
		keep := u.Last >= cut || tokens <= room
		room -= tokens
		if rounds > 0 || turns > 0 {
			keep = true
		}
		if u.Round {
			rounds--
		}
		if by := v.Span(u.First).Edit; v.At(u.First).Role == message.RoleUser && (by == nil || by.Kind != middleware.Fold) {
			turns--
		}
		if !keep {
			return u.Last + 1
		}
	}
	return 0
}
