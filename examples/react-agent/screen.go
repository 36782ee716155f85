package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/tokens"
)

// screen shows a run line by line: a line for each step, with a bar of the
// context against the window, and a line for each edit that cuts it back.
type screen struct {
	out     io.Writer
	width   int // columns
	model   string
	window  int // tokens
	chain   string
	unicode bool
	color   bool

	root    string // of the tree
	history int    // tokens so far
}

func (s *screen) begin(t *tree, history int) {
	s.root, s.history = t.name, history
	lines := 0
	for _, f := range t.files {
		lines += f.lines
	}
	files := fmt.Sprintf("%d Go files", t.found)
	if t.found > len(t.files) {
		files = fmt.Sprintf("the first %d of %d Go files", len(t.files), t.found)
	}
	model := "stand-in model, no network"
	if s.model != noModel {
		model = s.model
	}
	s.linef("%s %s", s.paint(bold, "react-agent"), s.paint(dim, model))
	s.linef("reads %s: %s, %s lines", t.name, files, thousands(lines))
	s.linef("window %s tokens, chain %s", thousands(s.window), s.chain)
	s.linef("%s", s.paint(dim, s.legend()))
	s.linef("")
	s.linef("%s", s.paint(dim, fmt.Sprintf("%4s  %-*s  %8s  %8s", "step", s.barWidth(), "context in the window", "view", "history")))
}

func (s *screen) show(event react.Event) {
	switch e := event.(type) {
	case react.Step:
		s.step(e)
		s.history += tokens.Meter{}.Message(e.Message)
	case react.Edit:
		s.edit(e.Event)
	case react.Result:
		s.history += tokens.Meter{}.Message(e.Message)
		if e.Err != nil {
			s.warn(fmt.Sprintf("%s: %v", e.Call.Name, e.Err))
		}
	case react.Delta, react.Call, react.End:
	}
}

func (s *screen) step(e react.Step) {
	view := thousands(e.Usage.Input)
	history := s.paint(dim, fmt.Sprintf("%8s", thousands(s.history)))
	s.linef("%4d  %s  %8s  %s  %s", e.N, s.bar(e.Usage.Input), view, history, s.fit(s.doing(e.Message)))
}

func (s *screen) edit(e middleware.Event) {
	switch {
	case e.Kind == middleware.Edited:
	case e.Kind.Routine(): // the bars show it
		return
	case e.Kind == middleware.Repaired: // fit's daily work, and no reason to worry
		s.remark("", cyan, e.String())
		return
	default:
		s.warn(e.String())
		return
	}
	change := thousands(e.Before) + s.either(" -> ", " → ") + thousands(e.After)
	what, _, _ := strings.Cut(e.Why, " (") // behind that stands why now
	s.linef("%4s  %s  %s  %s", "", s.cutBar(e.After, e.Before),
		s.paint(cyan, fmt.Sprintf("%18s", change)), s.paint(cyan, s.fit(e.By+" "+what)))
}

func (s *screen) warn(text string) { s.remark("!", yellow, text) }

// remark prints a text on as many lines as it needs, the first with a mark.
func (s *screen) remark(mark, color, text string) {
	for _, line := range lines(text, s.width-6) {
		s.linef("%4s  %s", mark, s.paint(color, line))
		mark = ""
	}
}

// doing says in a few words what a message calls for.
func (s *screen) doing(m message.Message) string {
	var words, files []string
	pages := 0
	for c := range m.Calls() {
		var args readArgs
		if c.Name != "read_file" || json.Unmarshal([]byte(c.Arguments), &args) != nil {
			words = append(words, c.Name)
			continue
		}
		pages++
		if name := strings.TrimPrefix(args.Path, s.root+"/"); !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	switch {
	case pages > 0:
		words = append(words, "read "+strings.Join(files, ", "))
	case len(words) == 0:
		return "answer"
	}
	return strings.Join(words, ", ")
}

// end shows the answer and the sums.
func (s *screen) end(r report) error {
	s.linef("")
	if a, ok := parseAnswer(r.end.Answer()); ok {
		s.answer(a)
	} else {
		s.linef("%s", r.end.Answer())
	}
	s.linef("")
	s.linef("%s", s.paint(bold, "The run"))
	s.row("model calls", r.ModelCalls)
	s.row("tool calls", r.ToolCalls)
	s.row("tokens of the history", r.Tokens.History)
	s.row("  of the largest view", r.Tokens.PeakView)
	s.row("  of the last view", r.Tokens.LastView)
	for _, e := range r.Edits {
		s.row("edits by "+e.By, e.Count)
		s.row("  tokens freed", e.Freed)
	}
	if r.Violations > 0 {
		s.row("broken rules", r.Violations)
	}
	return nil
}

func (s *screen) answer(a answer) {
	s.linef("%s", s.paint(bold, "Exported names without a doc comment"))
	byFile := map[string][]string{}
	var files []string
	for _, n := range a.Undocumented {
		if byFile[n.File] == nil {
			files = append(files, n.File)
		}
		byFile[n.File] = append(byFile[n.File], n.Name)
	}
	for _, f := range files {
		s.wrapped(f+": ", strings.Join(byFile[f], ", "))
	}
	s.none(len(files))
	s.linef("%s", s.paint(bold, "Longest files"))
	for _, f := range a.Longest {
		s.linef("  %6s  %s", thousands(f.Lines), f.File)
	}
	s.linef("%s", s.paint(bold, "Packages without an Example"))
	for _, p := range a.PackagesWithoutExample {
		s.linef("  %s", p)
	}
	s.none(len(a.PackagesWithoutExample))
	for _, l := range a.Lost {
		s.warn("not read: " + l)
	}
}

func (s *screen) none(n int) {
	if n == 0 {
		s.linef("  %s", s.paint(dim, "none"))
	}
}

func (s *screen) row(what string, n int) {
	s.linef("  %-28s %10s", what, thousands(n))
}

func (s *screen) linef(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintln(s.out, strings.TrimRight(text, " "))
}
