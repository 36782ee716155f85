// Package trigger says when an editing middleware edits.
//
//	trigger.Any(trigger.Tokens(100_000), trigger.All(trigger.Fraction(0.75), trigger.Rounds(10)))
//
// Tokens are those of all that would be sent: system prompt, tool definitions
// and messages. A threshold is met when it is reached. Triggers are values,
// safe for concurrent use. One that makes no sense, as a negative threshold, is
// reported when it is given to a middleware.
package trigger

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Tokens is met when so many tokens would be sent.
func Tokens(n int) middleware.Trigger {
	return threshold{unit: "tokens", limit: n, value: (*middleware.View).Tokens}
}

// Messages is met when the view has so many messages.
func Messages(n int) middleware.Trigger {
	return threshold{unit: "messages", limit: n, value: (*middleware.View).Len}
}

// Rounds is met when the view has so many rounds: assistant messages with tool
// calls.
func Rounds(n int) middleware.Trigger {
	return threshold{unit: "rounds", limit: n, value: rounds}
}

func rounds(v *middleware.View) int {
	n := 0
	for _, m := range v.All() {
		if m.Role == message.RoleAssistant && m.HasCalls() {
			n++
		}
	}
	return n
}

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

// Fraction is met when so large a share of the room, the window less the
// reserve, would be filled: more than 0, at most 1. It needs to know the
// window.
func Fraction(share float64) middleware.Trigger { return fraction{share: share} }

type fraction struct{ share float64 }

func (f fraction) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	b, ok := v.Budget()
	if !ok {
		return false, "", fmt.Errorf("trigger.Fraction(%g) needs the window of model %q: set Request.Budget, or use trigger.Tokens",
			f.share, v.Request().Model)
	}
	limit := f.of(b.Room())
	return v.Tokens() >= limit, fmt.Sprintf("%d of %d tokens, %g of the room of %d", v.Tokens(), limit, f.share, b.Room()), nil
}

// of returns the tokens that are at least this share of a room. What floating
// point adds to a product that is whole, as to 0.55 of 100, must not count.
func (f fraction) of(room int) int {
	const dust = 1e-12
	return int(math.Ceil(f.share * float64(room) * (1 - dust)))
}

func (f fraction) Validate() error {
	if !(f.share > 0 && f.share <= 1) {
		return fmt.Errorf("trigger.Fraction(%g), want more than 0 and at most 1", f.share)
	}
	return nil
}

// Default is what an editing middleware uses when no trigger is given:
// [Fraction] where the window is known, else [Tokens] of 100,000.
func Default(share float64) middleware.Trigger {
	return fallback{fraction: fraction{share: share}, tokens: Tokens(100_000)}
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

// Any is met when one of the triggers is. Those that may be dear are asked
// last. If none is met and one cannot work, that is an error.
func Any(triggers ...middleware.Trigger) middleware.Trigger {
	return several{name: "Any", triggers: cheapFirst(triggers), enough: true}
}

// All is met when all of the triggers are. Those that may be dear are asked
// last. If one cannot work and all others are met, that is an error.
func All(triggers ...middleware.Trigger) middleware.Trigger {
	return several{name: "All", triggers: cheapFirst(triggers), enough: false}
}

// several asks triggers until one says what is enough to know.
type several struct {
	name     string
	triggers []middleware.Trigger
	enough   bool
}

func (s several) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	var whys []string
	var errs []error
	for _, t := range s.triggers {
		met, why, err := t.Met(v, plan)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if met == s.enough {
			return met, why, nil
		}
		whys = append(whys, why)
	}
	if err := errors.Join(errs...); err != nil {
		return false, "", err
	}
	return !s.enough, strings.Join(whys, ", "), nil
}

func (s several) Validate() error {
	if len(s.triggers) == 0 {
		return fmt.Errorf("trigger.%s of nothing, want at least one trigger", s.name)
	}
	for _, t := range s.triggers {
		if t == nil {
			return fmt.Errorf("trigger.%s: a trigger is nil", s.name)
		}
		if v, ok := t.(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cheapFirst orders triggers so that those of which we know that they only look
// at the view come first.
func cheapFirst(triggers []middleware.Trigger) []middleware.Trigger {
	return slices.SortedStableFunc(slices.Values(triggers), func(a, b middleware.Trigger) int { return cmp.Compare(cost(a), cost(b)) })
}

// cost ranks a trigger: 0 looks at numbers of the view, 1 at several of them, 2
// may do anything.
func cost(t middleware.Trigger) int {
	switch t := t.(type) {
	case threshold, fraction, fallback:
		return 0
	case several:
		dearest := 1
		for _, t := range t.triggers {
			dearest = max(dearest, cost(t))
		}
		return dearest
	}
	return 2
}
