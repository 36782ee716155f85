package contextedit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/amount"
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
	// or at 100,000 tokens where the window is not known. Where the system
	// prompt, the tools, pinned messages and the first question meet it by
	// themselves nothing is cleared, and an event says so.
	Trigger middleware.Trigger

	// Keep is how many of the newest results that could be cleared stay. 0:
	// DefaultKeep, or none where KeepRounds or KeepTokens is given; negative:
	// none. A result that no model has seen yet stays in any case.
	Keep int

	// KeepRounds is how many of the newest rounds keep all their results.
	// 0: as many as the other keeps say.
	KeepRounds int

	// KeepTokens is how many tokens of the newest results stay, counted back
	// from the newest and in whole results. 0: as many as the other keeps say.
	KeepTokens int

	// Only are the names of the tools whose results may be cleared. nil: those
	// of all tools; empty but not nil: those of none, for ClearThinking alone.
	Only []string

	// ExcludeTools are names of tools whose results and inputs are never
	// cleared. nil or empty: none. A tool has the name in its call and the one
	// in its result; if they differ, Only holds if it names one of them, and
	// ExcludeTools as well.
	ExcludeTools []string

	// MayClear is asked about each result that Only and ExcludeTools let go,
	// and says whether it may be cleared. nil: it may. It sees the call, which
	// is zero if there is none, and the pieces of the result, both as they
	// stand in the view. It must always say the same of the same, be safe for
	// concurrent use, and not be slow: it is asked anew for each plan. What it
	// spares takes no place among those that Keep counts, like the results of
	// excluded tools.
	MayClear func(call message.ToolCall, result []message.ToolResult) bool

	// ClearAtLeast is a floor in tokens: if less than this can be freed,
	// nothing is cleared, and an event says so. 0: no floor.
	ClearAtLeast int

	// StopAfter ends clearing once so many tokens are freed: first thinking,
	// if ClearThinking says so, then results that have been superseded, then
	// other results, then errors; of each kind the oldest first. It goes on
	// when the conversation has grown and the trigger is met again. 0: all
	// that may be cleared is.
	StopAfter int

	// ClearToolInputs also puts {} in place of the arguments of the calls
	// whose results are cleared; if there is an archive, {"cleared":"recall …"}
	// with a handle.
	ClearToolInputs bool

	// ClearInputsOf are the tools whose inputs are cleared even if
	// ClearToolInputs is false. Results of other tools are still cleared,
	// without their inputs.
	ClearInputsOf []string

	// ClearThinking also removes what the model thought, whole, signed or
	// sealed or not. That of the newest turn, which begins at the last user
	// message, stays, since providers want it back as it was; so does that of a
	// message which would be empty without it. The keeps do not hold thinking,
	// ClearAtLeast and StopAfter count it. Leave it false where a provider ties
	// thinking to the call behind it in old turns too, as OpenAI's Responses do.
	ClearThinking bool

	// Placeholder is the text of a cleared result. "": DefaultPlaceholder. If
	// there is an archive, the handle is added, as by [store.Placeholder].
	Placeholder string

	// Digest is how many tokens of its hard facts a cleared result leaves in its
	// placeholder, at most: identifiers, amounts, dates, links, paths and the like,
	// word for word, as far as the view does not show them. The words before them
	// take a few more. 0: none; 40 keep most of what is needed later. What it costs
	// is counted by ClearAtLeast, StopAfter and [trigger.Reclaims].
	Digest int

	// MinCalls is how many model calls lie between one clearing and the next,
	// at least. 0: no minimum.
	MinCalls int

	// Strict makes a refused plan and an option that does not fit the request
	// an error of the call.
	Strict bool
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	errs := amount.NonNegative(
		amount.Amount{Name: "KeepRounds", Unit: "rounds", Value: o.KeepRounds},
		amount.Amount{Name: "KeepTokens", Unit: "tokens", Value: o.KeepTokens},
		amount.Amount{Name: "ClearAtLeast", Unit: "tokens", Value: o.ClearAtLeast},
		amount.Amount{Name: "StopAfter", Unit: "tokens", Value: o.StopAfter},
		amount.Amount{Name: "Digest", Unit: "tokens", Value: o.Digest},
	)
	if o.StopAfter > 0 && o.ClearAtLeast > o.StopAfter {
		errs = append(errs, fmt.Errorf("ClearAtLeast is %d tokens and StopAfter %d, want a floor no higher than the stop",
			o.ClearAtLeast, o.StopAfter))
	}
	errs = append(errs, o.validateTools())
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

// validateTools reports lists of tools that make no sense.
func (o Options) validateTools() error {
	lists := []struct {
		name  string
		tools []string
	}{
		{"Only", o.Only},
		{"ExcludeTools", o.ExcludeTools},
		{"ClearInputsOf", o.ClearInputsOf},
	}
	var errs []error
	for _, l := range lists {
		for i, tool := range l.tools {
			if tool == "" {
				errs = append(errs, fmt.Errorf("%s[%d] is empty, want the name of a tool", l.name, i))
			}
		}
	}
	if o.Only != nil && len(o.Only) == 0 && !o.ClearThinking {
		errs = append(errs, errors.New("nothing could ever be cleared: Only is empty, want names of tools, nil for all, or ClearThinking"))
	}
	for _, tool := range o.Only {
		if tool != "" && slices.Contains(o.ExcludeTools, tool) {
			errs = append(errs, fmt.Errorf("tool %q is in Only and in ExcludeTools, want it in one of them", tool))
		}
	}
	return errors.Join(errs...)
}
