package contextedit

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// defaultPlaceholder is the default of [Options.Placeholder].
const defaultPlaceholder = "[cleared]"

// Options configure the middleware. The zero value clears all results except the
// newest five when three quarters of the window are filled.
type Options struct {
	// Trigger is the condition for clearing. nil: [trigger.Economy], if the prices of the
	// model are known and the chain has an archive; else at 0.75 of the window, or if
	// the reserve is more than a quarter of it, at 0.9 of the window less the reserve; at
	// 100,000 tokens if the window is not known.
	Trigger middleware.Trigger

	// Keep is the number of newest results that are kept, of those that could be
	// cleared, and of those that are too short for it. 0: 5, or none if KeepRounds or KeepTokens is set; negative: none. Results that
	// no model has seen yet are always kept.
	Keep int

	// KeepRounds is the number of newest rounds whose results are all kept. 0: none.
	KeepRounds int

	// KeepTokens is the number of tokens of newest whole results that are kept. 0: none.
	KeepTokens int

	// Only lists the tools whose results may be cleared. nil: all tools; empty but not
	// nil: no tool, for ClearThinking without results.
	Only []string

	// ExcludeTools lists tools whose results and arguments are never cleared, in
	// addition to [middleware.Env.Protect]; later middlewares of the chain keep them,
	// too. nil or empty: none. A result may have another tool name than its call. Both
	// Only and ExcludeTools apply if they contain one of the two.
	ExcludeTools []string

	// MayClear reports whether a result may be cleared that Only and ExcludeTools
	// allow. nil: always true. It receives the call, or the zero ToolCall if there is
	// none, and the pieces of the result, as they are in the view. It must be
	// deterministic, safe for concurrent use and fast: each plan calls it for each result.
	MayClear func(call message.ToolCall, result []message.ToolResult) bool

	// ClearAtLeast is a minimum in tokens: if less can be freed, nothing is cleared,
	// and an event reports that. 0: no minimum; but with the default Trigger and a model
	// that binds its thinking to what is before it ([models.Model]), 10,000, or
	// a tenth of the room if that is less, since each edit makes thinking void.
	ClearAtLeast int

	// StopAfter is the number of freed tokens after which clearing stops. Thinking is cleared
	// first, then superseded results, other results, and errors, the oldest of each kind first. 0:
	// everything that may be cleared is cleared.
	StopAfter int

	// ClearToolInputs also replaces the arguments of calls whose results are cleared:
	// by {}, or with an archive by {"cleared":"recall …"} with a handle.
	ClearToolInputs bool

	// ClearInputsOf lists the tools whose arguments are cleared if ClearToolInputs is
	// false. Results of other tools are still cleared, without their arguments.
	ClearInputsOf []string

	// ClearThinking also removes the thinking of the model as a whole, except in the
	// newest turn, which begins at the last user message, and if its message would be
	// empty, and in calls in which the provider clears thinking ([middleware.Native]). The Keep options do not apply to
	// it; ClearAtLeast and StopAfter count it.
	// For models that bind their thinking, it is removed from the oldest answer on, up to the
	// first one that is pinned; for those that demand the thinking of answers with calls, that of answers with
	// calls stays.
	// Keep this false if the provider links thinking to the call that follows it in old
	// turns, as OpenAI's Responses do.
	ClearThinking bool

	// Placeholder is the text of a cleared result. "": "[cleared]". With an
	// archive, [store.Placeholder] adds the handle.
	Placeholder string

	// Digest is the maximum number of tokens of hard facts in a placeholder:
	// identifiers, amounts, dates, links, paths and the like. The words before the
	// facts take a few tokens more. 0: 40 if the chain has an archive, else no facts;
	// negative: no facts.
	// ClearAtLeast, StopAfter and [trigger.Reclaims] count these tokens.
	Digest int

	// MinCalls is the minimum number of model calls between two clearings. 0: none.
	MinCalls int

	// Strict makes a refused plan or an option that does not fit the request an error.
	Strict bool
}

// Validate returns the errors of all options that are invalid or contradict each other.
func (o Options) Validate() error {
	errs := shorten.NonNegative(
		shorten.Option{Name: "KeepRounds", Unit: "rounds", Value: o.KeepRounds},
		shorten.Option{Name: "KeepTokens", Unit: "tokens", Value: o.KeepTokens},
		shorten.Option{Name: "ClearAtLeast", Unit: "tokens", Value: o.ClearAtLeast},
		shorten.Option{Name: "StopAfter", Unit: "tokens", Value: o.StopAfter},
	)
	if o.StopAfter > 0 && o.ClearAtLeast > o.StopAfter {
		errs = append(errs, fmt.Errorf("ClearAtLeast is %d tokens and StopAfter %d, want a floor no higher than the stop",
			o.ClearAtLeast, o.StopAfter))
	}
	errs = append(errs, o.validateTools())
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

// tools returns the lists of tools under the names of their options.
func (o Options) tools() map[string][]string {
	return map[string][]string{"Only": o.Only, "ExcludeTools": o.ExcludeTools, "ClearInputsOf": o.ClearInputsOf}
}

// validateTools checks the lists of tools.
func (o Options) validateTools() error {
	var errs []error
	lists := o.tools()
	for _, option := range slices.Sorted(maps.Keys(lists)) {
		if i := slices.Index(lists[option], ""); i >= 0 {
			errs = append(errs, fmt.Errorf("%s[%d] is empty, want the name of a tool", option, i))
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

// Report is the Detail of an event of kind [middleware.Edited].
type Report struct {
	Results int // tool results that were cleared
}
