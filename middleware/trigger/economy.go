package trigger

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

// Options configure [Worth], [Cold] and [Economy]. The zero value suits most programs.
type Options struct {
	// Read and Write are the prices of a token that is read from the provider's cache, and
	// of one that is written to it, in those of an input token: 0.1 and 1.25. Both 0: those
	// of the request's model in the table of models; if it is unknown, 0.1 and 1.25.
	Read, Write float64

	// TTL is how long the provider keeps a prefix after its last use. 0: as the table of
	// models says, see [middleware.View.Cached]. Set it if requests ask for a longer time.
	TTL time.Duration

	// Pressure is the share of the room, the window less the reserve, at which Economy edits
	// at any price. 0: 0.75; negative: never. No effect if the window is not known.
	Pressure float64

	// Factor is what Worth multiplies the price of writing again by: above 1, it edits later,
	// and conversations that end soon after an edit cost less; below 1, it edits sooner. 0: 1.
	Factor float64
}

// DefaultPressure is the default of Options.Pressure.
const DefaultPressure = 0.75

// Worth is met when an edit has become worth its price. Each call with a warm cache adds
// the price of reading what could be removed; the sum since the newest edit of the
// editor has to reach the price of writing to the cache again what is after the edit,
// less that of reading it. So a call never pays more for an edit than the calls before have
// paid for its absence, and the cost is at most about twice that of knowing the future.
//
// The sum is computed from the history: nothing is stored, and a restart does not begin at
// zero. If an edit may start at several positions, the one that pays most is chosen, by the
// editors of this module for each edit and otherwise for the whole plan.
func Worth(o Options) middleware.Trigger { return economy{Options: o, name: "Worth", worth: true} }

// Cold is met when an edit costs nothing: the provider's cache has expired, by the times
// of the messages and the clock of the chain, or an earlier edit of this call breaks the prefix
// before. Without times the cache counts as warm.
func Cold(o Options) middleware.Trigger { return economy{Options: o, name: "Cold", cold: true} }

// Economy is met when [Cold] or [Worth] is, and under pressure: when a share of the room
// is filled.
func Economy(o Options) middleware.Trigger {
	return economy{Options: o, name: "Economy", worth: true, cold: true, pressure: true}
}

type economy struct {
	Options

	name                  string
	worth, cold, pressure bool

	decided *editor // by From: a plan is worth its price; nil: not
}

// editor is one that asks From. It is the key of its wait.
type editor struct {
	inOrder bool // its pieces become possible in the order of the view
}

// Decided returns the trigger for an editor that makes a plan only if [From] allows it: [Worth], [Cold] and [Economy] do
// not decide again with the exact plan, whose lines of facts are made by then. inOrder is true if what the editor can
// remove becomes possible in the order of the view, one result or one round for each new one: then it is not asked while
// that cannot be worth its price.
func Decided(t middleware.Trigger, inOrder bool) middleware.Trigger {
	return decidedBy(t, &editor{inOrder})
}

func decidedBy(t middleware.Trigger, by *editor) middleware.Trigger {
	switch t := t.(type) {
	case economy:
		t.decided = by
		return t
	case priced:
		t.decided = by
		return t
	case several:
		t.triggers = slices.Clone(t.triggers)
		for i := range t.triggers {
			t.triggers[i] = decidedBy(t.triggers[i], by)
		}
		return t
	}
	return t
}

func (e economy) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if met, why := e.pressed(v); met {
		return true, why, nil
	}
	if e.waits(v) {
		return false, "", nil
	}
	p := plan()
	if p == nil || p.Saved <= 0 {
		return false, "", nil
	}
	d := e.decide(v, piecesOf(v, p), p.Calls)
	return d.met || e.decided != nil, d.why(), nil
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
	met, why, _ = fraction{cmp.Or(e.Pressure, DefaultPressure)}.Met(v, nil)
	return met && b.Window > 0, why
}

// prices returns the price of reading from the cache, and of writing to it.
func (e economy) prices(v *middleware.View) (read, write float64) {
	if e.Write > 0 {
		return e.Read, max(e.Read, e.Write)
	}
	read, write, _ = v.CachePrices()
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
	gain        float64 // of the best position, in input tokens
	frees       int     // of all pieces
	paid, price float64 // in input tokens
}

func (d decision) why() string {
	if d.cold {
		return "the cache is cold, so nothing is written again"
	}
	return fmt.Sprintf("reading it has cost %.0f input tokens since the edit before, writing again costs %.0f", d.paid, d.price)
}

// decide looks for the position from which an edit pays most. The pieces are in the order of the view. calls are those
// since the newest edit, or -1. One pass goes from the end of the view to the first piece.
func (e economy) decide(v *middleware.View, pieces []Piece, calls int) decision {
	cached, whole := v.Cached(e.TTL)
	if e.cold && !whole && cached == 0 {
		return decision{met: len(pieces) > 0, cold: true}
	}
	read, write := e.prices(v)
	more := (write - read) * cmp.Or(e.Factor, 1)
	usual := usualAge(v, pieces)
	best := decision{paid: -1}
	gain := math.Inf(-1)
	frees := 0
	sum, kept := 0.0, 0 // read since, in tokens; tokens after the edit that are in the cache now
	at, since, answers := v.Len(), v.Len(), 0
	for _, p := range slices.Backward(pieces) {
		kept += tokensOf(v, p.At, min(at, cached))
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
		frees += p.Frees
		if g := read*sum - more*float64(kept); g >= gain {
			gain = g
			best = decision{from: p.At, paid: read * sum, price: more * float64(kept)}
		}
	}
	const rounding = 1e-6
	best.met = len(pieces) > 0 && best.paid > 0 && gain >= -rounding && (e.worth || e.cold && best.price == 0)
	best.cold = best.met && !e.worth
	best.gain, best.frees = gain, frees
	return best
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

type priced struct {
	otherwise middleware.Trigger
	decided   *editor
}

// of returns the trigger that holds for a view.
func (p priced) of(v *middleware.View) middleware.Trigger {
	if IsEconomy(p, v) {
		return economy{name: "Economy", worth: true, cold: true, pressure: true, decided: p.decided}
	}
	return p.otherwise
}

func (p priced) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if t := p.of(v); t != nil {
		return t.Met(v, plan)
	}
	return plan() != nil, "", nil
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
		_, _, known := v.CachePrices()
		return known && v.Env().Archive != nil
	}
	return false
}
