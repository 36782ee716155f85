// Package when has the triggers of package trigger, and what the middlewares of this module ask a trigger in addition to
// whether it is met: before they make a plan that may not be needed, and to tell how far it is.
package when

import (
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// core is what only the middlewares of this module ask the core.
var core = middleware.Internals(edit.Key{})

// Trigger is a trigger of this module.
type Trigger interface {
	middleware.Trigger
	configured
	asked
}

// configured is what is known of a trigger before it sees a view.
type configured interface {
	// cost ranks triggers: 0 compares one number of the view, 1 several of them, 2 may do
	// anything, 3 has the plan made.
	cost() int
	// decidedBy is [Decided].
	decidedBy(by *editor) middleware.Trigger
}

// asked is what an editor asks before it makes a plan.
type asked interface {
	// threshold is [Threshold].
	threshold(v *middleware.View) (tokens int, ok bool)
	// from is [From].
	from(v *middleware.View, editor string, pieces func() []Piece) (first int, ok bool)
}

// own returns a trigger of this module as it is, and another one with what is known of it.
func own(t middleware.Trigger) Trigger {
	if t, ok := t.(Trigger); ok {
		return t
	}
	return other{t}
}

// other is a trigger of another package, or nil, which is always met.
type other struct{ middleware.Trigger }

func (other) cost() int                              { return 2 }
func (other) threshold(*middleware.View) (int, bool) { return 0, false }
func (o other) decidedBy(*editor) middleware.Trigger { return o.Trigger }
func (o other) from(v *middleware.View, _ string, _ func() []Piece) (first int, ok bool) {
	return 0, o.Trigger == nil || mayBeMet(o, v)
}

// mayBeMet reports whether a trigger is met without a plan, asks for one, or cannot work.
func mayBeMet(t middleware.Trigger, v *middleware.View) bool {
	asked := false
	met, _, err := t.Met(v, func() *middleware.Plan {
		asked = true
		return nil
	})
	return met || asked || err != nil
}

// Threshold returns the tokens from which on a trigger can be met: of [Any] the smallest
// number of its triggers, of [All] the largest. ok is false if the trigger does not depend
// on tokens, if the window is not known, and for triggers of other packages.
func Threshold(t middleware.Trigger, v *middleware.View) (tokens int, ok bool) {
	return own(t).threshold(v)
}

// From returns the position of the view from which the named editor should edit if it can remove these pieces, which are
// in the order of the view. ok is false if the trigger cannot be met by that and the request does not force the edit: then an editor
// needs no plan, and nothing that only makes a plan better. Of triggers that use the plan otherwise, and of nil, ok is true.
func From(t middleware.Trigger, v *middleware.View, editor string, pieces func() []Piece) (first int, ok bool) {
	force := v.Request().Force
	if slices.Contains(force, editor) || slices.Contains(force, "*") {
		return 0, true
	}
	return own(t).from(v, editor, pieces)
}

// Limit is met when a number of the view reaches a limit.
func Limit(unit string, limit int, value func(*middleware.View) int) Trigger {
	return threshold{unit: unit, limit: limit, value: value}
}

// Tokens is trigger.Tokens.
func Tokens(n int) Trigger {
	return Limit(unitTokens, n, func(v *middleware.View) int { return v.Size().Tokens })
}

const unitTokens = "tokens"

type threshold struct {
	unit  string
	limit int
	value func(*middleware.View) int
}

func (t threshold) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	n := t.value(v)
	return n >= t.limit, fmt.Sprintf("%d of %d %s", n, t.limit, t.unit), nil
}

func (t threshold) Validate() error {
	if t.limit <= 0 {
		return fmt.Errorf("trigger at %d %s, want more than 0", t.limit, t.unit)
	}
	return nil
}

func (t threshold) threshold(*middleware.View) (tokens int, ok bool) {
	if t.unit != unitTokens {
		return 0, false
	}
	return t.limit, true
}

func (t threshold) cost() int                            { return 0 }
func (t threshold) decidedBy(*editor) middleware.Trigger { return t }
func (t threshold) from(v *middleware.View, _ string, _ func() []Piece) (int, bool) {
	return 0, mayBeMet(t, v)
}

// Fraction is trigger.Fraction.
func Fraction(share float64) Trigger { return fraction{share: share} }

type fraction struct{ share float64 }

func (f fraction) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	b, ok := v.Budget()
	if !ok {
		return false, "", fmt.Errorf("trigger.Fraction(%g) needs the window of model %q, which the table of models does not know: "+
			"set a Budget, or use trigger.Tokens", f.share, v.Request().Model)
	}
	limit := shorten.AtLeast(f.share, b.Room())
	return v.Size().Tokens >= limit, fmt.Sprintf("%d of %d tokens, %g of the room of %d", v.Size().Tokens, limit, f.share, b.Room()), nil
}

func (f fraction) Validate() error {
	if !(f.share > 0 && f.share <= 1) {
		return fmt.Errorf("trigger.Fraction(%g), want more than 0 and at most 1", f.share)
	}
	return nil
}

func (f fraction) threshold(v *middleware.View) (tokens int, ok bool) {
	b, ok := v.Budget()
	if !ok {
		return 0, false
	}
	return shorten.AtLeast(f.share, b.Room()), true
}

func (f fraction) cost() int                            { return 0 }
func (f fraction) decidedBy(*editor) middleware.Trigger { return f }

func (f fraction) from(v *middleware.View, _ string, _ func() []Piece) (int, bool) {
	return 0, mayBeMet(f, v)
}

// DefaultTokens is the threshold of [Default] if the window is not known.
const DefaultTokens = 100_000

// Default is what an editing middleware uses when no trigger is given: [Fraction] if the
// window is known, else [Tokens] of [DefaultTokens].
func Default(share float64) Trigger { return fallback{share} }

type fallback struct{ share float64 }

// of returns the trigger that holds for a view.
func (f fallback) of(v *middleware.View) Trigger {
	if _, ok := v.Budget(); ok {
		return Fraction(f.share)
	}
	return Tokens(DefaultTokens)
}

func (f fallback) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	return f.of(v).Met(v, plan)
}

func (f fallback) Validate() error                          { return fraction(f).Validate() }
func (f fallback) cost() int                                { return 0 }
func (f fallback) threshold(v *middleware.View) (int, bool) { return f.of(v).threshold(v) }

func (f fallback) decidedBy(*editor) middleware.Trigger { return f }

func (f fallback) from(v *middleware.View, _ string, _ func() []Piece) (int, bool) {
	return 0, mayBeMet(f, v)
}

// Reclaims is trigger.Reclaims.
func Reclaims(n int) Trigger { return reclaims{limit: n} }

type reclaims struct{ limit int }

func (r reclaims) Met(_ *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	saved := 0
	if p := plan(); p != nil {
		saved = p.Saved
	}
	return saved >= r.limit, fmt.Sprintf("frees %d of %d tokens", saved, r.limit), nil
}

func (r reclaims) Validate() error {
	if r.limit <= 0 {
		return fmt.Errorf("trigger.Reclaims(%d), want more than 0 tokens", r.limit)
	}
	return nil
}

func (r reclaims) from(v *middleware.View, _ string, pieces func() []Piece) (first int, ok bool) {
	freed := 0
	for _, p := range pieces() {
		freed += p.Frees
	}
	return 0, v.Size().Tokens-core.Without(v, freed).Size().Tokens >= r.limit
}

func (r reclaims) cost() int                              { return 3 }
func (r reclaims) threshold(*middleware.View) (int, bool) { return 0, false }
func (r reclaims) decidedBy(*editor) middleware.Trigger   { return r }
