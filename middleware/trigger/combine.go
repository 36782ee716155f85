package trigger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware"
)

// Any is met when one of the triggers is. Those that may be dear are asked
// last, and [Reclaims] behind them. If none is met and one cannot work, that is
// an error.
func Any(triggers ...middleware.Trigger) middleware.Trigger {
	return several{name: "Any", triggers: cheapFirst(triggers), enough: true}
}

// All is met when all of the triggers are. Those that may be dear are asked
// last, and [Reclaims] behind them. If one cannot work and all others are met,
// that is an error.
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
		if err := validate(t); err != nil {
			return err
		}
	}
	return nil
}

// Not is met when the trigger is not. One that cannot work is an error, as it
// is without Not. Not of a number of tokens, messages, rounds or calls is met
// when the view has become short, also by the middlewares behind it: then the
// same call, made again, may be edited further.
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

// validate asks a trigger that can say whether it makes sense.
func validate(t middleware.Trigger) error {
	if v, ok := t.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// cheapFirst orders triggers so that those of which we know that they only look
// at the view come first.
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
