package middlewaretest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// viewRules are about what the model is sent in the course of a conversation.
func viewRules() []rule {
	return []rule{
		{
			name:  "reported",
			views: true,
			text: "as long as no edit has been reported, the model is sent what the caller passed: " +
				"a change that nobody hears of cannot be remembered, verified or explained; change messages with middleware.Editing",
			check: checkReported,
		},
		{
			name:  "growing",
			views: true,
			text: "from one edit to the next, each view is the one before and the new messages behind it, byte for byte, " +
				"since a provider's prompt cache ends at the first byte that is different",
			check: checkGrowing,
		},
		{
			name: "valid",
			text: "a valid history gives a valid view: each call with its results and the other way round, " +
				"arguments that are JSON objects, no empty message, since providers reject everything else",
			check: checkValid,
		},
		{
			name:  "order",
			views: true,
			text: "messages, calls and results come in the order of the history, and none twice, " +
				"since a model draws its conclusions from what came first",
			check: checkOrder,
		},
		{
			name:  "protected",
			views: true,
			text: "system messages, the texts of the first and of the last user message, and pinned messages stay as they are; " +
				"of the newest round, which no model has answered, calls and results stay, and a result may only be shortened: " +
				"without them the model does not know its task or what it just found",
			check: checkProtected,
		},
		{
			name:  "smaller",
			views: true,
			text: "a view has no more tokens than the history, by the counter of the chain, " +
				"since a middleware that makes requests longer works against all others",
			check: checkSmaller,
		},
	}
}

func checkReported(s *subject) error {
	return s.eachStep(func(r *replay, i int) error {
		if slices.ContainsFunc(r.steps[:i+1], func(st step) bool { return st.edited() }) {
			return nil
		}
		return Same(r.steps[i].req.Messages, r.steps[i].view())
	})
}

func checkGrowing(s *subject) error {
	return s.eachStep(func(r *replay, i int) error {
		if i == 0 || r.steps[i].edited() || r.steps[i].call != r.steps[i-1].call+1 {
			return nil
		}
		before, now := r.steps[i-1], r.steps[i]
		fresh := now.req.Messages[len(before.req.Messages):]
		return Same(slices.Concat(before.view(), fresh), now.view())
	})
}

func checkValid(s *subject) error {
	return s.eachStep(func(r *replay, i int) error {
		if err := message.Check(r.steps[i].req.Messages); err != nil {
			return nil //nolint:nilerr // what comes in broken may go out broken
		}
		return message.Check(r.steps[i].view())
	})
}

func checkOrder(s *subject) error {
	return s.eachStep(func(r *replay, i int) error {
		places := map[string]int{}
		for k, name := range landmarks(r.steps[i].req.Messages) {
			places[name] = k
		}
		last, lastName := -1, ""
		for _, name := range landmarks(r.steps[i].view()) {
			place, ok := places[name]
			switch {
			case !ok:
				continue
			case place == last:
				return fmt.Errorf("%s is there twice", name)
			case place < last:
				return fmt.Errorf("%s stands behind %s, and in the history before it", name, lastName)
			}
			last, lastName = place, name
		}
		return nil
	})
}

// landmarks names what can be found again in a view: texts, calls and results.
func landmarks(msgs []message.Message) []string {
	var names []string
	for _, m := range msgs {
		var last string
		for _, p := range m.Parts {
			name := ""
			switch p := p.(type) {
			case message.Text:
				name = fmt.Sprintf("the %s text %.30q", m.Role, p.Text)
			case message.ToolCall:
				name = fmt.Sprintf("the call %q", p.ID)
			case message.ToolResult: // a result of several pieces counts once
				name = fmt.Sprintf("the result of call %q", p.CallID)
			case message.Thinking, message.Media, message.Opaque:
			}
			if name != "" && name != last {
				names = append(names, name)
				last = name
			}
		}
	}
	return names
}

func checkProtected(s *subject) error {
	return s.eachStep(func(r *replay, i int) error {
		history, view := r.steps[i].req.Messages, r.steps[i].view()
		lead := message.Leading(history)
		if err := Same(history[:lead], view[:min(lead, len(view))]); err != nil {
			return fmt.Errorf("system messages: %w", err)
		}
		for k, m := range history {
			if (m.Role == message.RoleSystem || m.Hints.Pinned) && !slices.ContainsFunc(view, m.Equal) {
				return fmt.Errorf("message %d of the history, %s, is a system message or pinned, and missing", k, show(m))
			}
		}
		for _, k := range firstAndLast(history) {
			if !slices.ContainsFunc(view, func(m message.Message) bool { return saysAll(m, history[k]) }) {
				return fmt.Errorf("the text of message %d of the history, %s, is missing", k, show(history[k]))
			}
		}
		return newestRoundIntact(history, view)
	})
}

// saysAll reports whether a message of the user has all texts of another, in their
// order. Where media stood there may be another text, and a repair may have joined
// messages.
func saysAll(m, of message.Message) bool {
	if m.Role != message.RoleUser {
		return false
	}
	want := slices.DeleteFunc(slices.Clone(of.Parts), func(p message.Part) bool { _, ok := p.(message.Text); return !ok })
	for _, p := range m.Parts {
		if len(want) > 0 && p == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// firstAndLast returns the positions of the first and the last user message.
func firstAndLast(msgs []message.Message) []int {
	var users []int
	for i, m := range msgs {
		if m.Role == message.RoleUser {
			users = append(users, i)
		}
	}
	if len(users) == 0 {
		return nil
	}
	return []int{users[0], users[len(users)-1]}
}

// newestRoundIntact checks the round that no model has answered yet, if there is
// one.
func newestRoundIntact(history, view []message.Message) error {
	units := message.Units(history)
	if len(units) == 0 || !units[len(units)-1].Round {
		return nil
	}
	round := history[units[len(units)-1].First:]
	at := slices.IndexFunc(view, round[0].Equal)
	if at < 0 {
		return fmt.Errorf("the newest calls, %s, are missing", show(round[0]))
	}
	got := view[at:]
	if len(got) != len(round) {
		return fmt.Errorf("the newest round has %d messages, want %d", len(got), len(round))
	}
	for i := range round {
		for k, want := range round[i].Parts {
			if k >= len(got[i].Parts) || got[i].Parts[k] != want && !shortened(want, got[i].Parts[k]) {
				return fmt.Errorf("in the newest round, %s, want %s or its beginning and end", show(got[i]), show(round[i]))
			}
		}
	}
	return nil
}

// shortened reports whether a result is another one with its middle left out:
// at least half of it is beginning and end of the other.
func shortened(was, is message.Part) bool {
	long, ok1 := was.(message.ToolResult)
	short, ok2 := is.(message.ToolResult)
	if !ok1 || !ok2 || long.CallID != short.CallID || len(short.Text) >= len(long.Text) || strings.TrimSpace(short.Text) == "" {
		return false
	}
	head, tail := 0, 0
	for head < len(short.Text) && short.Text[head] == long.Text[head] {
		head++
	}
	for tail < len(short.Text)-head && short.Text[len(short.Text)-1-tail] == long.Text[len(long.Text)-1-tail] {
		tail++
	}
	return 2*(head+tail) >= len(short.Text)
}

func checkSmaller(s *subject) error {
	return s.eachStep(func(r *replay, i int) error {
		got := r.steps[i].sent[0]
		count := func(msgs []message.Message) int { return got.meter.Request(msgs, nil) }
		if before, after := count(r.steps[i].req.Messages), count(got.Messages); after > before {
			return fmt.Errorf("%d tokens, and the history has %d", after, before)
		}
		for _, e := range r.steps[i].events {
			if e.Kind == middleware.Edited && e.After >= e.Before {
				return errors.New("an edit freed nothing: " + e.String())
			}
		}
		return nil
	})
}
