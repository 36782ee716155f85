package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/tokens"
)

// screen prints a line for each step, with a bar of the context in the window, and a line for each edit.
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
	view    int    // tokens of the newest request, by the same count as history
}

// newScreen returns a screen, with colours and Unicode bars on a terminal. With -json it prints nothing.
func newScreen(opts options, out io.Writer) *screen {
	s := &screen{out: out, model: opts.model, window: opts.window, chain: opts.chain, width: 80}
	if opts.json {
		s.out = io.Discard
	}
	f, ok := s.out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.width = width
	}
	if !opts.plain && os.Getenv("TERM") != "dumb" {
		s.unicode = true
		s.color = os.Getenv("NO_COLOR") == ""
	}
	return s
}

// begin prints the head. history is the tokens of the first messages.
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
	view := thousands(s.view)
	history := s.paint(dim, fmt.Sprintf("%8s", thousands(s.history)))
	s.linef("%4d  %s  %8s  %s  %s", e.N, s.bar(s.view), view, history, s.fit(s.doing(e.Message)))
}

func (s *screen) edit(e middleware.Event) {
	switch {
	case e.Kind == middleware.Edited:
	case !e.Warning(): // the bars show it
		return
	case e.Kind == middleware.Repaired: // fit repairs often, so this is no warning
		s.remark("", cyan, e.String())
		return
	default:
		s.warn(e.String())
		return
	}
	change := thousands(e.Before) + s.either(" -> ", " → ") + thousands(e.After)
	what, _, _ := strings.Cut(e.Why, " (") // the rest is the reason for the time of the edit
	s.linef("%4s  %s  %s  %s", "", s.cutBar(e.After, e.Before),
		s.paint(cyan, fmt.Sprintf("%18s", change)), s.paint(cyan, s.fit(e.By+" "+what)))
}

func (s *screen) warn(text string) { s.remark("!", yellow, text) }

// remark prints a text on the lines that it needs, the first with a mark.
func (s *screen) remark(mark, color, text string) {
	for _, line := range lines(text, s.width-6) {
		s.linef("%4s  %s", mark, s.paint(color, line))
		mark = ""
	}
}

// doing returns in a few words what a message calls.
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

// end shows the answer and the totals.
func (s *screen) end(r report) {
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
	s.row("tokens of all requests", r.Tokens.Sent)
	s.row("  as in the one before", r.Tokens.Prefix)
	for _, e := range r.Edits {
		s.row("edits by "+e.By, e.Count)
		s.row("  tokens freed", e.Freed)
	}
	if r.Violations > 0 {
		s.row("broken rules", r.Violations)
	}
	s.linef("%s", s.paint(bold, "Orders of the user in the last view"))
	for _, o := range r.Orders {
		mark := s.paint(green, s.either("yes", "✓"))
		if !o.Kept {
			mark = s.paint(red, s.either("no ", "✗"))
		}
		s.linef("  %s  %s", mark, o.Text)
	}
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

// The colours, as terminals number them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s *screen) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// barWidth leaves room for the numbers and for a few words.
func (s *screen) barWidth() int { return min(max((s.width-44)/2, 10), 48) }

// textColumn is the column of the text to the right of a bar and its numbers.
func (s *screen) textColumn() int { return 4 + 2 + s.barWidth() + 2 + 18 + 2 }

// bar draws n tokens against the window.
func (s *screen) bar(n int) string {
	color := green
	switch {
	case 4*n >= 3*s.window:
		color = red
	case 2*n >= s.window:
		color = yellow
	}
	full, empty := s.cells(n)
	return s.paint(color, full) + s.paint(dim, empty)
}

// legend explains the bars.
func (s *screen) legend() string {
	return fmt.Sprintf("%s sent to the model   %s taken out by an edit", s.either("#", "█"), s.either("-", "░"))
}

// either returns the text that can be shown here.
func (s *screen) either(ascii, unicode string) string {
	if s.unicode {
		return unicode
	}
	return ascii
}

// cutBar draws a context before and after an edit, in tokens.
func (s *screen) cutBar(kept, before int) string {
	was, empty := s.cells(before)
	is, _ := s.cells(kept)
	cut := utf8.RuneCountInString(was) - utf8.RuneCountInString(is)
	return s.paint(green, is) + s.paint(cyan, strings.Repeat(s.either("-", "░"), max(cut, 0))) + s.paint(dim, empty)
}

// cells returns a bar of n tokens and the empty rest of the window.
func (s *screen) cells(n int) (full, empty string) {
	width := s.barWidth()
	track, block, parts := ".", "#", []string{""}
	if s.unicode {
		track = "·"
		block = "█"
		parts = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	}
	n = min(max(n, 0), s.window) * width * len(parts) / s.window
	full = strings.Repeat(block, n/len(parts)) + parts[n%len(parts)]
	return full, strings.Repeat(track, width-utf8.RuneCountInString(full))
}

// fit shortens a text to the space to the right of a bar.
func (s *screen) fit(text string) string {
	room := s.width - s.textColumn()
	if room <= 0 || utf8.RuneCountInString(text) <= room {
		return text
	}
	more := s.either("...", "…")
	keep := max(room-utf8.RuneCountInString(more), 0)
	return string([]rune(text)[:keep]) + more
}

// wrapped prints a list after a head, on the lines that it needs.
func (s *screen) wrapped(head, list string) {
	indent := "  "
	for _, line := range lines(head+list, s.width-4) {
		s.linef("%s", indent+line)
		indent = "    "
	}
}

// lines breaks a text between words into lines of at most width columns.
func lines(text string, width int) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			out = append(out, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(out, line)
}

// thousands formats a number with a comma every three digits.
func thousands(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
