// Package when has the triggers of package trigger, and what the middlewares of this module ask a trigger in addition to
// whether it is met: before they make a plan that may not be needed, and to report how far it is.
package when

import (
	"cmp"
	"fmt"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// costOf ranks triggers: 0 compares one number of the view, 1 several of them, 2 may do anything, 3 has the plan made.
// Like [Threshold] and may, it calls a method of the trigger if it has one of this name.
func costOf(t middleware.Trigger) int {
	if t, ok := t.(interface{ cost() int }); ok {
		return t.cost()
	}
	return 2
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

// Threshold returns the tokens from which on a trigger can be met, and of what they are a part, in words; "" if the caller has
// given the number: of [Any] the smallest number of its triggers, of [All] the largest. sure is true if it is surely not met below
// them. 0: the trigger does not depend on tokens, the window is not known, or it is one of another package.
func Threshold(t middleware.Trigger, v *middleware.View) (tokens int, of string, sure bool) {
	if t, known := t.(interface {
		Threshold(v *middleware.View) (tokens int, of string, sure bool)
	}); known {
		return t.Threshold(v)
	}
	return 0, "", false
}

// ofModel returns the name of the window or room in words.
func ofModel(v *middleware.View, share float64, what string) string {
	part := map[float64]string{0.5: "half", 0.75: "three quarters"}[share]
	if part == "" {
		part = fmt.Sprint(share)
	}
	return part + " of the " + what + " of " + cmp.Or(v.Request().Model, "the model")
}

// Least returns how many tokens an edit frees at least by default: 10,000, or a tenth of the room if that is less, for a
// model that binds its thinking to what is before it, since an edit makes the thinking after it void; 0 for others.
func Least(v *middleware.View) int {
	if v.Model().Thinking != edit.ThinkingBound {
		return 0
	}
	least := 10_000
	if b, known := v.Budget(); known {
		least = min(least, b.Room()/10)
	}
	return max(least, 1)
}

// May reports whether a trigger may be met by an edit of the named editor that frees something, or whether the request forces the
// edit. If not, the editor needs no plan. Of triggers that use the plan otherwise, and of nil, it is true.
func May(t middleware.Trigger, v *middleware.View, editor string, frees func() Frees) bool {
	return v.Request().Forces(editor) || may(t, v, editor, frees)
}

func may(t middleware.Trigger, v *middleware.View, editor string, frees func() Frees) bool {
	if t, ok := t.(interface {
		may(v *middleware.View, editor string, frees func() Frees) bool
	}); ok {
		return t.may(v, editor, frees)
	}
	return t == nil || mayBeMet(t, v)
}

// Limit is met when a number of the view reaches a limit.
func Limit(unit string, limit int, value func(*middleware.View) int) middleware.Trigger {
	return threshold{unit: unit, limit: limit, value: value}
}

// Tokens is trigger.Tokens.
func Tokens(n int) middleware.Trigger {
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

// Threshold returns a number of the caller, and whether it is beyond the room.
func (t threshold) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	if t.unit != unitTokens {
		return 0, "", false
	}
	if b, known := v.Budget(); known && t.limit > b.Room() {
		of = fmt.Sprintf("more than the room of %d", b.Room())
	}
	return t.limit, of, true
}

func (t threshold) cost() int { return 0 }

// Fraction is trigger.Fraction.
func Fraction(share float64) middleware.Trigger { return fraction{share: share} }

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

func (f fraction) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	b, known := v.Budget()
	if !known {
		return 0, "", false
	}
	return shorten.AtLeast(f.share, b.Room()), ofModel(v, f.share, "room"), true
}

func (f fraction) cost() int { return 0 }

// DefaultTokens is the threshold of [Default] if the window is not known.
const DefaultTokens = 100_000

// Default is what an editing middleware uses when no trigger is given: [Fraction] if the
// window is known, else [Tokens] of [DefaultTokens].
func Default(share float64) middleware.Trigger { return fallback{share} }

type fallback struct{ share float64 }

// of returns the trigger that holds for a view.
func (f fallback) of(v *middleware.View) middleware.Trigger {
	if _, ok := v.Budget(); ok {
		return Fraction(f.share)
	}
	return Tokens(DefaultTokens)
}

func (f fallback) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	return f.of(v).Met(v, plan)
}

func (f fallback) Validate() error { return fraction(f).Validate() }
func (f fallback) cost() int       { return 0 }

func (f fallback) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	if _, known := v.Budget(); !known {
		return unknownWindow(v)
	}
	return fraction(f).Threshold(v)
}

// unknownWindow is the Threshold where the window is not known.
func unknownWindow(v *middleware.View) (tokens int, of string, sure bool) {
	return DefaultTokens, "the window of " + cmp.Or(v.Request().Model, "the model") + " is not known", true
}

// Reclaims is trigger.Reclaims.
func Reclaims(n int) middleware.Trigger { return reclaims{limit: n} }

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

func (r reclaims) may(v *middleware.View, _ string, frees func() Frees) bool {
	return v.Size().Tokens-v.Without(frees().Tokens).Size().Tokens >= r.limit
}

func (r reclaims) cost() int { return 3 }
