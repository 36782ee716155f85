package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// overhead is what no edit can take away, in tokens by the meter.
type overhead struct{ system, tools, pinned, question int }

// lasting returns the view with nothing in it but what no edit can take away:
// system messages, tools, pinned messages and the text of the first question.
func (v *View) lasting() (*View, overhead) {
	c, w := v.call, *v
	positions := c.guard.lasting()
	n := c.lead + len(positions)
	w.shape = shape{
		msgs:  append(make([]message.Message, 0, n), c.track.lead...),
		toks:  append(make([]int, 0, n), c.track.leadToks...),
		spans: make([]span, c.lead, n),
	}
	for i, k := range w.toks {
		w.spans[i] = span{first: i - c.lead, last: i - c.lead}
		w.msgTokens += k
	}
	o := overhead{system: w.msgTokens, tools: v.tools}
	gone, next := &Record{Kind: Fold, Runs: make([]message.Run, 0, len(positions)+1)}, 0
	for _, i := range positions {
		if next < i {
			gone.Runs = append(gone.Runs, message.Run{First: next, Last: i - 1})
		}
		next = i + 1
		w.keep(c, i, next)
		switch n := c.toks[i]; {
		case c.body[i].Role == message.RoleSystem:
			o.system += n
		case staysWhole(&c.body[i]):
			o.pinned += n
		default:
			o.question = w.keepWords(c)
		}
	}
	if next < len(c.body) {
		gone.Runs = append(gone.Runs, message.Run{First: next, Last: len(c.body) - 1})
	}
	w.list = nil
	if len(gone.Runs) > 0 {
		w.list = list{{Record: gone}}
	}
	return &w, o
}

// keepWords leaves nothing but text of the last message, and returns its tokens.
func (s *shape) keepWords(c *call) int {
	last := len(s.msgs) - 1
	other := func(p message.Part) bool {
		_, ok := p.(message.Text)
		return !ok
	}
	if m := &s.msgs[last]; slices.ContainsFunc(m.Parts, other) {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), other)
		s.msgTokens -= s.toks[last]
		s.toks[last] = c.chain.meter.Message(*m)
		s.msgTokens += s.toks[last]
	}
	return s.toks[last]
}

// weightless returns the view with messages and tools that take no tokens.
func (v *View) weightless() *View {
	w := *v
	w.toks, w.msgTokens, w.tools = make([]int, len(v.msgs)), 0, 0
	return &w
}

// overburdened reports whether the trigger, which is met, can do nothing but be
// met: what no edit can take away meets it, and does so by its tokens. A trigger
// that is met by the same messages without their tokens looks at something else,
// and so does one that needs the plan. An event says it once per conversation.
func (l *layer) overburdened(ctx context.Context, v *View) bool {
	needed := false
	plan := func() *Plan {
		needed = true
		return nil
	}
	left, o := v.lasting()
	met, numbers, err := l.ask(left, plan)
	if err != nil || !met || needed {
		return false
	}
	if met, _, err = l.ask(left.weightless(), plan); err != nil || met || needed {
		return false
	}
	if v.call.track.conversation.once(v.req, string(Overhead)+" "+l.name) {
		l.tell(ctx, v, Event{Kind: Overhead, Why: fmt.Sprintf(
			"what no edit can take away meets the trigger by itself%s, so the editor is not asked: "+
				"%d tokens of system prompt, %d of tools, %d of pinned messages, %d of the first question; "+
				"raise the trigger, declare fewer tools, shorten the system prompt, or pin less",
			aside(numbers), v.Size().Charged(o.system), v.Size().Charged(o.tools), v.Size().Charged(o.pinned), v.Size().Charged(o.question))})
	}
	return true
}
