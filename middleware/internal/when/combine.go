package when

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Any is trigger.Any.
func Any(triggers ...middleware.Trigger) middleware.Trigger {
	return several{name: "Any", triggers: cheapFirst(triggers), enough: true}
}

// All is trigger.All.
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

// AtUser is trigger.AtUser.
func AtUser(limit middleware.Trigger) middleware.Trigger {
	if limit == nil {
		return atUser{}
	}
	return several{name: "AtUser", triggers: []middleware.Trigger{atUser{}, limit}, enough: true}
}

type atUser struct{}

func (atUser) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	i := v.Len() - 1
	for i >= 0 && v.At(i).Role == message.RoleSystem {
		i--
	}
	if i >= 0 && v.At(i).Role == message.RoleUser {
		return true, "a message of the user ends the request", nil
	}
	return false, "no message of the user ends the request", nil
}

func (atUser) cost() int { return 0 }

func (a atUser) may(v *middleware.View, _ string, _ func() Frees) bool {
	met, _, _ := a.Met(v, nil)
	return met
}

// Not is trigger.Not.
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

func (n not) cost() int { return costOf(n.of) }

// validate calls the Validate method of a trigger that has one.
func validate(t middleware.Trigger) error {
	if v, ok := t.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// cheapFirst puts triggers that only look at the view first.
func cheapFirst(triggers []middleware.Trigger) []middleware.Trigger {
	return slices.SortedStableFunc(slices.Values(triggers), func(a, b middleware.Trigger) int {
		return cmp.Compare(costOf(a), costOf(b))
	})
}

func (s several) cost() int {
	most := 1
	for _, t := range s.triggers {
		most = max(most, costOf(t))
	}
	return most
}

// Threshold is the smallest or the largest number of the triggers. Of Any, none may be met below.
func (s several) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	all := true
	for _, t := range s.triggers {
		n, part, below := Threshold(t, v)
		all = all && below
		if n > 0 && (tokens == 0 || s.enough == (n < tokens)) {
			tokens, of = n, part
			sure = below
		}
	}
	return tokens, of, sure && (all || !s.enough)
}

func (s several) may(v *middleware.View, editor string, frees func() Frees) bool {
	for _, t := range s.triggers {
		if may(t, v, editor, frees) == s.enough {
			return s.enough
		}
	}
	return !s.enough
}
