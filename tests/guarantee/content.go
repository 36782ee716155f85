package guarantee

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// compacted returns the edit by which the provider itself has made message i of what was sent, or from which a later edit has
// taken it; nil: there is none.
func (c *Call) compacted(i int) *journal.Record {
	if c.View == nil {
		return nil
	}
	var within func(e *journal.Record) *journal.Record
	within = func(e *journal.Record) *journal.Record {
		if e == nil || e.Middleware == "native" {
			return e
		}
		for _, covered := range e.Covered {
			if n := within(covered); n != nil {
				return n
			}
		}
		return nil
	}
	return within(c.View.Span(i).Edit)
}

// partsOf returns the parts of message i of what was sent; none of a compaction that the provider has made.
func (c *Call) partsOf(i int) []message.Part {
	if m := c.Sent[i]; !message.Internals(inside.Key{}).IsCompaction(m) || c.View != nil && c.compacted(i) == nil {
		return m.Parts
	}
	return nil
}

// parts checks each sent part: thinking, media and opaque parts are parts of the history, each sent at most as often.
// So are the calls and results of a sound history. A compaction of the provider is none.
func (l *ledger) parts() {
	had := map[message.Part]int{}
	for _, m := range l.call.History {
		for _, p := range m.Parts {
			for _, k := range l.keys(p) {
				had[k]++
			}
		}
	}
	for i := range l.call.Sent {
		for _, p := range l.call.partsOf(i) {
			for _, k := range l.keys(p) {
				had[k]--
				if had[k] < 0 {
					l.notef(guaranteeOf(k), "message %d has %s, which the history does not have, or has less often", i, showPart(p))
				}
			}
		}
	}
	l.newestThinking()
}

// keys returns what must not change about a part, as comparable parts.
func (l *ledger) keys(p message.Part) []message.Part {
	switch p := p.(type) {
	case message.Thinking, message.Media, message.Opaque:
		return []message.Part{p}
	case message.ToolCall:
		if l.sound {
			return []message.Part{message.ToolCall{ID: p.ID, Name: p.Name}}
		}
	case message.ToolResult:
		var keys []message.Part
		if p.Content != nil {
			keys = l.keys(p.Content)
		}
		if l.sound {
			keys = append(keys, message.ToolResult{CallID: p.CallID, Name: p.Name, Error: p.Error})
		}
		return keys
	case message.Text:
	}
	return nil
}

func guaranteeOf(key message.Part) Guarantee {
	switch key.(type) {
	case message.ToolCall, message.ToolResult:
		return Paired
	case message.Text, message.Thinking, message.Media, message.Opaque:
	}
	return Verbatim
}

// newestThinking checks that messages of the newest turn have their thinking unchanged, as providers require.
func (l *ledger) newestThinking() {
	c := l.call
	if c.View == nil || !l.sound {
		return
	}
	turn := -1
	for i, m := range c.History {
		if isQuestion(m) {
			turn = i
		}
	}
	for i, m := range c.Sent {
		s := c.View.Span(i)
		if s.Len() != 1 || s.First <= turn || s.Edit != nil && s.Edit.Kind != journal.Rewrite {
			continue
		}
		if !slices.Equal(partsOf[message.Thinking](c.History[s.First]), partsOf[message.Thinking](m)) {
			l.notef(Verbatim, "message %d is of the newest turn and has lost thinking: %s", i, Show(c.History[s.First:s.First+1]))
		}
	}
}

// place is the position of a part in a history.
type place struct{ message, part int }

func (p place) before(q place) bool {
	return p.message < q.message || p.message == q.message && p.part < q.part
}

// order checks that unchanged parts are in the order of the history. A repair may move system messages, results and
// media, so of a repaired history only texts of user and assistant are checked.
func (l *ledger) order() {
	once := occurOnce(l.call.History)
	still := occurOnce(l.call.Sent)
	last := place{-1, 0}
	for i, m := range l.call.Sent {
		for _, p := range m.Parts {
			at, ok := once[p]
			if _, alone := still[p]; !ok || !alone || !l.hasOrder(m, p) || !l.hasOrder(l.call.History[at.message], p) {
				continue
			}
			if at.before(last) {
				l.notef(Ordered, "message %d has %s, which was before the part that is now before it", i, showPart(p))
			}
			last = at
		}
	}
}

// occurOnce returns the places of the parts that occur once.
func occurOnce(msgs []message.Message) map[message.Part]place {
	where, count := map[message.Part]place{}, map[message.Part]int{}
	for i, m := range msgs {
		for k, p := range m.Parts {
			where[p] = place{i, k}
			count[p]++
		}
	}
	maps.DeleteFunc(where, func(p message.Part, _ place) bool { return count[p] > 1 })
	return where
}

// fillers are texts that a repair may add several times.
var fillers = []string{"(continue)", "(no answer)", "(conversation continues)", "(empty)"}

// hasOrder reports whether a part of a message must not change its place.
func (l *ledger) hasOrder(m message.Message, p message.Part) bool {
	text, isText := p.(message.Text)
	if slices.Contains(fillers, text.Text) {
		return false
	}
	if l.sound {
		return message.Internals(inside.Key{}).KnownPart(p)
	}
	return isText && (m.Role == message.RoleUser || m.Role == message.RoleAssistant)
}

// mark is the text of fit in place of the middle of a text.
var mark = regexp.MustCompile(`\[… \d+ characters left out …\]`)

// notes checks that no note is inside another or repeated: a shortened text is not shortened again around its mark, and
// one remark replaces all removed messages. What a provider has compacted may have one more: that of fit before it.
func (l *ledger) notes() {
	if anyText(l.call.History, isNote) {
		return // of the caller, or of an earlier view
	}
	var remarks [2]int // by whether the provider has returned it
	for i, m := range l.call.Sent {
		for _, p := range m.Parts {
			text := withoutHandles(textOf(p))
			if n := len(mark.FindAllString(text, -1)); n > 1 {
				l.notef(Plain, "message %d has a text with %d marks in it: %s", i, n, text)
			}
			_, result := p.(message.ToolResult)
			if result && text != placeholder && strings.Contains(text, placeholder) {
				l.notef(Plain, "message %d has a placeholder inside another text: %s", i, text)
			}
			by := 0
			if l.call.compacted(i) != nil {
				by = 1
			}
			remarks[by] += strings.Count(text, note)
		}
	}
	if remarks[0] > 1 || remarks[1] > 1 {
		l.notef(Plain, "%d remarks about removed messages, and %d more in what the provider has compacted", remarks[0], remarks[1])
	}
}

// handle matches the handle in a note.
var handle = regexp.MustCompile(`(: |; | To read it: )recall [a-z]{12,}`)

// withoutHandles returns a text with its notes in their form without an archive.
func withoutHandles(text string) string {
	if !strings.Contains(text, "recall ") { // most texts, faster than the expression
		return text
	}
	return handle.ReplaceAllString(text, "")
}

// isNote reports whether a text is like a note of fit.
func isNote(text string) bool {
	return mark.MatchString(text) || strings.Contains(text, placeholder) || strings.Contains(text, note)
}

// textOf returns the text of a part that an edit may change.
func textOf(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolResult:
		return p.Text
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return ""
}

// The defaults of the options of fit.
const (
	placeholder = "[cleared: it no longer fits the context window]"
	note        = "[A remark of the program, not of the user: earlier messages were left out here, " +
		"since they no longer fit the context window.]"
)
