package modelwriter

import (
	"cmp"
	_ "embed" // for the prompts
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// prompt is a request that is ready to be sent, and what its answer must meet.
type prompt struct {
	*middleware.Request

	mode   Mode
	task   task
	limits limits
	shown  int // tokens of the record; 0 in suffix mode
}

// task is what one request asks for.
type task struct {
	notes       bool     // on a part of the record; else the summary
	part, parts int      // of the record, for notes
	earlier     bool     // an earlier summary is shown
	tokens      int      // of the answer, at most
	failures    int      // attempts that failed before
	after       Reason   // why the last answer was rejected, or ""
	items       []string // of that answer, which the record does not have
}

// again returns the task after a failed attempt. It is stricter only after a rejected answer, not after an error of the provider.
func (t task) again(err error) task {
	t.failures++
	if r, ok := errors.AsType[*RejectedError](err); ok {
		t.after, t.items = r.Reason, r.items
	}
	return t
}

// measure finds what fits into the window of the writer. Counts are estimates, so a tenth of the input is not used. Models that
// reason need more room than the accepted answer.
func (s *session) measure() {
	a, window, record := s.Writer, s.Writer.Window, math.MaxInt/4
	s.accepted = atMost(s.MaxTokens, a.Known.Output)
	if window > 0 {
		s.accepted = min(s.accepted, window/5)
	}
	s.answer = atMost(2*s.accepted+1024, a.Known.Output)
	if window > 0 {
		s.answer = min(s.answer, max(s.accepted, window/4))
		record = atMost(window-s.answer, a.Known.Input)*9/10 - s.frame(s.accepted)
	}
	s.room.Store(int64(record))
}

// atMost returns n, limited unless the limit is 0, which is unknown.
func atMost(n, limit int) int {
	if limit > 0 {
		return min(n, limit)
	}
	return n
}

// frame returns the tokens of the longest request that shows nothing.
func (s *session) frame(accepted int) int {
	const reason = 64 // tokens of why it is asked again
	return s.Meter.Request(s.messages(task{earlier: s.Earlier != "", tokens: accepted}, "", "record"), nil) + reason
}

// wanted returns the tokens that the author is asked to write: fewer than are accepted, since models count badly.
func (s *session) wanted(l limits) int {
	n := min(l.most, s.accepted) * 3 / 4
	if l.below > 0 {
		n = min(n, l.below/2)
	}
	return n
}

func (s *session) limitsOf(t task, shown int) limits {
	l := limits{session: s, asked: true, notes: t.notes, last: t.failures >= s.Writer.Retries, most: s.accepted}
	switch {
	case !t.notes:
		l.sections, l.below = s.Writer.Sections, s.replaced
	case shown > s.accepted:
		l.below = shown
	}
	return l
}

// request returns a request without messages, which shares nothing with Live.
func (s *session) request() *middleware.Request {
	a := s.Writer
	req := &middleware.Request{Model: a.Name}
	if w := a.Window; w > 0 {
		req.Budget = &middleware.Budget{Window: w, Reserve: min(s.answer, w-1)}
	}
	if a.Params != nil {
		req.Params = a.Params(s.answer)
	}
	return req
}

// fresh returns the request that shows a piece of the record.
func (s *session) fresh(t task, shown piece, earlier unit) *prompt {
	units := shown.units
	if earlier != nil {
		units = append([]unit{earlier}, units...)
	}
	data := textOf(units)
	name := fence("record", data+s.First+s.Focus)
	p := &prompt{mode: Fresh, shown: shown.tokens}
	p.limits = s.limitsOf(t, shown.tokens)
	p.limits.fence = name
	t.earlier, t.tokens = earlier != nil, s.wanted(p.limits)
	p.task = t
	p.Request = s.request()
	p.Messages = s.messages(t, data, name)
	return p
}

// messages returns those of a fresh request. The record and the user's messages are in fences.
func (s *session) messages(t task, data, name string) []message.Message {
	w := wordingOf(s.Language)
	lines := []string{w.say("record", name, name), "<" + name + ">\n" + data + "</" + name + ">"}
	if s.First != s.Focus {
		lines = append(lines, s.kept(w["first"], "task", s.First)...)
	}
	lines = append(lines, s.kept(w["focus"], "question", s.Focus)...)
	lines = append(lines, s.instruction(t))
	return []message.Message{message.System(w["system"]), message.User(strings.ToValidUTF8(strings.Join(lines, "\n\n"), "\ufffd"))}
}

// suffix returns the live request with the instruction at its end, or nil if that is not possible.
func (s *session) suffix() *prompt {
	if s.Live == nil {
		return nil
	}
	p := &prompt{mode: Suffix, limits: s.limitsOf(task{}, 0)}
	p.task = task{earlier: s.Earlier != "", tokens: s.wanted(p.limits)}
	p.Request = s.request()
	p.Messages = withQuestion(s.Live.Messages, wordingOf(s.Language)["suffix"]+"\n\n"+s.instruction(p.task))
	p.Model, p.Tools = cmp.Or(p.Model, s.Live.Model), s.Live.Tools
	all := s.Meter.Request(p.Messages, p.Tools)
	w := s.Writer.Window
	if p.Messages == nil || w > 0 && all > w-s.answer-w/20 || atMost(all, s.Writer.Known.Input) < all {
		return nil
	}
	return p
}

// withQuestion returns the messages, which the prompt cache holds, without unanswered
// calls and with one more text of the user at the end, or nil if no message is left.
func withQuestion(live []message.Message, question string) []message.Message {
	const bridge = "(continue)" // between results and a user message
	end := len(live)
	answered := func(m message.Message) bool { return m.Role == message.RoleAssistant }
	for _, v := range message.Rules(0).Violations(live) {
		if v.Rule == "unanswered call" && !slices.ContainsFunc(live[v.At+1:], answered) {
			end = min(end, v.At)
		}
	}
	live = message.Rules(0).Repair(live[:end]).Messages // as fit sends them
	if len(live) == 0 {
		return nil
	}
	msgs, last := slices.Clone(live), live[len(live)-1]
	switch last.Role {
	case message.RoleUser:
		last.Parts = append(slices.Clip(last.Parts), message.Text{Text: question})
		msgs[len(msgs)-1] = last
	case message.RoleTool:
		msgs = append(msgs, message.Assistant(message.Text{Text: bridge}), message.User(question))
	default:
		msgs = append(msgs, message.User(question))
	}
	return msgs
}

// instruction returns what the author is to write, without the record.
func (s *session) instruction(t task) string {
	a, w := s.Writer, wordingOf(s.Language)
	lines := []string{cmp.Or(a.Task, w["task"])}
	switch {
	case len(s.Concepts) > 0:
		lines = []string{w["facts"], w.conceptLines(s.Concepts)}
	case t.earlier:
		lines = append(lines, w["earlier"])
	}
	switch {
	case t.notes:
		lines = append(lines, w.say("note", t.part, t.parts))
	case len(s.Concepts) > 0:
		lines = append(lines, w["fact form"])
	case s.Structured:
		lines = append(lines, w["form"])
	case len(a.Sections) > 0:
		lines = append(lines, w["headings"], w.sectionLines(a.Sections))
	}
	if len(s.Corrections) > 0 {
		lines = append(lines, w["corrected"]+"\n- "+strings.Join(s.Corrections, "\n- "))
	}
	if s.Instruction != "" {
		lines = append(lines, s.Instruction)
	}
	per, _ := strconv.Atoi(w["words for 100 tokens"]) // or Chinese characters
	lines = append(lines, w.say("length", max(20, t.tokens*per/100)))
	if a.Task == "" {
		lines = append(lines, w["language"])
	}
	if t.after != "" {
		lines = append(lines, w.say("strict", w["because "+string(t.after)]))
		if t.items != nil {
			lines = append(lines, w["items"]+" "+List(t.items))
		}
	}
	return strings.Join(lines, "\n\n")
}

// kept returns a message of the user in a fence, after its introduction. Of a long one, the middle is left out: the
// more, the smaller the author's window is.
func (s *session) kept(introduction, element, said string) []string {
	if !visible(said) {
		return nil
	}
	const least, most, part = 1000, 8000, 16 // bytes, and the part of the window, which has more tokens
	size := most
	if w := s.Writer.Window; w > 0 {
		size = min(max(least, w/part), most)
	}
	name := fence(element, said)
	said = shorten.Ends(said, size-size/3, size/3, func(left string) string { return fmt.Sprintf("[… %d …]", len(left)) })
	return []string{introduction + "\n<" + name + ">\n\t" + indent.Replace(strings.TrimSpace(said)) + "\n</" + name + ">"}
}

//go:embed prompts/en.txt
var englishPrompts string

//go:embed prompts/zh.txt
var chinesePrompts string

var english, chinese = parseWording(englishPrompts), parseWording(chinesePrompts)

// wording has the texts of requests in one language, by their names in the files.
type wording map[string]string

func wordingOf(l text.Language) wording { return text.Pick(l, english, chinese) }

func parseWording(file string) wording {
	w, name := wording{}, ""
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\n")
		between := map[bool]string{true: "\n", false: " "}[strings.HasSuffix(name, "sections")]
		rest, isName := strings.CutPrefix(line, "@")
		switch {
		case isName:
			name = rest
		case line != "" && name != "":
			w[name] = strings.TrimPrefix(w[name]+between+line, between)
		}
	}
	return w
}

// say returns a text with its operands.
func (w wording) say(name string, operands ...any) string { return fmt.Sprintf(w[name], operands...) }

// sections returns the built-in headings, with those of what code usually adds to the text if they are wanted.
func (w wording) sections(seed, constraints, files bool) (headings []string) {
	name := map[bool]string{true: "seed sections", false: "sections"}[seed]
	for line := range strings.SplitSeq(w[name], "\n") {
		fields := strings.Split(line, " | ")
		if len(fields) < 3 || map[string]bool{"quotes": constraints, "facts": files}[fields[2]] {
			headings = append(headings, fields[0])
		}
	}
	return headings
}

// sectionLines returns the required headings, the built-in ones with their content.
func (w wording) sectionLines(sections []string) string {
	contents := map[string]string{}
	for line := range strings.SplitSeq(w["sections"]+"\n"+w["seed sections"], "\n") {
		fields := strings.Split(line, " | ")
		contents[fields[0]] = "\n(" + fields[1] + ")"
	}
	var lines []string
	for _, s := range sections {
		lines = append(lines, "## "+strings.TrimSpace(strings.TrimLeft(s, "# "))+contents[s])
	}
	return strings.Join(lines, "\n")
}

func (w wording) conceptLines(concepts []Concept) string {
	var lines []string
	for _, c := range concepts {
		many := map[bool]string{true: w["fact many"], false: w["fact one"]}[c.Many]
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("- %q (%s): %s", c.Keyword, many, c.Description), ": "))
	}
	return strings.Join(lines, "\n")
}
