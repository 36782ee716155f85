// Package trigger decides when an editing middleware edits.
//
//	trigger.Any(trigger.Tokens(100_000), trigger.All(trigger.Fraction(0.75), trigger.Rounds(10)))
//
// Tokens are those of all that would be sent: system prompt, tool definitions and
// messages. A threshold is met when it is reached. Triggers are values, safe for
// concurrent use. A wrong one, as with a negative threshold, is reported when it is given
// to a middleware.
//
// [Any] and [All] ask [Reclaims] and [Func] last, since these may need the plan: with
// All(Tokens(100_000), Reclaims(20_000)) no plan is made below 100,000 tokens.
package trigger

import (
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// Tokens is met when at least n tokens would be sent.
func Tokens(n int) middleware.Trigger {
	return threshold{unit: unitTokens, limit: n, value: func(v *middleware.View) int { return v.Size().Tokens }}
}

// Messages is met when the view has at least n messages.
func Messages(n int) middleware.Trigger {
	return threshold{unit: "messages", limit: n, value: (*middleware.View).Len}
}

// Rounds is met when the view has at least n rounds: assistant messages with tool
// calls.
func Rounds(n int) middleware.Trigger {
	return threshold{unit: "rounds", limit: n, value: rounds}
}

func rounds(v *middleware.View) (n int) {
	for _, m := range v.Messages() {
		if m.Role == message.RoleAssistant && m.HasCalls() {
			n++
		}
	}
	return n
}

// ToolUses is met when the view has at least n tool calls, answered or not. Parallel calls
// count one by one. A call counts if its result is cleared, and not if it is folded.
func ToolUses(n int) middleware.Trigger {
	return threshold{unit: "tool calls", limit: n, value: toolUses}
}

func toolUses(v *middleware.View) (n int) {
	for _, m := range v.Messages() {
		if m.Role == message.RoleAssistant {
			for range m.Calls() {
				n++
			}
		}
	}
	return n
}

// unitTokens is the unit of [Tokens].
const unitTokens = "tokens"

// threshold compares one number of the view with a limit.
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

// Fraction is met when this share of the room, the window less the reserve, would be
// filled: more than 0, at most 1. It is an error if the window is not known.
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

// DefaultTokens is the threshold of [Default] if the window is not known.
const DefaultTokens = 100_000

// Default is what an editing middleware uses when no trigger is given: [Fraction] if the
// window is known, else [Tokens] of [DefaultTokens].
func Default(share float64) middleware.Trigger {
	return fallback{fraction: fraction{share: share}, tokens: Tokens(DefaultTokens)}
}

type fallback struct {
	fraction
	tokens middleware.Trigger
}

func (f fallback) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if _, ok := v.Budget(); ok {
		return f.fraction.Met(v, plan)
	}
	return f.tokens.Met(v, plan)
}

// Reclaims is met when the plan would make the view at least n tokens shorter. Alone it
// has a plan made in each call, so join it by [All] to what must be met before. A plan
// that breaks a rule frees nothing.
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

// Func makes a trigger of a function that keeps the contract of
// [middleware.Trigger]. [Any] and [All] ask it after the others.
func Func(met func(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error)) middleware.Trigger {
	return function(met)
}

type function func(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error)

func (f function) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	return f(v, plan)
}

func (f function) Validate() error {
	if f == nil {
		return errors.New("trigger.Func of nil")
	}
	return nil
}
