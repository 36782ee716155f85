package message_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

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
