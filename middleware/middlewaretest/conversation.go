package middlewaretest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// ReAct describes a conversation in which a model works with tools. Equal
// values give equal conversations, and a longer one begins like a shorter one.
// The zero value is one question with ten rounds of one call each.
type ReAct struct {
	Rounds   int  // 0: 10
	Parallel int  // calls in each round; 0: 1
	Result   int  // length of each result in bytes; 0: 400
	Thought  int  // length of the text beside the calls in bytes; 0: no text
	PerTurn  int  // rounds that answer one question; then comes the answer and the next question. 0: all of them
	Answered bool // the last rounds have been answered as well
}

// Messages returns the conversation: a system message, a question, then round
// after round. It ends in results that no model has seen, unless Answered says
// otherwise. All texts differ, and so do the call ids.
func (c ReAct) Messages() []message.Message {
	rounds := cmp.Or(c.Rounds, 10)
	perTurn := cmp.Or(c.PerTurn, rounds)
	msgs := []message.Message{message.System("You fix builds. Answer in one sentence.")}
	for i := range rounds {
		turn := i/perTurn + 1
		if i%perTurn == 0 {
			msgs = append(msgs, message.User(fmt.Sprintf("Question %d: why does build %d fail?", turn, 100*turn)))
		}
		msgs = c.appendRound(msgs, i+1)
		if last := i == rounds-1; i%perTurn == perTurn-1 && !last || last && c.Answered {
			msgs = append(msgs, message.Assistant(message.Text{Text: fmt.Sprintf("Answer %d: a test needs a newer compiler.", turn)}))
		}
	}
	return msgs
}

func (c ReAct) appendRound(msgs []message.Message, round int) []message.Message {
	call := message.Assistant()
	if c.Thought > 0 {
		call.Parts = append(call.Parts, message.Text{Text: Filler(fmt.Sprintf("Thought %d:", round), c.Thought)})
	}
	var results []message.Message
	for k := range max(1, c.Parallel) {
		id := fmt.Sprintf("c%d.%d", round, k+1)
		tool := [...]string{"read_file", "list_files", "search"}[(round+k)%3]
		call.Parts = append(call.Parts, message.ToolCall{
			ID: id, Name: tool, Arguments: fmt.Sprintf(`{"path":"build/%d/%d.log"}`, round, k+1),
		})
		results = append(results, message.Result(id, tool, Filler("Result "+id+":", cmp.Or(c.Result, 400))))
	}
	return append(append(msgs, call), results...)
}

// Filler returns a text of so many bytes that begins with the given one, or
// that itself if it is longer.
func Filler(begin string, size int) string {
	var b strings.Builder
	b.WriteString(begin)
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, " line %d of the log says nothing new;", line)
	}
	if len(begin) >= size {
		return begin
	}
	return b.String()[:size]
}

// Prefixes yields the histories that the model was called with in the course
// of a conversation: each one that ends right before an assistant message, and
// all of it if it does not end with one. They share the memory of msgs, without
// room behind them.
func Prefixes(msgs []message.Message) iter.Seq[[]message.Message] {
	return func(yield func([]message.Message) bool) {
		for i, m := range msgs {
			if m.Role == message.RoleAssistant && i > 0 && !yield(slices.Clip(msgs[:i])) {
				return
			}
		}
		if n := len(msgs); n > 0 && msgs[n-1].Role != message.RoleAssistant {
			yield(slices.Clip(msgs))
		}
	}
}

// Clone returns a deep copy of messages. Strings are shared, since they cannot
// be changed.
func Clone(msgs []message.Message) []message.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		if u := out[i].Usage; u != nil {
			c := *u
			out[i].Usage = &c
		}
	}
	return out
}

// CloneRequest returns a deep copy of a request, but for Params, which only
// the provider understands.
func CloneRequest(req *middleware.Request) *middleware.Request {
	r := *req
	r.Messages = Clone(req.Messages)
	r.Tools = slices.Clone(req.Tools)
	r.Force = slices.Clone(req.Force)
	if req.Budget != nil {
		b := *req.Budget
		r.Budget = &b
	}
	return &r
}

// Same reports where two lists of messages say different things, in role, name
// or parts, which is all that a model gets to see.
func Same(want, got []message.Message) error {
	for i := range min(len(want), len(got)) {
		if !want[i].Equal(got[i]) {
			w, g := difference(want[i], got[i])
			return fmt.Errorf("message %d of %d is %s, want %s", i, len(got), g, w)
		}
	}
	switch n := len(want); {
	case n < len(got):
		return fmt.Errorf("%d messages, want %d; the first beyond is %s", len(got), n, show(got[n]))
	case n > len(got):
		return fmt.Errorf("%d messages, want %d; the first that is missing is %s", len(got), n, show(want[len(got)]))
	}
	return nil
}

// difference returns two different messages in a short form that shows the
// first difference.
func difference(a, b message.Message) (string, string) {
	long := func(m message.Message) string { return fmt.Sprintf("%s%s", m.Role, partsOf(m, 1<<20)) }
	la, lb := long(a), long(b)
	at := 0
	for at < min(len(la), len(lb)) && la[at] == lb[at] {
		at++
	}
	const before, after = 40, 60
	cut := func(m message.Message, s string) string {
		if len(s) <= before+after {
			return show(m)
		}
		from, to := max(0, at-before), min(len(s), at+after)
		s = strings.ToValidUTF8(s[from:to], "?")
		return fmt.Sprintf("%s…%s… (from byte %d of its text form)", m.Role, s, from)
	}
	if a.Name != b.Name {
		return fmt.Sprintf("by %q", a.Name), fmt.Sprintf("by %q", b.Name)
	}
	return cut(a, la), cut(b, lb)
}

// show returns a message in a short form for error texts.
func show(m message.Message) string { return string(m.Role) + partsOf(m, 60) }

// partsOf returns the parts with texts of so many bytes at most.
func partsOf(m message.Message, limit int) string {
	var parts []string
	for _, p := range m.Parts {
		parts = append(parts, strings.TrimPrefix(fmt.Sprintf("%T%+.*q", p, limit, p), "message."))
	}
	return fmt.Sprint(parts)
}
