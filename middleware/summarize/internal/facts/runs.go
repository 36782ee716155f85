package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Run is one call of a tool, and how it ended. A call that did not end well has failed: it was killed, denied, cancelled,
// or timed out, too.
type Run struct {
	Call    message.ToolCall // zero: it is from an earlier summary
	Command string           // "" if it runs none
	Passed  bool             // the result shows it
	Failed  bool             // the result shows it
	Reads   bool             // it only reads or prints
	Tested  bool             // the output reports how tests ended

	Question, Answer string // of the user, if it asks the user
}

// Runs returns the calls with a result in the order of the results, and the commands in the facts of an earlier summary.
func Runs(msgs []message.Message) (all []Run) {
	calls := map[string]*call{}
	for _, m := range msgs {
		if said := m.Text(); text.IsRecord(said) {
			s := &Set{}
			s.addText(said)
			for _, e := range s.all(commands) {
				all = append(all, runOf(e.text, e.state))
			}
		}
		for c := range m.Calls() {
			calls[c.ID] = callOf(c)
		}
		for result := range m.Results() {
			c := cmp.Or(calls[result.CallID], &call{})
			res := resultOf(result, c)
			how, said := c.decisionIn(result, nil)
			if how == refused {
				res.state = denied
			}
			r := runOf(c.line, res.state)
			switch how {
			case approved:
				r.Question, r.Answer = c.Arguments, "Yes. "+said
			case answered:
				r.Question, r.Answer = strings.Join(c.questions(), " "), said
			default:
			}
			r.Call, r.Tested = c.ToolCall, res.tested
			r.Reads = c.kind == reads || slices.ContainsFunc(words(c.Name), lists["search"].Has) ||
				c.reads && !strings.HasPrefix(c.line, "open ") // for later edits
			all = append(all, r)
		}
	}
	return all
}

func runOf(command string, s state) Run {
	return Run{Command: command, Passed: s == passed, Failed: s >= failed && s <= denied}
}
