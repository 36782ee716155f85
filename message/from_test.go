package message_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

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

// TestBeginningsOfValid checks that a list may be cut anywhere once it was found
// valid, and is found valid again from there.
func TestBeginningsOfValid(t *testing.T) {
	t.Parallel()
	for _, r := range everyRules() {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				h := r.Repair(broken().Draw(t, "history")).Messages
				for from := range len(h) + 1 {
					require.Empty(t, r.ViolationsFrom(h, from), "from %d of %d", from, len(h))
					for _, v := range r.Violations(h[:from]) {
						if r.Matching() && v.Rule == message.UnansweredCall {
							continue
						}
						require.True(t, open(h[:from], v), "the first %d of %d: %v", from, len(h), v)
					}
				}
			})
		})
	}
}

func TestViolationsFromOfOpenRound(t *testing.T) {
	t.Parallel()
	user, say := message.User("go on"), message.Assistant(message.Text{Text: "done"})
	two := message.Assistant(call("a"), call("b"))
	type violations = []message.Violation
	tests := []struct {
		name  string
		rules message.Rules
		in    []message.Message
		from  int
		want  violations
	}{
		{"the round is answered behind", 0, []message.Message{user, two, tool(piece("a")), tool(piece("b"))}, 3, nil},
		{"it is not", 0, []message.Message{user, two, tool(piece("a")), user}, 3, violations{{message.UnansweredCall, 1, "b"}}},
		{"another one begins", 0, []message.Message{user, two, say}, 2, violations{{message.UnansweredCall, 1, "a"}, {message.UnansweredCall, 1, "b"}}},
		{"a second result", 0, []message.Message{user, two, tool(piece("a"), piece("b")), tool(piece("a"))}, 3, violations{{message.DuplicateResult, 3, "a"}}},
		{"a late result", 0, []message.Message{user, two, tool(piece("a")), user, tool(piece("b"))}, 4, violations{{message.DisplacedResult, 4, "b"}}},
		{
			"a result of the user does not count", message.Gemini,
			[]message.Message{user, two, {Role: message.RoleUser, Parts: []message.Part{piece("b")}}, tool(piece("a"))},
			3,
			violations{{message.UnansweredCall, 1, "b"}, {message.DisplacedResult, 3, "a"}},
		},
		{"an id of long ago", message.Portable, []message.Message{user, message.Assistant(call("abcdefgh1")), tool(piece("abcdefgh1")), message.Assistant(call("abcdefgh1")), tool(piece("abcdefgh1"))}, 3, violations{{message.ReusedID, 3, "abcdefgh1"}}},
		{"the answer is followed", message.Anthropic, []message.Message{user, say, user}, 2, nil},
		{"by the system alone", message.Anthropic, []message.Message{user, say, message.System("s")}, 2, violations{{message.EndsInAnswer, 1, ""}, {message.LateSystem, 2, ""}}},
		{"nothing is new, and the answer is the end", message.Anthropic, []message.Message{user, say}, 2, violations{{message.EndsInAnswer, 1, ""}}},
		{"the user comes behind the system", message.Anthropic, []message.Message{message.System("s"), user}, 1, nil},
		{"nobody does", message.Anthropic, []message.Message{message.System("s")}, 1, violations{{message.FirstNotUser, 0, ""}}},
		{"the same side again", message.Bedrock, []message.Message{user, say, say, user}, 2, violations{{message.RepeatedTurn, 2, ""}}},
		{"what is settled is not told again", 0, []message.Message{user, message.Assistant(), two, say}, 3, violations{{message.UnansweredCall, 2, "a"}, {message.UnansweredCall, 2, "b"}}},
		{"no messages", message.Portable, nil, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.rules.ViolationsFrom(tt.in, tt.from))
		})
	}
	require.Panics(t, func() { message.Portable.ViolationsFrom([]message.Message{user}, 2) }, "from is out of range")
	require.Panics(t, func() { message.Portable.ViolationsFrom([]message.Message{user}, -1) }, "from is out of range")
}
