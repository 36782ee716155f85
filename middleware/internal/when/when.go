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
func Tokens(n int) middleware.Trigger { return tokensAt(n) }

func tokensAt(n int) threshold {
	return threshold{unit: unitTokens, limit: n, value: func(v *middleware.View) int { return v.Size().Tokens }}
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

// fraction is met when a share of the room is filled, or of the whole window.
type fraction struct {
	share    float64
	ofWindow bool
}

// limit returns the share in tokens, and of what it is one.
func (f fraction) limit(b middleware.Budget) (tokens int, of string, whole int) {
	if f.ofWindow {
		return shorten.AtLeast(f.share, b.Window), "window", b.Window
	}
	return shorten.AtLeast(f.share, b.Room()), "room", b.Room()
}

func (f fraction) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	b, ok := v.Budget()
	if !ok {
		return false, "", fmt.Errorf("trigger.Fraction(%g) needs the window of model %q, which the table of models does not know: "+
			"set a Budget, or use trigger.Tokens", f.share, v.Request().Model)
	}
	limit, of, whole := f.limit(b)
	n := v.Size().Tokens
	return n >= limit, fmt.Sprintf("%d of %d tokens, %g of the %s of %d", n, limit, f.share, of, whole), nil
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
	tokens, of, _ = f.limit(b)
	part := map[float64]string{0.5: "half", 0.75: "three quarters"}[f.share]
	if part == "" {
		part = fmt.Sprint(f.share)
	}
	return tokens, part + " of the " + of + " of " + cmp.Or(v.Request().Model, "the model"), true
}

func (f fraction) cost() int { return 0 }

// chosen is the trigger that a view chooses; nil: one that is always met if there is something to edit.
type chosen struct {
	by   func(v *middleware.View) middleware.Trigger
	rank int                // as of costOf
	own  middleware.Trigger // the one whose options are those of the caller; nil: none
}

func (c chosen) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if t := c.by(v); t != nil {
		return t.Met(v, plan)
	}
	return plan() != nil, "", nil
}

func (c chosen) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	return Threshold(c.by(v), v)
}

func (c chosen) may(v *middleware.View, editor string, frees func() Frees) bool {
	return may(c.by(v), v, editor, frees)
}

func (c chosen) cost() int { return c.rank }

func (c chosen) Validate() error { return validate(c.own) }

// unknownWindow is a trigger for models whose window is not known.
type unknownWindow struct{ threshold }

// DefaultTokens is the threshold where the window is not known.
const DefaultTokens = 100_000

func (unknownWindow) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	return DefaultTokens, "the window of " + cmp.Or(v.Request().Model, "the model") + " is not known", true
}

// ofBudget returns a trigger for the budget of a view, which is [Tokens] of [DefaultTokens] if that is not known.
func ofBudget(own middleware.Trigger, by func(b middleware.Budget) middleware.Trigger) middleware.Trigger {
	return chosen{own: own, by: func(v *middleware.View) middleware.Trigger {
		if b, known := v.Budget(); known {
			return by(b)
		}
		return unknownWindow{tokensAt(DefaultTokens)}
	}}
}

// Default is what an editing middleware uses when no trigger is given: [Fraction] of the room.
func Default(share float64) middleware.Trigger {
	f := fraction{share: share}
	return ofBudget(f, func(middleware.Budget) middleware.Trigger { return f })
}

// Window is met when three quarters of the window are filled. If the reserve is more than a quarter of it, they would not
// fit: then it is met when 0.9 of the window less the reserve are filled.
func Window() middleware.Trigger {
	return ofBudget(nil, func(b middleware.Budget) middleware.Trigger {
		if b.Reserve > b.Window/4 {
			return fraction{share: 0.9}
		}
		return fraction{share: 0.75, ofWindow: true}
	})
}

// WithReserve is t, which is also met if fewer tokens of the window are left than n, or than the request's reserve if that is
// more. Without a known window it is t alone.
func WithReserve(n int, t middleware.Trigger) middleware.Trigger { return withReserve{t, n} }

type withReserve struct {
	middleware.Trigger

	reserve int
}

func (w withReserve) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	b, known := v.Budget()
	n, limit := v.Size().Tokens, b.Window-max(w.reserve, b.Reserve)
	switch {
	case known && w.reserve >= b.Window:
		return false, "", fmt.Errorf("the Reserve is %d tokens and the window of model %q %d, so that no view would fit: "+
			"lower Reserve, or correct the Budget", w.reserve, v.Request().Model, b.Window)
	case known && n >= limit:
		return true, fmt.Sprintf("%d of %d tokens, the window less the Reserve", n, limit), nil
	}
	return w.Trigger.Met(v, plan)
}

func (w withReserve) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	tokens, of, sure = Threshold(w.Trigger, v)
	b, known := v.Budget()
	if limit := b.Window - max(w.reserve, b.Reserve); known && (tokens == 0 || limit < tokens) {
		tokens = limit
	}
	return tokens, of, sure
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
