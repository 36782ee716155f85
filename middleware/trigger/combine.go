package trigger

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// Any is met when one of the triggers is met. Triggers that may be expensive are asked
// last, [Reclaims] after all others. It is an error if no trigger is met and one of them
// cannot work.
func Any(triggers ...middleware.Trigger) middleware.Trigger {
	return several{name: "Any", triggers: cheapFirst(triggers), enough: true}
}

// All is met when all triggers are met. Triggers that may be expensive are asked last,
// [Reclaims] after all others. It is an error if all others are met and one cannot work.
func All(triggers ...middleware.Trigger) middleware.Trigger {
	return several{name: "All", triggers: cheapFirst(triggers), enough: false}
}

// several asks triggers until the result is known.
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
		if err := validate(t); err != nil {
			return err
		}
	}
	return nil
}

// Not is met when the trigger is not met. A trigger that cannot work is an error, as it is
// without Not. Not of a number of tokens, messages, rounds or calls is met when the view
// has become short, also through later middlewares: then a repeated call may be edited
// further.
func Not(t middleware.Trigger) middleware.Trigger { return not{of: t} }

type not struct{ of middleware.Trigger }

func (n not) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	met, why, err = n.of.Met(v, plan)
	if err != nil {
		return false, "", err
	}
	if why != "" {
		why = "not (" + why + ")"
	}
	return !met, why, nil
}

func (n not) Validate() error {
	if n.of == nil {
		return errors.New("trigger.Not of nil")
	}
	return validate(n.of)
}

// validate calls the Validate method of a trigger that has one.
func validate(t middleware.Trigger) error {
	if v, ok := t.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// cheapFirst puts triggers that only look at the view first.
func cheapFirst(triggers []middleware.Trigger) []middleware.Trigger {
	return slices.SortedStableFunc(slices.Values(triggers), func(a, b middleware.Trigger) int { return cmp.Compare(cost(a), cost(b)) })
}

// cost ranks a trigger: 0 looks at numbers of the view, 1 at several of them, 2
// may do anything, 3 has the plan made.
func cost(t middleware.Trigger) int {
	switch t := t.(type) {
	case threshold, fraction, fallback:
		return 0
	case not:
		return cost(t.of)
	case reclaims, economy, priced:
		return 3
	case several:
		dearest := 1
		for _, t := range t.triggers {
			dearest = max(dearest, cost(t))
		}
		return dearest
	}
	return 2
}

// Threshold returns the tokens from which on a trigger can be met: of [Any] the smallest
// number of its triggers, of [All] the largest. ok is false if the trigger does not depend
// on tokens, if the window is not known, and for triggers of other packages.
func Threshold(t middleware.Trigger, v *middleware.View) (tokens int, ok bool) {
	switch t := t.(type) {
	case threshold:
		if t.unit == unitTokens {
			return t.limit, true
		}
	case fallback:
		if n, ok := Threshold(t.fraction, v); ok {
			return n, true
		}
		return Threshold(t.tokens, v)
	case fraction:
		if b, ok := v.Budget(); ok {
			return shorten.AtLeast(t.share, b.Room()), true
		}
	case several:
		return t.threshold(v)
	case priced:
		if t := t.of(v); t != nil {
			return Threshold(t, v)
		}
	case economy:
		if t.pressure && t.Pressure >= 0 {
			return Threshold(fraction{cmp.Or(t.Pressure, DefaultPressure)}, v)
		}
	}
	return 0, false
}

// threshold returns the smallest or the largest number of the triggers.
func (s several) threshold(v *middleware.View) (tokens int, ok bool) {
	for _, t := range s.triggers {
		n, known := Threshold(t, v)
		switch {
		case !known:
		case !ok:
			tokens, ok = n, true
		case s.enough:
			tokens = min(tokens, n)
		default:
			tokens = max(tokens, n)
		}
	}
	return tokens, ok
}

// From returns the position of the view from which the named editor should edit if it can remove these pieces, which are
// in the order of the view. ok is false if the trigger cannot be met by that and the request does not force the edit: then an editor
// needs no plan, and nothing that only makes a plan better. Of triggers that use the plan otherwise, and of nil, ok is true.
func From(t middleware.Trigger, v *middleware.View, editor string, pieces func() []Piece) (first int, ok bool) {
	force := v.Request().Force
	if slices.Contains(force, editor) || slices.Contains(force, "*") {
		return 0, true
	}
	return from(t, v, editor, pieces)
}

func from(t middleware.Trigger, v *middleware.View, editor string, pieces func() []Piece) (first int, ok bool) {
	switch t := t.(type) {
	case nil:
		return 0, true
	case reclaims:
		freed := 0
		for _, p := range pieces() {
			freed += p.Frees
		}
		return 0, v.Size().Tokens-v.Without(freed).Size().Tokens >= t.limit
	case economy:
		if met, _ := t.pressed(v); met {
			return 0, true
		}
		all := pieces()
		d := t.decide(v, all, v.CallsSince(editor))
		t.note(v, all, d)
		return d.from, d.met
	case priced:
		return from(t.of(v), v, editor, pieces)
	case several:
		return t.from(v, editor, pieces)
	}
	asked := false
	met, _, err := t.Met(v, func() *middleware.Plan {
		asked = true
		return nil
	})
	return 0, met || asked || err != nil
}

// from returns the first of the positions of Any, and the last of those of All.
func (s several) from(v *middleware.View, editor string, pieces func() []Piece) (first int, ok bool) {
	if s.enough {
		first = math.MaxInt
	}
	for _, t := range s.triggers {
		at, met := from(t, v, editor, pieces)
		switch {
		case !met && !s.enough:
			return 0, false
		case met && s.enough:
			first, ok = min(first, at), true
		case met:
			first = max(first, at)
		}
	}
	return first, ok || !s.enough
}
