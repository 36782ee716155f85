package when

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Prices are trigger.EconomyOptions.
type Prices struct {
	Read, Write float64
	TTL         time.Duration
	Pressure    float64
	Factor      float64
}

const defaultPressure = 0.75

// Worth is trigger.Worth.
func Worth(p Prices) middleware.Trigger { return economy{Prices: p, name: "Worth", worth: true} }

// Cold is trigger.Cold.
func Cold(p Prices) middleware.Trigger { return economy{Prices: p, name: "Cold", cold: true} }

// Economy is trigger.Economy.
func Economy(p Prices) middleware.Trigger {
	return economy{Prices: p, name: "Economy", worth: true, cold: true, pressure: true}
}

// economy compares what an edit saves with what it costs, or knows that it costs nothing.
type economy struct {
	Prices

	name                  string
	worth, cold, pressure bool
}

func (e economy) cost() int { return 3 }

func (e economy) Threshold(v *middleware.View) (tokens int, ok bool) {
	if !e.pressure || e.Pressure < 0 {
		return 0, false
	}
	return e.full().Threshold(v)
}

func (e economy) from(v *middleware.View, name string, pieces func() []Piece) (first int, ok bool) {
	if met, _ := e.pressed(v); met {
		return 0, true
	}
	d := e.decide(v, pieces(), core.CallsSince(v, name), false)
	return d.from, d.met
}

// full is met when the view has no more room by Pressure.
func (e economy) full() fraction { return fraction{cmp.Or(e.Pressure, defaultPressure)} }

func (e economy) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if met, why := e.pressed(v); met {
		return true, why, nil
	}
	p := plan()
	if p == nil || p.Saved <= 0 {
		return false, "", nil
	}
	d := e.decide(v, piecesOf(v, p), p.Calls, true)
	return d.met, d.why(), nil
}

func (e economy) Validate() error {
	switch {
	case e.Read < 0 || e.Write < 0 || math.IsNaN(e.Read+e.Write) || math.IsInf(e.Read+e.Write, 0):
		return fmt.Errorf("trigger.%s: Read is %g and Write %g, want prices of 0 or more", e.name, e.Read, e.Write)
	case (e.Read == 0) != (e.Write == 0):
		return fmt.Errorf("trigger.%s: Read is %g and Write %g, want both or none", e.name, e.Read, e.Write)
	case e.TTL < 0:
		return fmt.Errorf("trigger.%s: TTL is %v, want 0 or more", e.name, e.TTL)
	case !(e.Pressure <= 1):
		return fmt.Errorf("trigger.%s: Pressure is %g, want at most 1, or below 0 for never", e.name, e.Pressure)
	case !(e.Factor >= 0) || math.IsInf(e.Factor, 0):
		return fmt.Errorf("trigger.%s: Factor is %g, want 0 or more", e.name, e.Factor)
	}
	return nil
}

// pressed reports whether the share of the room is filled.
func (e economy) pressed(v *middleware.View) (met bool, why string) {
	b, ok := v.Budget()
	if !ok || !e.pressure || e.Pressure < 0 {
		return false, ""
	}
	met, why, _ = e.full().Met(v, nil)
	return met && b.Window > 0, why
}

// prices returns the price of reading from the cache, and of writing to it.
func (e economy) prices(v *middleware.View) (read, write float64) {
	if e.Write > 0 {
		return e.Read, max(e.Read, e.Write)
	}
	read, write, _ = core.CachePrices(v)
	return read, max(read, write)
}

// Piece is what an editor can remove from one message of a view.
type Piece struct {
	At    int // position of the message
	Since int // position of the message with which it became possible; 0: unknown
	Frees int // tokens that become free, by the meter
	Line  int // tokens of these that a line of facts is expected to take
}

// piecesOf returns the pieces that a plan removes, in the order of the view.
func piecesOf(v *middleware.View, p *middleware.Plan) []Piece {
	pieces := make([]Piece, 0, len(p.Edits))
	sorted := true
	for i := range p.Edits {
		e := &p.Edits[i]
		var one Piece
		if e.Kind == journal.Rewrite {
			m := v.At(e.At)
			m.Parts = e.Parts
			one = Piece{At: e.At, Since: e.Since, Frees: v.TokensOf(e.At) - v.Meter().Message(m)}
		} else {
			one = Piece{At: e.Runs[0].First, Since: e.Since, Frees: -e.Estimate}
			for _, m := range e.Messages {
				one.Frees -= v.Meter().Message(m)
			}
			for _, run := range e.Runs {
				for k := run.First; k <= run.Last; k++ {
					one.Frees += v.TokensOf(k)
				}
			}
		}
		pieces = append(pieces, one)
		sorted = sorted && (i == 0 || pieces[i-1].At <= one.At)
	}
	if !sorted {
		slices.SortStableFunc(pieces, func(a, b Piece) int { return cmp.Compare(a.At, b.At) })
	}
	return pieces
}

// decision is whether an edit is worth its price, and from which position on.
type decision struct {
	met         bool
	cold        bool
	from        int     // first position to edit
	paid, price float64 // in input tokens
}

func (d decision) why() string {
	if d.cold {
		return "the cache is cold, so nothing is written again"
	}
	return fmt.Sprintf("reading it has cost %.0f input tokens since the edit before, writing again costs %.0f", d.paid, d.price)
}

// decide looks for the position from which an edit pays most; if all is true, it judges the edit of all pieces. These are in
// the order of the view. calls are those since the newest edit, or -1. One pass goes from the end of the view to the first
// piece.
func (e economy) decide(v *middleware.View, pieces []Piece, calls int, all bool) decision {
	cached, whole := core.Cached(v, e.TTL)
	if e.cold && !whole && cached == 0 {
		return decision{met: len(pieces) > 0, cold: true}
	}
	read, write := e.prices(v)
	factor := cmp.Or(e.Factor, 1)
	more := (write - read) * factor
	usual := usualAge(v, pieces)
	best := decision{paid: -1}
	gain := math.Inf(-1)
	sum, kept, void := 0.0, 0, 0.0 // read since, in tokens; tokens after the edit that are in the cache now; price of thinking after it
	at, since, answers := v.Len(), v.Len(), 0
	for _, p := range slices.Backward(pieces) {
		kept += tokensOf(v, p.At, min(at, cached))
		void += core.VoidPrice(v, p.At+1, at)
		at = min(at, p.At)
		if p.At < cached {
			kept -= p.Frees - p.Line
		}
		possible := p.Since
		if possible == 0 {
			possible = p.At
		}
		answers += answersIn(v, possible+1, since)
		since = min(since, possible+1)
		n := answers + 1
		if p.Since == 0 {
			n -= usual
		}
		if calls >= 0 {
			n = min(n, calls)
		}
		sum += float64(max(n, 0) * (p.Frees - p.Line))
		price := more*float64(kept) + factor*void
		if g := read*sum - price; g >= gain || all {
			gain = g
			best = decision{from: p.At, paid: read * sum, price: price}
		}
	}
	const rounding = 1e-6
	best.met = len(pieces) > 0 && best.paid > 0 && gain >= -rounding && (e.worth || e.cold && best.price == 0)
	best.cold = best.met && !e.worth
	return best
}

// tokensOf returns the tokens of the messages from one position to another.
func tokensOf(v *middleware.View, from, to int) (tokens int) {
	for i := from; i < to; i++ {
		tokens += v.TokensOf(i)
	}
	return tokens
}

// answersIn returns the number of answers from one position to another.
func answersIn(v *middleware.View, from, to int) (n int) {
	for i := from; i < to; i++ {
		if v.At(i).Role == message.RoleAssistant {
			n++
		}
	}
	return n
}

// usualAge returns after how many answers the pieces of which this is not known became possible, by the newest one.
func usualAge(v *middleware.View, pieces []Piece) (answers int) {
	const most = 10
	if len(pieces) == 0 || pieces[len(pieces)-1].Since > 0 {
		return 0
	}
	return min(answersIn(v, pieces[len(pieces)-1].At+1, v.Len()), most)
}

// EconomyOr is [Economy] if the table of models has the prices of the request's model and the chain has an archive, from
// which the model can read again what was removed early. Otherwise it is t; nil: always met.
func EconomyOr(t middleware.Trigger) middleware.Trigger { return priced{otherwise: t} }

type priced struct{ otherwise middleware.Trigger }

// of returns the trigger that holds for a view.
func (p priced) of(v *middleware.View) middleware.Trigger {
	if IsEconomy(p, v) {
		return economy{name: "Economy", worth: true, cold: true, pressure: true}
	}
	return p.otherwise
}

func (p priced) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if t := p.of(v); t != nil {
		return t.Met(v, plan)
	}
	return plan() != nil, "", nil
}

func (p priced) cost() int { return 3 }

func (p priced) Below(v *middleware.View) (tokens int, of string) { return Below(p.of(v), v) }

func (p priced) Threshold(v *middleware.View) (tokens int, ok bool) { return Threshold(p.of(v), v) }

func (p priced) from(v *middleware.View, editor string, pieces func() []Piece) (first int, ok bool) {
	return from(p.of(v), v, editor, pieces)
}

func (p priced) Validate() error {
	if p.otherwise == nil {
		return nil
	}
	return validate(p.otherwise)
}

// IsEconomy reports whether a trigger is [Economy], or [EconomyOr] and means that for a view.
func IsEconomy(t middleware.Trigger, v *middleware.View) bool {
	switch t.(type) {
	case economy:
		return true
	case priced:
		_, _, known := core.CachePrices(v)
		return known && v.Env().Archive != nil
	}
	return false
}
