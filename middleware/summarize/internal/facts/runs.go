package facts

import (
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
}

// Runs returns the calls with a result in the order of the results, and the commands in the facts of an earlier summary.
func Runs(msgs []message.Message) (all []Run) {
	calls := map[string]message.ToolCall{}
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			switch p := p.(type) {
			case message.Text:
				all = append(all, runsIn(p.Text)...)
			case message.ToolCall:
				calls[p.ID] = p
			case message.ToolResult:
				c := calls[p.CallID]
				use := useOf(c.Name, c.Arguments)
				r := runOf(use.command, resultOf(p, use).state)
				r.Call = c
				r.Reads = use.kind == reads || classOf(c.Name)["search"] || use.kind == runs && !changes(use.command)
				all = append(all, r)
			case message.Thinking, message.Media, message.Opaque:
			}
		}
	}
	return all
}

func runOf(command string, s state) Run {
	return Run{Command: command, Passed: s == passed, Failed: s >= failed && s <= denied}
}

// runsIn returns the commands in the facts of a summary.
func runsIn(summary string) (all []Run) {
	if !text.IsRecord(summary) {
		return nil
	}
	sections, _ := text.SectionsOf(summary)
	s := &Set{}
	s.Resume(sections.Facts)
	for _, e := range s.commands.all {
		if !e.removed {
			all = append(all, runOf(e.text, e.state))
		}
	}
	return all
}

// Divide returns what is before a section that [Set.Text] has written, the files in it that were written, and the rest.
func Divide(summary string) (before, written, rest string) {
	for i, w := range [...]*wording{&english, &chinese} {
		k := strings.Index(summary, [...]text.Language{text.English, text.Chinese}[i].Headings().Facts+"\n")
		if k < 0 {
			continue
		}
		before, rest = summary[:k], summary[k:]
		if head, files, ok := strings.Cut(rest, "\n"+w.written+"\n"); ok {
			tail := files
			for strings.HasPrefix(tail, "- ") {
				_, tail, _ = strings.Cut(tail, "\n")
			}
			return before, strings.TrimSuffix(files, tail), head + "\n" + tail
		}
		return before, "", rest
	}
	return summary, "", ""
}
