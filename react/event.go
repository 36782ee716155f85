package react

import (
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
)

// Event is something that happened in a run: [Delta], [Edit], [Step], [Call],
// [Result] or [End]. The set is closed; a reader picks what it wants to know, so
// a switch need not list them all. What an event refers to is read-only.
//
// In one step they come in this order: the edits and deltas of the model call
// as they happen, its Step, then the calls and results of the tools. A host
// that keeps the message of each Step and Result as it comes has a history from
// which a new run can go on, even if it never sees the End.
type Event interface{ event() }

// Delta is a piece of the answer that the model is giving.
type Delta struct {
	Text     string
	Thinking string
	Call     *middleware.CallDelta // more of a tool call; nil: none
}

// Edit is what a middleware around the model did to the context, or why it did
// not: Kind tells.
type Edit struct {
	middleware.Event
}

// Step is a whole answer of the model, as it stands in the history.
type Step struct {
	N       int             // which answer since the newest user message, from 1
	Message message.Message // its calls, if any, are run next; without calls it is the final answer
	Usage   message.Usage   // of this model call; zero: not reported
	Stop    middleware.StopReason
}

// Call says that a tool is about to run; it starts when the body of the loop is
// done with the event. Calls start in the order in which the model made them. A
// call that cannot be run, such as one of an unknown tool, has a [Result] only.
type Call struct {
	message.ToolCall
}

// Result is what came of a tool call. Each call gets one, in the order in which
// they finish; in the history they stand in the order of the calls.
type Result struct {
	Call    message.ToolCall
	Message message.Message // the tool message, as it stands in the history
	Err     error           // why the call failed; nil: it did not. A panic is a [*PanicError]
	Took    time.Duration   // how long the tool ran; 0: it did not run
}

// End is the last event of every run, whether it went well or not. The error
// of the run comes with it, and with no other event.
type End struct {
	History     []message.Message // what the run began with and all that came of it; the caller's to keep
	Usage       message.Usage     // sum over the model calls of this run
	Summaries   message.Usage     // not in Usage: what middlewares asked models for beside the run, for summaries, as events told
	SummaryCost models.Cost       // of Summaries, as far as the table of models knows prices; 0: unknown, or none were made
	Steps       int               // answers of the model in this run
	ToolCalls   int               // tool calls that got their result in this run, those that were not run included
}

// Answer returns the text of the final answer, or "" if the run did not come
// to one.
func (e End) Answer() string {
	if n := len(e.History); n > 0 && answered(e.History) {
		return e.History[n-1].Text()
	}
	return ""
}

func (Delta) event()  {}
func (Edit) event()   {}
func (Step) event()   {}
func (Call) event()   {}
func (Result) event() {}
func (End) event()    {}
