package when

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/edit"
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

// Threshold is that of pressure: below it, an edit may be worth its price.
func (e economy) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	if !e.pressure || e.Pressure < 0 {
		return 0, "", false
	}
	tokens, of, _ = e.full().Threshold(v)
	return tokens, of, false
}

func (e economy) may(v *middleware.View, name string, frees func() Frees) bool {
	f := frees()
	calls, _ := v.LastEdit(name)
	return e.pressed(v, f) || e.decide(v, f, calls).met
}

// full is met when the view has no more room by Pressure.
func (e economy) full() fraction { return fraction{share: cmp.Or(e.Pressure, defaultPressure)} }

func (e economy) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	p := plan()
	if p == nil || p.Saved <= 0 {
		return false, "", nil
	}
	f := freesOf(p)
	if e.pressed(v, f) {
		_, why, _ = e.full().Met(v, nil)
		return true, why, nil
	}
	d := e.decide(v, f, p.Calls)
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

// pressed reports whether the share of the room is filled and the edit frees enough for some calls: 2 % of the room, or a tenth
// of what is written again.
func (e economy) pressed(v *middleware.View, f Frees) bool {
	b, ok := v.Budget()
	if !ok || !e.pressure || e.Pressure < 0 || b.Window <= 0 {
		return false
	}
	if full, _, _ := e.full().Met(v, nil); !full {
		return false
	}
	return 50*f.Tokens >= b.Room() || 10*f.Tokens >= tokensOf(v, f.First, v.Len())
}

// prices returns the price of reading from the cache, and of writing to it.
func (e economy) prices(v *middleware.View) (read, write float64) {
	if e.Write > 0 {
		return e.Read, max(e.Read, e.Write)
	}
	read, write, _ = v.Model().Price.InCache(v.Size().Tokens)
	return read, max(read, write)
}

// Frees is what an edit of a view removes.
type Frees struct {
	First  int // position of the first message that changes
	Tokens int // by the meter
}

// freesOf returns what a plan removes.
func freesOf(p *middleware.Plan) Frees {
	f := Frees{First: math.MaxInt, Tokens: p.Saved}
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Kind == journal.Rewrite {
			f.First = min(f.First, e.At)
		} else {
			f.First = min(f.First, e.Runs[0].First)
		}
	}
	return f
}

// decision is whether an edit is worth its price.
type decision struct {
	met         bool
	cold        bool
	paid, price float64 // in input tokens
}

func (d decision) why() string {
	if d.cold {
		return "the cache is cold, so nothing is written again"
	}
	return fmt.Sprintf("reading it has cost %.0f input tokens since the edit before, writing again costs %.0f", d.paid, d.price)
}

// decide compares what reading the removed tokens has cost with what writing the rest again will. Of n calls since the edit before
// (negative: in the conversation), half is taken, as if what is removed had come in evenly.
func (e economy) decide(v *middleware.View, f Frees, n int) decision {
	cached, whole := v.Cached(e.TTL)
	switch {
	case f.Tokens <= 0:
		return decision{}
	case e.cold && !whole && cached == 0:
		return decision{met: true, cold: true}
	case n < 0:
		n = answersIn(v, 0, v.Len())
	}
	kept := tokensOf(v, f.First, cached)
	if f.First < cached {
		kept -= f.Tokens
	}
	read, write := e.prices(v)
	d := decision{paid: read * float64(f.Tokens) * float64(n) / 2}
	d.price = cmp.Or(e.Factor, 1) * ((write-read)*float64(kept) + voidPrice(v, f.First+1))
	const rounding = 1e-6
	d.met = d.paid > 0 && d.paid >= d.price-rounding && (e.worth || d.price == 0)
	d.cold = d.met && !e.worth
	return d
}

// voidPrice returns the price of the thinking from a message on, as that of the same output, in input tokens, if an edit before it
// makes it void.
func voidPrice(v *middleware.View, from int) float64 {
	m := v.Model()
	if m.Thinking != edit.ThinkingBound {
		return 0
	}
	counted := 0
	for i := from; i < v.Len(); i++ {
		for _, p := range v.At(i).Parts {
			if edit.IsThinking(p) {
				counted += v.Meter().Part(p)
			}
		}
	}
	const cautious = 5 // price of an output token, in input tokens, if prices are unknown: the usual one of these models
	price := float64(cautious)
	if m.Price.Input > 0 {
		r := m.Price.At(v.Size().Tokens)
		price = float64(r.Output) / float64(r.Input)
	}
	return price * float64(counted)
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

// EconomyOr is [Economy] if the table of models has the prices of the request's model and the chain has an archive, from
// which the model can read again what was removed early. Otherwise it is t; nil: always met.
func EconomyOr(t middleware.Trigger) middleware.Trigger {
	return chosen{own: t, rank: 3, by: func(v *middleware.View) middleware.Trigger {
		if _, _, known := v.Model().Price.InCache(v.Size().Tokens); known && v.Env().Archive != nil {
			return Economy(Prices{})
		}
		return t
	}}
}

// IsEconomy reports whether a trigger is [Economy], or means that for a view.
func IsEconomy(t middleware.Trigger, v *middleware.View) bool {
	if c, ok := t.(chosen); ok {
		t = c.by(v)
	}
	_, is := t.(economy)
	return is
}
