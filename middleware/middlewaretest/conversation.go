package middlewaretest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
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
		all = append(all, conversation{fmt.Sprintf("Histories[%d]", i), testkit.Clone(h)})
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
