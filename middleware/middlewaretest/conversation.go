package middlewaretest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// ReAct describes a conversation in which a model works with tools. Equal values return
// equal conversations, and a longer one begins with the shorter one. The zero value is
// one question with ten rounds of one call each.
type ReAct struct {
	Rounds   int  // 0: 10
	Parallel int  // calls in each round; 0: 1
	Result   int  // length of each result in bytes; 0: 400
	Thought  int  // length of the text in messages with calls, in bytes; 0: no text
	PerTurn  int  // rounds for each question, followed by an answer and the next question; 0: all rounds
	Answered bool // the last rounds are answered, too
}

// Messages returns the conversation: a system message, a question, then the rounds. The
// last message is a result that no model has seen, unless Answered is set. All texts and
// call IDs are different.
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
		call.Parts = append(call.Parts, message.Text{Text: filler(fmt.Sprintf("Thought %d:", round), c.Thought)})
	}
	var results []message.Message
	for k := range max(1, c.Parallel) {
		id := fmt.Sprintf("c%d.%d", round, k+1)
		tool := [...]string{"read_file", "list_files", "search"}[(round+k)%3]
		call.Parts = append(call.Parts, message.ToolCall{
			ID: id, Name: tool, Arguments: fmt.Sprintf(`{"path":"build/%d/%d.log"}`, round, k+1),
		})
		results = append(results, message.Result(id, tool, filler("Result "+id+":", cmp.Or(c.Result, 400))))
	}
	return append(append(msgs, call), results...)
}

// filler returns a text of that many bytes with the given beginning, or the beginning if
// it is longer.
func filler(begin string, size int) string {
	var b strings.Builder
	b.WriteString(begin)
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, " line %d of the log says nothing new;", line)
	}
	return b.String()[:max(size, len(begin))]
}

// Prefixes yields the histories with which the model is called in the course of a
// conversation: all messages before each assistant message, and the whole conversation
// if an assistant message is not the last one. They share the memory of msgs, and their
// capacity is their length.
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

type conversation struct {
	name string
	msgs []message.Message
}

// conversations returns those of the suite, and those of its user.
func (s Suite) conversations() []conversation {
	all := []conversation{
		{"parallel calls", decorated()},
		{"one long task", ReAct{Rounds: 12, Thought: 100, Result: 600, Answered: true}.Messages()},
		{"a chat without tools", chat(12)},
	}
	for i, h := range s.Histories {
		all = append(all, conversation{fmt.Sprintf("Histories[%d]", i), Clone(h)})
	}
	return all
}

// decorated returns a conversation with all kinds of parts and all other fields.
func decorated() []message.Message {
	msgs := ReAct{Rounds: 9, Parallel: 2, Result: 500, Thought: 80, PerTurn: 3}.Messages()
	questions, rounds := 0, 0
	for i := range msgs {
		m := &msgs[i]
		m.Time = time.Unix(int64(1000+i), 0)
		switch m.Role {
		case message.RoleUser:
			questions++
			m.Name = "ada"
			m.Hints.Pinned = questions == 2
			m.Hints.Breakpoint = questions == 1
		case message.RoleAssistant:
			rounds++
			m.Usage = &message.Usage{Input: 500 * rounds, Output: 50}
			m.Hints.Memory = rounds == 3
			if rounds%2 == 0 {
				m.Parts = append([]message.Part{message.Thinking{Text: filler("I think", 60), Signature: "sealed"}}, m.Parts...)
			}
			if rounds%3 == 0 {
				m.Parts = append(m.Parts, message.Opaque{Kind: "cache_note", Data: fmt.Sprintf("note %d", rounds)})
			}
		case message.RoleTool:
			if rounds == 4 {
				result, _ := m.Parts[0].(message.ToolResult)
				result.Text, result.Content = "", message.Media{Type: "image/png", Data: "\x89PNG\xff"}
				m.Parts = append(m.Parts, result)
			}
			m.Hints.Pinned = rounds == 2
		case message.RoleSystem:
		}
	}
	return msgs
}

// chat returns questions and answers of some length.
func chat(turns int) []message.Message {
	msgs := []message.Message{message.System("You are brief."), message.System("Today is Monday.")}
	for i := range turns {
		msgs = append(msgs,
			message.User(filler(fmt.Sprintf("Question %d:", i+1), 200)),
			message.Assistant(message.Text{Text: filler(fmt.Sprintf("Answer %d:", i+1), 300)}))
	}
	return append(msgs, message.User("Last question: what did we say?"))
}

// Clone returns a deep copy of messages.
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

// cloneRequest returns a deep copy of a request, except for Params.
func cloneRequest(req *middleware.Request) *middleware.Request {
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

// Same returns an error that describes the first difference of two lists of messages in
// role, name or parts, which is what a model receives. It returns nil if there is none.
func Same(want, got []message.Message) error {
	for i, m := range want[:min(len(want), len(got))] {
		if other := got[i]; !m.Equal(other) {
			w, g := difference(m, other)
			return fmt.Errorf("message %d of %d is %s, want %s", i, len(got), g, w)
		}
	}
	switch n := len(want); {
	case n < len(got):
		return fmt.Errorf("%d messages, want %d; the first additional one is %s", len(got), n, show(got[n]))
	case n > len(got):
		return fmt.Errorf("%d messages, want %d; the first missing one is %s", len(got), n, show(want[len(got)]))
	}
	return nil
}

// difference returns two different messages in a short form with the first difference.
func difference(a, b message.Message) (string, string) {
	if a.Name != b.Name {
		return fmt.Sprintf("by %q", a.Name), fmt.Sprintf("by %q", b.Name)
	}
	long := func(m message.Message) string { return string(m.Role) + partsOf(m, 1_000_000) }
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
	return cut(a, la), cut(b, lb)
}

// show returns a message in a short form for error texts.
func show(m message.Message) string { return string(m.Role) + partsOf(m, 60) }

// partsOf returns the parts, with at most limit bytes of each text.
func partsOf(m message.Message, limit int) string {
	parts := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		parts[i] = textOf(p, limit)
	}
	return fmt.Sprint(parts)
}

// textOf returns all fields of a part, with at most limit bytes of each.
func textOf(p message.Part, limit int) string {
	texts := func(kind string, fields ...string) string {
		for i, f := range fields {
			fields[i] = fmt.Sprintf("%+.*q", limit, f)
		}
		return kind + "{" + strings.Join(fields, " ") + "}"
	}
	switch p := p.(type) {
	case message.Text:
		return texts("Text", p.Text)
	case message.Thinking:
		return texts("Thinking", p.Text, p.Signature)
	case message.Media:
		return texts("Media", p.Type, p.URL, p.Data, p.Name)
	case message.ToolCall:
		return texts("ToolCall", p.ID, p.Name, p.Arguments)
	case message.ToolResult:
		text := texts("ToolResult", p.CallID, p.Name, p.Text)
		if p.Content != nil {
			text += "+" + textOf(p.Content, limit)
		}
		if p.Error {
			text += "+error"
		}
		return text
	case message.Opaque:
		return texts("Opaque", p.Kind, p.Data)
	}
	return fmt.Sprintf("%v", p)
}
