// Package react runs the ReAct loop: it asks a model, runs the tools that the model
// calls, and asks again, until the model answers without a call.
//
//	a := react.Agent{Model: model, Tools: tools}
//	for event, err := range a.Run(ctx, message.User("Why does the nightly build fail?")) {
//		switch e := event.(type) {
//		case react.Delta:
//			fmt.Print(e.Text)
//		case react.Edit:
//			log.Print(e)
//		case react.End:
//			history, failure = e.History, err
//		}
//	}
//
// The loop keeps the whole history. Middlewares around the model decide how much
// of it the model gets.
//
// A run starts from any history, also from that of a run that failed or was cancelled.
// The last event of a run is always [End]; the next run starts from its history. Limits
// are counted on the history, so they include the steps and calls of the runs before.
//
// A tool that fails, panics or takes too long, a tool that does not exist, arguments that
// do not fit, a call that was not approved or is above the limit: each becomes an error
// result with the reason, and the loop continues. The run itself fails only if the model
// does, if its answer cannot be used, if the context is done, or at
// [ErrMaxSteps] or [ErrRepeated].
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
	defaultMaxSteps     = 100
	defaultMaxToolCalls = 500
	defaultParallel     = 4
)

// ErrMaxSteps is wrapped by the error of a run that reached [Agent.MaxSteps].
var ErrMaxSteps = errors.New("step limit reached")

// ErrRepeated is wrapped by the error of a run that reached [Agent.MaxRepeats].
var ErrRepeated = errors.New("the model repeats itself")

// Agent is a model with tools. Only Model is required; the zero value of every
// other field is the recommended default. An Agent is a value without state and
// may run many times at once.
type Agent struct {
	Model middleware.Model // answers, usually from within a chain of middlewares
	Tools []agent.Tool     // what the model may call; each has a name, and no two the same

	// These are set in each request, for the middlewares and the model.
	ModelName    string             // "": unknown
	Conversation string             // its name, as in middleware.Request; "": none
	Budget       *middleware.Budget // the window of the model; nil: unknown
	Params       any                // the provider's call options; nil: none

	MaxSteps     int           // answers to one user message; 0: 100, negative: no limit. Then: ErrMaxSteps
	MaxToolCalls int           // calls for one user message; 0: 500, negative: no limit. Then: an error result
	MaxRepeats   int           // answers in a row with the same calls and the same results; 0 or less: no limit. Then: ErrRepeated
	Parallel     int           // calls of one answer that run at once; 0: 4, 1: one after the other
	ToolTimeout  time.Duration // then the context of a tool ends, and the run waits for the tool; 0: when the run ends

	// Approve is called before a tool runs, for one call at a time, in the
	// order of the calls and before the first of them starts. An error denies
	// the call: the model gets the result "denied: " with the text of the
	// error. It is not called for calls that cannot run anyway. nil: all calls
	// are approved.
	Approve func(ctx context.Context, call message.ToolCall) error
}

// Run lets the model answer. Calls at the end of the history that have no result yet, as
// after a run that was interrupted, are run first. A history that ends in a final answer
// ends the run at once. Otherwise the history is not validated; msgs is neither changed
// nor kept. The run proceeds while its result is ranged over; each range is a new run.
//
// The last event is always [End]. The error of the run comes with it:
//
//   - of kind [middleware.Invalid] if there are no messages, if a field of the
//     Agent is out of range, or if the answer of the model cannot be used;
//   - wrapping [ErrMaxSteps] or [ErrRepeated] at the limit;
//   - the error of the context once that is done, unless the final answer is there;
//   - the error of the model, unchanged.
//
// Leaving the loop early cancels the run; no event follows, not even End. No
// goroutine outlives the run: it waits for a model or a tool that ignores its
// context. A panic of the model or of Approve is not caught; it panics in the
// goroutine that ranges, that of the model as a [*PanicError].
//
// An answer is corrected before it enters the history: a call without an id,
// or with that of an earlier call in the same answer, gets a new id; a call
// without a name is named "unnamed"; arguments that are not a JSON object are
// put into one, as {"invalid_json": "…"}, and the result of the call reports it.
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

// validate reports fields that are out of range.
func (a Agent) validate() error {
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
		name := t.Definition().Name
		switch {
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
