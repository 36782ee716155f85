package react

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// What the zero fields of an [Agent] mean.
const (
	DefaultMaxSteps     = 100
	DefaultMaxToolCalls = 500
	DefaultParallel     = 4
)

// ErrMaxSteps is wrapped by the error of a run that reached [Agent.MaxSteps].
var ErrMaxSteps = errors.New("step limit reached")

// Agent is a model with tools. Only Model is required; the zero value of every
// other field is the recommended default. An Agent is a value: it keeps
// nothing between runs and may run many times at once.
type Agent struct {
	// Model answers, usually from within a chain of middlewares.
	Model middleware.Model

	// Tools are what the model may call. Their names are not empty and differ.
	Tools []agent.Tool

	// ModelName, Budget and Params go into each request, for the middlewares
	// and the model: its name, its window, and the provider's call options. A
	// zero name or budget is unknown; nil Params are none.
	ModelName string
	Budget    *middleware.Budget
	Params    any

	// MaxSteps is how many times the model may answer a user message. 0:
	// DefaultMaxSteps, negative: no limit. The run fails with ErrMaxSteps when
	// it would be exceeded.
	MaxSteps int

	// MaxToolCalls is how many tool calls may be made for a user message. 0:
	// DefaultMaxToolCalls, negative: no limit. A call above it is not run and
	// gets an error result that says so.
	MaxToolCalls int

	// Parallel is how many calls of one answer run at once. 0:
	// DefaultParallel, 1: one after the other.
	Parallel int

	// ToolTimeout is how long a tool may run before its context is done. 0: as
	// long as the run. The tool is waited for in any case.
	ToolTimeout time.Duration

	// Approve is asked before a tool runs, for one call at a time, in the
	// order of the calls and before the first of them starts. An error denies
	// the call: the model gets the result "denied: " with the text of the
	// error. Calls that could not run anyway are not asked about. nil: all
	// calls are approved.
	Approve func(ctx context.Context, call message.ToolCall) error
}

// Run lets the model answer, going on from any history:
//
//   - if it ends in an answer whose calls have no result yet, as of a run that
//     was interrupted, those calls are run first, and no other;
//   - if it ends in a final answer, there is nothing to do;
//   - else the model is asked.
//
// The history is not judged otherwise, and msgs is neither changed nor kept.
// Whoever ranges over the result drives the run; each range is a run of its
// own.
//
// The last event is always [End]. The error of the run comes with it:
//
//   - of kind [middleware.Invalid] if there are no messages, if a field of the
//     Agent makes no sense, or if the answer of the model cannot be used;
//   - wrapping [ErrMaxSteps] at the limit;
//   - the error of the context once that is done. The calls that were cut off
//     have error results that say so, so the history can be gone on from. A
//     run that has its final answer by then ends well;
//   - the error of the model, as it is.
//
// Leaving the loop early cancels what runs; no event follows, End neither. No
// goroutine outlives the run in any case: a model or a tool that ignores its
// context is waited for. A panic of the model or of Approve is not caught; it
// reaches whoever ranges, that of the model as a [*PanicError].
//
// An answer is put in order before it enters the history: a call without an id,
// or with that of an earlier call in the same answer, gets a new id; a call
// without a name is named "unnamed"; arguments that are not a JSON object are
// put into one, as {"invalid_json": "…"}, and the model is told.
func (a Agent) Run(ctx context.Context, msgs ...message.Message) iter.Seq2[Event, error] {
	history := slices.Clip(slices.Clone(msgs))
	return func(yield func(Event, error) bool) {
		r := &run{agent: a, history: history, reader: reader{yield: yield}}
		err := r.loop(ctx)
		r.reader.last(End{
			History: slices.Clip(r.history), Usage: r.usage, Summaries: r.summaries, SummaryCost: r.summaryCost,
			Steps: r.steps, ToolCalls: r.toolCalls,
		}, err)
	}
}

// Validate reports fields that make no sense.
func (a Agent) Validate() error {
	var errs []error
	if a.Model == nil {
		errs = append(errs, errors.New("Agent.Model is nil, want a model"))
	}
	names := map[string]bool{}
	for i, t := range a.Tools {
		if t == nil {
			errs = append(errs, fmt.Errorf("Agent.Tools: tool %d is nil, want a tool", i))
			continue
		}
		switch name := t.Definition().Name; {
		case name == "":
			errs = append(errs, fmt.Errorf("Agent.Tools: tool %d has no name, want one", i))
		case names[name]:
			errs = append(errs, fmt.Errorf("Agent.Tools: two tools have the name %q, want different ones", name))
		default:
			names[name] = true
		}
	}
	if a.Budget != nil {
		errs = append(errs, a.Budget.Validate())
	}
	if a.Parallel < 0 {
		errs = append(errs, fmt.Errorf("Agent.Parallel is %d calls, want 0 or more", a.Parallel))
	}
	if a.ToolTimeout < 0 {
		errs = append(errs, fmt.Errorf("Agent.ToolTimeout is %v, want 0 or more", a.ToolTimeout))
	}
	return errors.Join(errs...)
}
