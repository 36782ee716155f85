package message_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

// TestMendFrom checks what each kind of change says about where a message comes
// from.
func TestMendFrom(t *testing.T) {
	t.Parallel()
	user, say := message.User("go on"), message.Assistant(message.Text{Text: "done"})
	other := func(id string) message.Message { return message.Assistant(call(id)) }
	image := message.ToolResult{CallID: "a", Content: message.Media{Type: "image/png", URL: "u"}}
	list := func(msgs ...message.Message) []message.Message { return msgs }
	tests := []struct {
		name  string
		rules message.Rules
		in    []message.Message
		roles string // of the result, by their first letters
		from  []int
	}{
		{"nothing is wrong", message.Portable, list(user, other("abcdefgh1"), tool(piece("abcdefgh1"))), "uat", nil},
		{"renamed, and its results", message.OpenAI, list(user, other(strings.Repeat("x", 41)), tool(piece(strings.Repeat("x", 41)))), "uat", []int{0, 1, 2}},
		{"left out", 0, list(user, message.Assistant(), say), "ua", []int{0, 2}},
		{"joined: the first", message.Bedrock, list(user, say, say, say, user), "uau", []int{0, 1, 4}},
		{"moved up", message.Anthropic, list(user, say, message.System("s"), user), "suau", []int{2, 0, 1, 3}},
		{"a result moved up", 0, list(user, other("a"), user, tool(piece("a")), say), "uatua", []int{0, 1, 3, 2, 4}},
		{"a result put in: the call", 0, list(user, other("a"), user), "uatu", []int{0, 1, 1, 2}},
		{"an opening put in: the first", message.Anthropic, list(message.System("s"), say, user), "suau", []int{0, 1, 1, 2}},
		{"an opening behind system messages: the last of them", message.Anthropic, list(message.System("s"), message.System("t")), "ssu", []int{0, 1, 1}},
		{"a turn put between: the one behind", message.Bedrock, list(user, other("a"), tool(piece("a")), user), "uatau", []int{0, 1, 2, 3, 3}},
		{"an end put in: the last", message.Anthropic, list(user, say), "uau", []int{0, 1, 1}},
		{"media put behind: their message", message.OpenAI, list(user, other("a"), tool(image), say), "uatua", []int{0, 1, 2, 2, 3}},
		{"results of two rounds: both from one", 0, list(user, other("a"), other("b"), tool(piece("a"), piece("b"))), "uatat", []int{0, 1, 3, 2, 3}},
		{
			"a result among words of the user: both from one", 0,
			list(user, other("a"), message.Message{Role: message.RoleUser, Parts: []message.Part{piece("a"), message.Text{Text: "x"}}}),
			"uatu",
			[]int{0, 1, 2, 2},
		},
		{
			"a result put in before others: they stay", message.Messages,
			list(user, message.Assistant(call("a"), call("b"), call("c")), tool(piece("b"), piece("c")), say), "uatta",
			[]int{0, 1, 2, 1, 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.rules.Repair(tt.in)
			var roles strings.Builder
			for _, m := range got.Messages {
				roles.WriteByte(m.Role[0])
			}
			require.Equal(t, tt.roles, roles.String(), "roles of %v", got.Messages)
			require.Equal(t, tt.from, got.From, "where they come from, after %v", got.Fixes)
			require.Equal(t, tt.from == nil, len(got.Fixes) == 0, "From is nil if and only if there is no fix")
		})
	}
}

// requireFrom checks what holds of every origin.
func requireFrom(t require.TestingT, h []message.Message, got *message.Repaired) {
	require.Len(t, got.From, len(got.Messages))
	same := make([]int, len(h))
	for i, at := range got.From {
		require.True(t, at >= 0 && at < len(h), "message %d comes from %d of %d", i, at, len(h))
		now, was := got.Messages[i], h[at]
		if !now.Equal(was) {
			continue
		}
		same[at]++
		require.LessOrEqual(t, same[at], 1, "message %d of the list before is there as it was, twice", at)
		if len(was.Parts) == 0 {
			continue
		}
		require.Same(t, &was.Parts[0], &now.Parts[0], "message %d says what %d said and is another one", i, at)
		require.Equal(t, []any{was.Time, was.Usage, was.Hints}, []any{now.Time, now.Usage, now.Hints}, "message %d says what %d said, with other remarks", i, at)
	}
	for at := range h {
		told := slices.ContainsFunc(got.Fixes, func(f message.Fix) bool { return f.At == at })
		require.True(t, told || slices.Contains(got.From, at), "message %d is not there, and no fix is about it: %v", at, got.Fixes)
	}
}

// open reports whether messages behind a list may still mend what is wrong with
// it.
func open(msgs []message.Message, v message.Violation) bool {
	newest := -1
	for i, m := range msgs {
		if m.Role == message.RoleAssistant {
			newest = i
		}
	}
	switch v.Rule {
	case message.UnansweredCall:
		return v.At == newest
	case message.EndsInAnswer:
		return true
	case message.FirstNotUser:
		return message.Leading(msgs) == len(msgs)
	default:
		return false
	}
}

// TestViolationsFrom checks a list from each of its positions: what is settled
// before, and what is found from there, is together what a check of all finds.
func TestViolationsFrom(t *testing.T) {
	t.Parallel()
	for _, r := range everyRules() {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				h := broken().Draw(t, "history")
				if rapid.Bool().Draw(t, "mended") {
					h = r.Repair(h).Messages
					h = append(slices.Clip(h), broken().Draw(t, "more")...)
				}
				all := r.Violations(h)
				for from := range len(h) + 1 {
					settled := slices.DeleteFunc(r.Violations(h[:from]), func(v message.Violation) bool { return open(h[:from], v) })
					if r.Matching() && from > 0 && r.Check(h[:from]) != nil {
						continue
					}
					got := r.ViolationsFrom(h, from)
					both := slices.Concat(settled, got)
					slices.SortStableFunc(both, func(a, b message.Violation) int { return a.At - b.At })
					require.ElementsMatch(t, all, both, "from %d of %d", from, len(h))
					if len(settled) == 0 {
						require.Equal(t, all, got, "from %d of %d, behind a beginning that breaks nothing", from, len(h))
					}
				}
			})
		})
	}
}
