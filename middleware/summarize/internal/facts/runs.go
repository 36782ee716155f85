package facts

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Run is one call of a tool, and how it ended. A call that did not end well has failed: it was killed, denied, cancelled,
// or timed out, too.
type Run struct {
	Tool    string
	Command string // "" if it runs none
	Passed  bool   // the result shows it
	Failed  bool   // the result shows it
}

// Runs returns the calls with a result in the order of the results, and the commands in the facts of an earlier summary.
func Runs(msgs []message.Message) (runs []Run) {
	calls := map[string]message.ToolCall{}
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			switch p := p.(type) {
			case message.Text:
				runs = append(runs, runsIn(p.Text)...)
			case message.ToolCall:
				calls[p.ID] = p
			case message.ToolResult:
				c := calls[p.CallID]
				use := toolUseOf(c.Name, c.Arguments)
				res := resultOf(p, use.command != "", len(use.files) > 0 && use.access == written)
				runs = append(runs, runOf(c.Name, use.command, res.state))
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	return runs
}

func runOf(tool, command string, s state) Run {
	return Run{Tool: tool, Command: command, Passed: s == passed, Failed: s >= failed && s <= denied}
}

// runsIn returns the commands in the facts of a summary.
func runsIn(summary string) (runs []Run) {
	if !text.IsRecord(summary) {
		return nil
	}
	sections, _ := text.SectionsOf(summary)
	s := &Set{}
	s.Resume(sections.Facts)
	for _, e := range s.commands.all {
		if !e.removed {
			runs = append(runs, runOf("", e.key, e.state))
		}
	}
	return runs
}
