package trigger

import (
	"cmp"
	"errors"
	"fmt"
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
	case reclaims:
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

// MayBeMet reports whether the named editor may edit a view by a plan that saves at most that many tokens: its trigger may
// be met, or the request forces the edit. By this an editor does without what only makes a plan better, as long as
// [Reclaims] cannot be met. Of triggers that use the plan otherwise, and of nil, it is true.
func MayBeMet(t middleware.Trigger, v *middleware.View, editor string, saved int) bool {
	force := v.Request().Force
	return slices.Contains(force, editor) || slices.Contains(force, "*") || mayBeMet(t, v, saved)
}

func mayBeMet(t middleware.Trigger, v *middleware.View, saved int) bool {
	switch t := t.(type) {
	case nil:
		return true
	case reclaims:
		return saved >= t.limit
	case several:
		for _, one := range t.triggers {
			if mayBeMet(one, v, saved) == t.enough {
				return t.enough
			}
		}
		return !t.enough
	}
	asked := false
	met, _, err := t.Met(v, func() *middleware.Plan {
		asked = true
		return nil
	})
	return met || asked || err != nil
}
