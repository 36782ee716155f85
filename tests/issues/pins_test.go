package issues

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// pairsOfCalls are rounds of two calls; the results of the first one are in the order b, a.
func pairsOfCalls(n int) []message.Message {
	h := []message.Message{message.User("do it")}
	for i := range n {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		first, second := message.Result(a, "tool", strings.Repeat(a+" ", 200)), message.Result(b, "tool", strings.Repeat(b+" ", 200))
		if i == 0 {
			first, second = second, first
		}
		h = append(h, message.Assistant(message.ToolCall{ID: a, Name: "tool", Arguments: "{}"}, message.ToolCall{ID: b, Name: "tool", Arguments: "{}"}),
			first, second)
	}
	return h
}

// A pin on an old message was ignored in all later calls if the results of an earlier round had not been in
// the order of their calls: the notes of old messages were those of the call before.
func TestPinAfterReorderedResults(t *testing.T) {
	t.Parallel()
	trimming := trim.New(trim.Options{Trigger: trigger.Messages(12), TargetTokens: 2000, PreserveStart: -1, PreserveEnd: 3})
	chain := middleware.Chain(trimming)
	h := pairsOfCalls(6)
	sent, events := apply(t, chain, h)
	require.Equal(t, middleware.Edited, events[0].Kind)
	require.Less(t, len(sent.Messages), len(h), "old messages are left out")
	has := func(m message.Message) bool { return slices.ContainsFunc(sent.Messages, m.Equal) }
	require.False(t, has(h[4]))
	h[4].Hints.Pinned = true // in the second round
	for range 2 {
		sent, _ = apply(t, chain, h)
		require.True(t, has(h[4]), "the pinned message is sent again")
		h = more(h, 1)
	}
}
