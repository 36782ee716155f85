package middlewaretest

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// oddRules are about histories that break rules themselves.
func oddRules() []rule {
	return []rule{
		{
			name: "odd-histories",
			text: "a history that breaks rules passes, with no rule broken that was not broken before, " +
				"or is refused with an error of known kind; it never makes a middleware panic and never loses a message in silence, " +
				"since histories come from outside",
			check: checkOdd,
		},
	}
}

// oddHistories returns what comes from outside now and then.
func oddHistories() []conversation {
	question := message.User("Why does the build fail?")
	call := func(id string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "read_file", Arguments: `{"path":"a"}`})
	}
	result := func(id string) message.Message { return message.Result(id, "read_file", Filler("Result:", 900)) }
	long := ReAct{Rounds: 12}.Messages()
	huge := strings.Repeat(Filler(" Line", 1_000), 600)
	with := func(msgs ...message.Message) []message.Message { return append(Clone(long), msgs...) }
	return []conversation{
		{"no messages", nil},
		{"an orphaned result", with(result("nobody"))},
		{"a missing result", with(call("open"), question)},
		{"parallel calls with one result", with(message.Assistant(
			message.ToolCall{ID: "a", Name: "read_file", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "read_file", Arguments: "{}"},
		), result("b"), question)},
		{"duplicate ids in one message", with(message.Assistant(
			message.ToolCall{ID: "a", Name: "read_file", Arguments: "{}"}, message.ToolCall{ID: "a", Name: "search", Arguments: "{}"},
		), result("a"), result("a"), question)},
		{"the same id in each round", []message.Message{question, call("x"), result("x"), call("x"), result("x"), call("x"), result("x")}},
		{"a displaced result", with(call("late"), question, result("late"))},
		{"empty messages", with(message.Message{}, message.Assistant(), message.User(""),
			message.Message{Role: message.RoleTool}, question)},
		{"a result first", append([]message.Message{result("first")}, long...)},
		{"results only", []message.Message{result("1"), result("2"), result("3")}},
		{"arguments that are not JSON", with(message.Assistant(
			message.ToolCall{ID: "bad", Name: "read_file", Arguments: `{"path":`},
		), result("bad"), question)},
		{"arguments that are no object", with(message.Assistant(
			message.ToolCall{ID: "bad", Name: "read_file", Arguments: `[]`},
		), result("bad"))},
		{"invalid UTF-8", with(message.User("\xff\xfe"), message.Assistant(message.Text{Text: "\xc3"}),
			message.Result("\x80", "\x81", "\x82"))},
		{"an unknown role", with(message.Message{Role: "developer", Parts: []message.Part{message.Text{Text: "Be brief."}}}, question)},
		{"a nil part", with(message.User(""), message.Message{Role: message.RoleUser, Parts: []message.Part{nil}})},
		{"system messages only", []message.Message{message.System("Be brief."), message.System("Be kind.")}},
		{"a system message in the middle", with(message.System("From now on, be brief."), question)},
		{"one huge message", []message.Message{message.User("Read this:" + huge)}},
		{"one huge result", []message.Message{question, call("big"), message.Result("big", "read_file", "Result:"+huge)}},
	}
}

func checkOdd(s *subject) error {
	var first error
	more := 0
	for _, c := range oddHistories() {
		for _, force := range [][]string{nil, {"*"}} {
			req := request(c.msgs, force...)
			req.Budget.Window = 100_000 // less than the huge messages have
			err := s.odd(req)
			switch {
			case err == nil:
				continue
			case first == nil:
				first = fmt.Errorf("%s, Force %q: %w", c.name, force, err)
			default:
				more++
			}
			break
		}
	}
	if more > 0 {
		return fmt.Errorf("%w (and with %d more histories)", first, more)
	}
	return first
}

// odd makes two calls on a history: what is remembered of the first must not
// hurt the second.
func (s *subject) odd(req *middleware.Request) error {
	changed := Freeze(req)
	in := s.instance(done())
	edited := false
	for range 2 {
		out, err := in.call(context.Background(), req, nil)
		if err != nil {
			return err
		}
		if out.err != nil {
			if middleware.KindOf(out.err) == middleware.Unknown {
				return fmt.Errorf("refused with an error of unknown kind: %w", out.err)
			}
			continue
		}
		if len(out.sent) != 1 {
			return fmt.Errorf("the model was called %d times, want once", len(out.sent))
		}
		if err := noNewViolations(req.Messages, out.view()); err != nil {
			return err
		}
		if edited = edited || out.edited() || out.repaired(); !edited && !s.changes {
			if err := Same(req.Messages, out.view()); err != nil {
				return fmt.Errorf("nothing was reported, and yet %w", err)
			}
		}
	}
	return changed()
}

// noNewViolations reports a rule that the second list breaks more often than
// the first.
func noNewViolations(before, after []message.Message) error {
	had := map[message.Violation]int{}
	for _, v := range message.Rules(0).Violations(before) {
		v.At = 0
		had[v]++
	}
	for _, v := range message.Rules(0).Violations(after) {
		at := v.At
		v.At = 0
		had[v]--
		if had[v] < 0 {
			v.At = at
			return fmt.Errorf("the model was sent a history that breaks one more rule: %v", v)
		}
	}
	return nil
}
