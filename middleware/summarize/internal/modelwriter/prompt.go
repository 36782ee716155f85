package modelwriter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// desk is what an author has room for, in tokens.
type desk struct {
	limit  int // of an answer that is taken
	answer int // of what the author may write, reasoning included
	room   int // of a record that can be shown
}

var emptyUser = message.Message{Role: message.RoleUser}

// deskOf measures the window of an author. Counts are estimates, so a tenth of
// what it can read stays free. Authors that reason before they write need more
// room for their answers than the answers have tokens.
func (s *session) deskOf(a Author) desk {
	d := desk{limit: s.MaxTokens, room: math.MaxInt / 4}
	window := a.window()
	if window > 0 {
		d.limit = min(d.limit, window/5)
	}
	if a.Known.Output > 0 {
		d.limit = min(d.limit, a.Known.Output)
	}
	d.answer = 2*d.limit + 1024
	if window > 0 {
		d.answer = min(d.answer, max(d.limit, window/4))
	}
	if a.Known.Output > 0 {
		d.answer = min(d.answer, a.Known.Output)
	}
	if window > 0 {
		input := window - d.answer
		if a.Known.Input > 0 {
			input = min(input, a.Known.Input)
		}
		d.room = input*9/10 - s.frame(a, d.limit)
	}
	return d
}

// frame returns the tokens of a request to an author that shows nothing, at its
// longest.
func (s *session) frame(a Author, limit int) int {
	most := 0
	kinds := []kind{whole, notes}
	if s.concepts != nil {
		kinds = []kind{facts}
	}
	for _, k := range kinds {
		for after := range s.Language.words().because {
			o := order{kind: k, part: 1, parts: 1, earlier: k == whole && s.Earlier != "", tokens: limit, after: after}
			most = max(most, s.Meter.Request(s.messages(a, o, "", "record"), nil))
		}
	}
	return most
}

// messages are those of a fresh request. Everything that was said stands in
// fences.
func (s *session) messages(a Author, o order, text, name string) []message.Message {
	w := s.Language.words()
	lines := []string{fmt.Sprintf(w.record, name, name), "<" + name + ">\n" + text + "</" + name + ">"}
	if q := s.question(); q != "" && o.kind != facts {
		lines = append(lines, q)
	}
	lines = append(lines, s.ask(a, o, s.concepts))
	return []message.Message{message.System(w.scribe), message.User(strings.Join(lines, "\n\n"))}
}

// draft is a request that is ready to be sent, and what its answer must meet.
type draft struct {
	*middleware.Request

	author Author
	desk   desk
	mode   Mode
	order  order
	terms  terms
	shown  piece // fresh mode
}

// fresh returns the request that shows a piece of the record.
func (s *session) fresh(o order, p piece, earlier unit) *draft {
	units := p.units
	if earlier != nil {
		units = append([]unit{earlier}, units...)
	}
	text := textOf(units)
	name := fence("record", text+s.Focus)
	d := &draft{author: s.Writer, desk: s.desk, mode: Fresh, shown: p, terms: s.terms(s.Writer, o, s.desk.limit, p.tokens)}
	d.terms.fence = name
	o.earlier, o.tokens = earlier != nil, s.target(d.terms)
	d.order = o
	d.Request = s.request(s.Writer, s.desk)
	d.Messages = s.messages(s.Writer, o, text, name)
	return d
}

// target is how many tokens the author is told to write: fewer than are taken,
// since models count badly.
func (s *session) target(t terms) int {
	n := min(t.limit, s.desk.limit) * 3 / 4
	if t.below > 0 {
		n = min(n, t.below/2)
	}
	return n
}

// terms are what an answer of an author must meet.
func (s *session) terms(a Author, o order, limit, shown int) terms {
	t := terms{limit: limit, markers: s.Markers, cutter: s.cutter}
	switch o.kind {
	case whole:
		t.sections, t.below = a.Sections, s.replaced
		if s.Form == Structured {
			t.parse = s.structured
		}
	case notes:
		if shown > limit {
			t.below = shown
		}
	case facts:
		t.parse, t.limit = s.facts, math.MaxInt // what is made of the JSON has its limit
	}
	return t
}

// request returns a request without messages. It is made anew, so that it has
// nothing in common with the live call.
func (s *session) request(a Author, d desk) *middleware.Request {
	req := &middleware.Request{Model: a.Name}
	if w := a.window(); w > 0 {
		req.Budget = &middleware.Budget{Window: w, Reserve: min(d.answer, w-1)}
	}
	switch {
	case a.PassOptions && s.Live != nil:
		req.Params = s.Live.Params
	case a.Params != nil:
		req.Params = a.Params(d.answer)
	}
	return req
}

// suffix returns the live request with the order at its end, if that is possible
// and wanted.
func (s *session) suffix() (*draft, bool) {
	if !s.canSuffix() || !s.shownLive() {
		return nil, false
	}
	d := &draft{author: s.Main, desk: s.deskOf(s.Main), mode: Suffix}
	d.terms = s.terms(s.Main, order{kind: whole}, d.desk.limit, 0)
	d.order = order{kind: whole, earlier: s.Earlier != "", tokens: s.target(d.terms)}
	msgs, ok := asked(s.Live.Messages, s.Language.words().suffix+"\n\n"+s.ask(s.Main, d.order, nil))
	if !ok {
		return nil, false
	}
	d.Request = s.request(s.Main, d.desk)
	d.Messages, d.Tools = msgs, s.Live.Tools
	if d.Model == "" {
		d.Model = s.Live.Model
	}
	all := s.Meter.Request(msgs, d.Tools)
	if w := s.Main.window(); w > 0 && all > w-d.desk.answer-w/20 {
		return nil, false
	}
	if most := s.Main.Known.Input; most > 0 && all > most {
		return nil, false
	}
	return d, !s.own || s.cheaper(d)
}

// shownLive reports whether the live request shows all that the summary replaces.
func (s *session) shownLive() bool {
	next := 0
	earlier := s.Earlier == ""
	for _, m := range s.Live.Messages {
		earlier = earlier || strings.Contains(m.Text(), s.Earlier)
		if next < len(s.Folded) && m.Equal(s.Folded[next]) {
			next++
		}
	}
	return earlier && next == len(s.Folded)
}

// asked returns the messages with one more of the user. The rest stays byte for
// byte, or the cache would be of no use; so does what is invalid in it. What the
// providers want between the end and a message of the user is put there. False
// means that there is no such way.
func asked(live []message.Message, text string) ([]message.Message, bool) {
	const bridge = "(continue)"
	open := len(live)
	for _, v := range message.Rules(0).Violations(live) {
		if v.Rule == message.UnansweredCall && !slices.ContainsFunc(live[v.At+1:], isAssistant) {
			open = min(open, v.At)
		}
	}
	live = slices.Clip(live[:open])
	if len(live) == 0 {
		return nil, false
	}
	last := live[len(live)-1]
	var msgs []message.Message
	switch last.Role {
	case message.RoleUser:
		last.Parts = append(slices.Clip(last.Parts), message.Text{Text: text})
		msgs = append(slices.Clone(live[:len(live)-1]), last)
	case message.RoleTool:
		msgs = slices.Concat(live, []message.Message{message.Assistant(message.Text{Text: bridge}), message.User(text)})
	default:
		msgs = slices.Concat(live, []message.Message{message.User(text)})
	}
	return msgs, noWorse(live, msgs)
}

func isAssistant(m message.Message) bool { return m.Role == message.RoleAssistant }

// noWorse reports whether no provider finds more wrong with msgs than with live.
func noWorse(live, msgs []message.Message) bool {
	was := message.Portable.Violations(live)
	for _, v := range message.Portable.Violations(msgs) {
		k := slices.Index(was, v)
		if k < 0 {
			return false
		}
		was = slices.Delete(was, k, k+1)
	}
	return true
}

// order is what one request asks for.
type order struct {
	kind        kind
	part, parts int    // of the record, for notes and facts
	earlier     bool   // an earlier summary is shown
	tokens      int    // that the answer shall have at most
	failures    int    // attempts that came to nothing
	after       Reason // why the last of them was rejected; "": none was
}

// again returns the order for the attempt behind one that came to nothing. It is
// stricter only behind an answer: that a provider is down is no reason to be.
func (o order) again(err error) order {
	o.failures++
	if r, ok := errors.AsType[*RejectedError](err); ok {
		o.after = r.Reason
	}
	return o
}

type kind int

const (
	whole kind = iota // the summary
	notes             // of a piece of the record
	facts             // of a piece of the record
)

// ask returns the order to an author in words, without the record.
func (b Brief) ask(a Author, o order, concepts []Concept) string {
	w := b.Language.words()
	var lines []string
	switch {
	case o.kind == facts:
		lines = append(lines, w.facts, w.list(concepts), w.factForm)
	case a.Task != "":
		lines = append(lines, a.Task)
	default:
		lines = append(lines, w.task)
	}
	if o.earlier {
		lines = append(lines, w.earlier)
	}
	switch {
	case o.kind == notes:
		lines = append(lines, fmt.Sprintf(w.note, o.part, o.parts))
	case o.kind == whole && b.Form == Structured:
		lines = append(lines, w.form)
	case o.kind == whole && len(a.Sections) > 0:
		lines = append(lines, w.headings, w.headed(a.Sections))
	}
	lines = append(lines, fmt.Sprintf(w.length, max(20, o.tokens*w.words/100)))
	if a.Task == "" {
		lines = append(lines, w.language)
	}
	if o.after != "" {
		lines = append(lines, fmt.Sprintf(w.strict, w.because[o.after]))
	}
	return strings.Join(lines, "\n\n")
}

// headed lists the sections, the built-in ones with what belongs there.
func (w *wording) headed(sections []string) string {
	builtIn := len(sections) == len(w.sections) && &sections[0] == &w.sections[0]
	var lines []string
	for i, s := range sections {
		line := "## " + strings.TrimSpace(strings.TrimLeft(s, "# "))
		if builtIn {
			line += "\n(" + w.under[i] + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (w *wording) list(concepts []Concept) string {
	var lines []string
	for _, c := range concepts {
		many := w.factOne
		if c.Many {
			many = w.factMany
		}
		line := fmt.Sprintf("- %q (%s)", c.Keyword, many)
		if c.Description != "" {
			line += ": " + c.Description
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// question returns what the user asks, in a fence, and no more than so many code
// points of it: its beginning and its end.
func (b Brief) question() string {
	if !visible(b.Focus) {
		return ""
	}
	const head, tail = 700, 300
	q := []rune(b.Focus)
	if n := len(q) - head - tail; n > 0 {
		q = []rune(fmt.Sprintf("%s\n[… %d …]\n%s", string(q[:head]), n, string(q[len(q)-tail:])))
	}
	name := fence("question", b.Focus)
	return b.Language.words().focus + "\n<" + name + ">\n\t" + setIn.Replace(strings.TrimSpace(string(q))) + "\n</" + name + ">"
}
