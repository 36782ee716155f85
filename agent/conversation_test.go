package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// An answer has a third of a byte for each token of the room, and at most the limit.
func TestRecallFollowsTheRoom(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	h := keep(t, s, strings.Repeat("a line of a long file\n", 5000))
	for _, c := range []struct{ room, limit, most int }{
		{0, 0, 16_000}, {8_500, 0, 2_833}, {8_500, 2_000, 2_000}, {200, 0, 1_000}, {1_000_000, 0, 16_000}, {1_000_000, 20_000, 20_000},
	} {
		ctx := agent.InConversation(t.Context(), agent.Conversation{Room: c.room})
		answer := called(ctx, t, agent.Recall(s, agent.RecallOptions{Limit: c.limit}), h, "")
		require.LessOrEqual(t, len(answer), c.most, "%+v", c)
		require.Greater(t, len(answer), c.most-300, "%+v", c)
		require.Regexp(t, `^\[lines 1-\d+ of 5000 of \w+; more: from=\d+\]\n`, answer)
	}
}

// An answer that the conversation had before has a note, and no more bytes than allowed.
func TestRecallNotesRepeatedAnswers(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	h := keep(t, s, strings.Repeat("a line of a long file\n", 500))
	tool := agent.Recall(s, agent.RecallOptions{})
	var history []message.Message
	for n := range 4 {
		ctx := agent.InConversation(t.Context(), agent.Conversation{Room: 6000, History: append([]message.Message{message.User("Go on.")}, history...)})
		answer := called(ctx, t, tool, h, `, "from": 3`)
		require.LessOrEqual(t, len(answer), 2000)
		note := fmt.Sprintf("\n[%d earlier calls had this answer. Write down what you need of it, since it may be cleared again; "+
			"for less at a time, use from and to, or search]", n)
		require.Equal(t, n > 0, strings.HasSuffix(answer, note), "%s", answer)
		require.NotContains(t, called(ctx, t, tool, h, `, "from": 4`), "earlier calls", "another part")
		call := message.ToolCall{ID: "c", Name: store.RecallTool, Arguments: fmt.Sprintf(`{"handle": %q, "from": 3}`, h)}
		if n == 0 { // another call and another tool under the same ID
			history = append(history, message.Assistant(message.ToolCall{ID: "c", Name: "read", Arguments: call.Arguments}),
				message.Result("c", "read", answer))
		}
		history = append(history, message.Assistant(call), message.Result("c", store.RecallTool, answer))
	}
}

func called(ctx context.Context, t *testing.T, tool agent.Tool, h any, more string) string {
	t.Helper()
	parts, err := tool.Call(ctx, fmt.Sprintf(`{"handle": "%v"%s}`, h, more))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	text, ok := parts[0].(message.Text)
	require.True(t, ok)
	return text.Text
}
