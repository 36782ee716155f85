package issues

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tests/guarantee"
)

// A tool message without a result became a user message, and no fix said
// so, if something else was repaired and nobody minded the message.
func TestRepairLeavesWhatNobodyMinds(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: "not JSON"}),
		message.Result("c", "tool", "done"),
		{Role: message.RoleTool, Parts: []message.Part{message.Opaque{Kind: "note", Data: "kept"}}},
	}
	repaired := message.Rules(0).Repair(h)
	got, fixes := repaired.Messages, repaired.Fixes
	require.Len(t, fixes, 1, "the arguments are what is wrong")
	require.Equal(t, h[2:], got[2:], "nothing changes that no fix names")
}

// An empty id, as some local models give, broke no rule of OpenAI's, which
// refuses it.
func TestEmptyIDs(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{Name: "tool", Arguments: "{}"}),
		message.Result("", "tool", "done"),
	}
	for _, r := range []message.Rules{message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Bedrock, message.Mistral, message.Portable} {
		require.Error(t, r.Check(h), "%s", r)
		got := r.Repair(h).Messages
		require.NoError(t, r.Check(got), "%s", r)
		require.NoError(t, guarantee.AskOpenAI(got, true), "%s", r)
	}
	require.NoError(t, message.Gemini.Check(h), "Gemini has no ids")
}
