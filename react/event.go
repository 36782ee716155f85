package react

import (
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// Event is something that happened in a run: [Delta], [Edit], [Step], [Call],
// [Result] or [End]. The set is closed, but a switch need not list all of them.
// Slices and pointers of an event are read-only.
//
// The order within one step is: the edits and deltas of the model call as they
// happen, its Step, then the calls and results of the tools. The messages of all
// Steps and Results so far are a history from which a new run can continue, even
// without the End.
type Event interface{ event() }

// Delta is a piece of the answer that the model is giving.
type Delta struct {
	Text     string
	Thinking string
	Call     *middleware.CallDelta // more of a tool call; nil: none
}

// Edit is an event of a middleware around the model: an edit of the context, or the
// reason why there was none. See its Kind, which is never [middleware.Called].
type Edit struct {
	middleware.Event
}

// Step is a whole answer of the model, as it is in the history.
type Step struct {
	N       int             // which answer since the newest user message, from 1
	Message message.Message // its calls, if any, are run next; without calls it is the final answer
	Usage   message.Usage   // of this model call; zero: not reported
	Cache   report.Cache    // of this model call: how much the request shares with the one before; zero without a chain
	Stop    string
}

// Call is sent before a tool runs; the tool starts when the body of the loop has
// returned. Calls start in the order in which the model made them. A call that
// cannot be run, such as one of an unknown tool, has a [Result] only.
type Call struct {
	message.ToolCall
}

// Result is the result of a tool call. Each call gets one, in the order in which
// they finish; in the history they have the order of the calls.
type Result struct {
	Call    message.ToolCall
	Message message.Message // the tool message, as it is in the history
	Err     error           // why the call failed; nil: it succeeded. A panic is a [*PanicError]
	Took    time.Duration   // how long the tool ran; 0: it did not run
}

// End is the last event of every run, also of one that fails. The error of the run
// comes with it, and with no other event.
type End struct {
	History     []message.Message // the messages that the run began with and those that it added; the caller may keep it
	Usage       message.Usage     // sum over the model calls of this run
	Summaries   message.Usage     // not in Usage: model requests of middlewares, as for summaries, that events reported
	SummaryCost models.Cost       // of Summaries, as far as the table of models has prices; 0: no price, or no request
	Steps       int               // answers of the model in this run
	ToolCalls   int               // tool calls that got their result in this run, those that were not run included
}

// Answer returns the text of the final answer, or "" if the run has none.
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
