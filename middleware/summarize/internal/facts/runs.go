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
			if how, _ := c.decisionIn(result, nil); how == refused {
				res.state = denied
			}
			r := runOf(c.line, res.state)
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

// Divide returns the parts of a summary: the quotes of the user, its words, and of the section that [Set.Text] has written the
// lines with files that were written, and the rest.
func Divide(summary string) (quotes, words, files, rest string) {
	sections, last := text.SectionsOf(summary)
	if sections.Facts == "" && sections.Quotes == "" {
		return "", summary, "", ""
	}
	title := ""
	for line := range strings.Lines(sections.Facts) {
		if !strings.HasPrefix(line, "- ") {
			title = strings.TrimSpace(line)
		}
		if title == english.titles[written] || title == chinese.titles[written] {
			files += line
		} else {
			rest += line
		}
	}
	return sections.Quotes, sections.Words + "\n" + last, files, rest
}
