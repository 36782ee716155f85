package contextedit

import (
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/middleware"
)

// DefaultPlaceholder stands where a cleared result stood.
const DefaultPlaceholder = "[cleared]"

// DefaultKeep is how many of the newest results stay.
const DefaultKeep = 5

// Options say what is cleared and when. The zero value keeps the newest five
// results, clears only results, and does so when three quarters of the room
// are filled.
type Options struct {
	// Trigger says when to clear. nil: at 0.75 of the window less the reserve,
	// or at 100,000 tokens where the window is not known.
	Trigger middleware.Trigger

	// Keep is how many of the newest results that could be cleared stay. 0:
	// DefaultKeep, or none where KeepRounds or KeepTokens is given; negative:
	// none. A result that no model has seen yet stays in any case.
	Keep int

	// KeepRounds is how many of the newest rounds stay with all their results.
	// 0: as many as the other keeps say.
	KeepRounds int

	// KeepTokens is how many tokens of the newest results stay, counted back
	// from the newest and in whole results. 0: as many as the other keeps say.
	KeepTokens int

	// ExcludeTools are names of tools whose results and inputs are never
	// cleared. They take no place among those that Keep counts.
	ExcludeTools []string

	// ClearAtLeast is a floor in tokens: if less than this can be freed,
	// nothing is cleared, and an event says so. 0: no floor.
	ClearAtLeast int

	// StopAfter ends clearing once so many tokens are freed, oldest first. It
	// goes on when the conversation has grown and the trigger is met again. 0:
	// all that may be cleared is.
	StopAfter int

	// ClearToolInputs also puts {} in place of the arguments of the calls
	// whose results are cleared.
	ClearToolInputs bool

	// ClearInputsOf are the tools whose inputs are cleared even if
	// ClearToolInputs is false. Results of other tools are still cleared,
	// without their inputs.
	ClearInputsOf []string

	// Placeholder is the text of a cleared result. "": DefaultPlaceholder.
	Placeholder string

	// MinCalls is how many model calls lie between one clearing and the next,
	// at least. 0: no minimum.
	MinCalls int

	// Strict makes a refused plan and an option that does not fit the request
	// an error of the call.
	Strict bool
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	nonNegative := []struct {
		name, unit string
		value      int
	}{
		{"KeepRounds", "rounds", o.KeepRounds},
		{"KeepTokens", "tokens", o.KeepTokens},
		{"ClearAtLeast", "tokens", o.ClearAtLeast},
		{"StopAfter", "tokens", o.StopAfter},
	}
	var errs []error
	for _, n := range nonNegative {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d %s, want 0 or more", n.name, n.value, n.unit))
		}
	}
	if o.StopAfter > 0 && o.ClearAtLeast > o.StopAfter {
		errs = append(errs, fmt.Errorf("ClearAtLeast is %d tokens and StopAfter %d, want a floor no higher than the stop",
			o.ClearAtLeast, o.StopAfter))
	}
	for _, names := range [][]string{o.ExcludeTools, o.ClearInputsOf} {
		for i, name := range names {
			if name == "" {
				errs = append(errs, fmt.Errorf("tool name %d is empty, want the name of a tool", i))
			}
		}
	}
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}
