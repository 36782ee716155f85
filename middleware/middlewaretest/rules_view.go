package middlewaretest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// editRules are about the messages that the model receives. They do not apply to a Suite with Changes.
var editRules = []rule{
	{"reported", eachStep(checkReported), "until an edit is reported, the model receives the caller's messages: other " +
		"changes cannot be remembered, verified or explained; change messages with middleware.Editing"},
	{"growing", eachStep(checkGrowing), "from one edit to the next, each view is the previous view followed by the new " +
		"messages, byte for byte, since a provider's prompt cache ends at the first different byte"},
	{"edits", checkEdits, "an editor edits at least once in the conversations of the suite and of Suite.Histories, or " +
		"no rule about its views is checked; put a conversation in which it has something to do into Histories, or " +
		"set Idle if it must never edit"},
	{"settles", checkSettles, "a view that is passed on as a history is edited a few more times at most, and " +
		"then not again: edits of edits without an end destroy the conversation"},
}

// viewRules are about the messages that the model receives, too.
var viewRules = []rule{
	{"panics", eachStep(checkPanics), "an editor and its trigger do not panic: the panic is an event, and the call " +
		"continues without the edit, so nothing but an observer would find it"},
	{"valid", eachStep(checkValid), "a view has no violation that its history does not have: each call with its results " +
		"and each result with its call, arguments that are JSON objects, no empty message, since providers " +
		"reject all others"},
	{"odd-histories", checkOdd, "an invalid history is passed on without additional violations, or rejected " +
		"with an error of a known kind; a middleware never panics and never removes a message without an event, " +
		"since histories come from outside"},
}

func checkReported(r *replay, i int) error {
	if slices.ContainsFunc(r.steps[:i+1], func(st step) bool { return st.edited() }) {
		return nil
	}
	return testkit.Same(r.steps[i].req.Messages, r.steps[i].view())
}

func checkGrowing(r *replay, i int) error {
	if i == 0 || r.steps[i].edited() || r.steps[i].call != r.steps[i-1].call+1 {
		return nil
	}
	before, now := r.steps[i-1], r.steps[i]
	added := now.req.Messages[len(before.req.Messages):]
	return testkit.Same(slices.Concat(before.view(), added), now.view())
}

func checkPanics(r *replay, i int) error { return r.steps[i].panicked() }

func checkEdits(s *subject) error {
	replays, err := s.replays()
	if err != nil || s.Idle || s.Repairs {
		return err
	}
	viewed, calls, why := false, 0, "it proposes no plan, also if Request.Force has all names"
	for _, r := range replays {
		viewed = viewed || r.in.viewed
		for _, st := range r.steps {
			if st.edited() || st.panicked() != nil {
				return nil //nolint:nilerr // rule "panics" reports a panic
			}
			calls++
			for _, e := range st.events {
				if e.Kind == middleware.Refused || e.Kind == middleware.Failed {
					why = fmt.Sprintf("the last plan: %s: %s", r.at(st), withoutStacks([]middleware.Event{e})[0])
				}
			}
		}
	}
	if !viewed { // it is no editor
		return nil
	}
	return fmt.Errorf("no edit in %d calls; %s", calls, why)
}

func checkSettles(s *subject) error {
	replays, err := s.replays()
	if err != nil {
		return err
	}
	for _, r := range replays {
		last := r.last()
		err := last.settle(func(before *outcome) (*outcome, error) {
			req := *last.req
			req.Messages = before.view()
			return s.instance(done()).answered(context.Background(), &req, nil)
		})
		if err != nil {
			return fmt.Errorf("%s, its view passed on: %w", r.at(last), err)
		}
	}
	return nil
}

func checkValid(r *replay, i int) error {
	return noNewViolations(r.steps[i].req.Messages, r.steps[i].view())
}

// oddHistories returns histories that break rules, or are unusual.
func oddHistories() []conversation {
	question := message.User("Why does the build fail?")
	calls := func(arguments string, ids ...string) message.Message {
		m := message.Assistant()
		for _, id := range ids {
			m.Parts = append(m.Parts, message.ToolCall{ID: id, Name: "read_file", Arguments: arguments})
		}
		return m
	}
	call := func(id string) message.Message { return calls(`{"path":"a"}`, id) }
	result := func(id string) message.Message { return message.Result(id, "read_file", filler("Result:", 900)) }
	long := ReAct{Rounds: 12}.Messages()
	huge := strings.Repeat(filler(" Line", 1_000), 600)
	with := func(msgs ...message.Message) []message.Message { return append(testkit.Clone(long), msgs...) }
	return []conversation{
		{"no messages", nil},
		{"an orphaned result", with(result("unknown"))},
		{"a missing result", with(call("open"), question)},
		{"parallel calls with one result", with(calls("{}", "a", "b"), result("b"), question)},
		{"duplicate ids in one message", with(calls("{}", "a", "a"), result("a"), result("a"), question)},
		{"the same id in each round", []message.Message{question, call("x"), result("x"), call("x"), result("x"), call("x"), result("x")}},
		{"a displaced result", with(call("late"), question, result("late"))},
		{"empty messages", with(message.Message{}, message.Assistant(), message.User(""),
			message.Message{Role: message.RoleTool}, question)},
		{"a result first", append([]message.Message{result("first")}, long...)},
		{"results only", []message.Message{result("1"), result("2"), result("3")}},
		{"arguments that are not JSON", with(calls(`{"path":`, "bad"), result("bad"), question)},
		{"arguments that are not an object", with(calls("[]", "bad"), result("bad"))},
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
	for _, c := range oddHistories() {
		for _, force := range [][]string{nil, {"*"}} {
			req := request(c.msgs, force...)
			req.Budget.Window = 100_000 // less than the huge messages have
			if err := s.odd(req); err != nil {
				return fmt.Errorf("%s, Force %q: %w", c.name, force, err)
			}
		}
	}
	return nil
}

// odd makes two calls with a history, since state of the first may affect the second.
func (s *subject) odd(req *middleware.Request) error {
	changed := testkit.Freeze(req)
	in := s.instance(done())
	reported := false
	for range 2 {
		out, err := in.call(context.Background(), req, nil)
		switch {
		case err != nil:
			return err
		case out.err != nil && middleware.KindOf(out.err) == middleware.Unknown:
			return fmt.Errorf("rejected with an error of unknown kind: %w", out.err)
		case out.err != nil:
			continue
		}
		if err := cmp.Or(out.panicked(), out.calledOnce()); err != nil {
			return err
		}
		if err := noNewViolations(req.Messages, out.view()); err != nil {
			return err
		}
		reported = reported || out.edited() || out.reported(middleware.Repaired)
		if !reported && !s.Changes {
			if err := testkit.Same(req.Messages, out.view()); err != nil {
				return fmt.Errorf("nothing was reported, but %w", err)
			}
		}
	}
	return changed()
}

// noNewViolations reports a rule that the second list breaks more often than the first.
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
			return fmt.Errorf("the model received a history with an additional violation: %v", v)
		}
	}
	return nil
}
