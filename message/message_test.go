package message_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

func TestPartsOfAMessage(t *testing.T) {
	t.Parallel()
	m := message.Assistant(
		message.Thinking{Text: "hm"}, message.Text{Text: "a"}, call("1"), nil, message.Text{Text: "b\n"}, piece("x"), call("2"), piece("x"), &message.Text{Text: "no part"},
	)
	require.Equal(t, "a\nb\n", m.Text())
	require.Equal(t, []message.ToolCall{call("1").(message.ToolCall), call("2").(message.ToolCall)}, slices.Collect(m.Calls()))
	require.Equal(t, []message.ToolResult{piece("x").(message.ToolResult), piece("x").(message.ToolResult)}, slices.Collect(m.Results()))
	require.True(t, m.HasCalls())
	for range m.Calls() {
		break // may be left early
	}

	var zero message.Message
	require.Empty(t, zero.Text())
	require.False(t, zero.HasCalls())
	require.Empty(t, slices.Collect(zero.Results()))
}

func TestEqual(t *testing.T) {
	t.Parallel()
	a := message.Assistant(message.Text{Text: "a"}, message.ToolResult{Content: message.Media{Data: "x"}})
	b := message.Assistant(message.Text{Text: "a"}, message.ToolResult{Content: message.Media{Data: "x"}})
	require.True(t, a.Equal(b))
	b.Parts[1] = message.ToolResult{Content: message.Media{Data: "y"}}
	require.False(t, a.Equal(b))
	require.True(t, message.Message{Parts: []message.Part{}}.Equal(message.Message{}), "no parts are no parts")
	require.False(t, message.Message{Parts: []message.Part{nil}}.Equal(message.Message{}))
}

func TestKnownPart(t *testing.T) {
	t.Parallel()
	for _, p := range []message.Part{
		message.Text{},
		message.Thinking{},
		message.Media{},
		message.ToolCall{},
		message.Opaque{},
		message.ToolResult{},
		message.ToolResult{Content: message.Media{}},
		message.ToolResult{Content: message.Text{}},
	} {
		require.True(t, message.KnownPart(p), "%T %v", p, p)
	}
	for _, p := range []message.Part{
		nil, &message.Text{}, (*message.Media)(nil),
		message.ToolResult{Content: &message.Media{}},
		message.ToolResult{Content: message.ToolResult{Content: &message.Text{}}},
		struct{ message.Part }{message.Text{}},
	} {
		require.False(t, message.KnownPart(p), "%T %v", p, p)
	}
}

// What a provider has made of earlier messages is no turn: a conversation may begin with it, and an answer may follow.
func TestIsCompaction(t *testing.T) {
	t.Parallel()
	block := message.Assistant(message.Opaque{Kind: "compaction", Data: `{"type":"compaction"}`})
	answer := message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.ToolCall{ID: "a", Name: "f", Arguments: "{}"})
	result := message.Result("a", "f", "text")
	require.True(t, block.IsCompaction())
	for _, m := range []message.Message{
		answer, message.User("a"),
		{Role: message.RoleAssistant},
		message.Assistant(message.Opaque{Kind: "compaction", Data: "{}"}, message.Text{Text: "a"}), message.Assistant(message.Opaque{Kind: "search", Data: "{}"}),
	} {
		require.False(t, m.IsCompaction(), "%v", m)
	}
	for _, rules := range []message.Rules{message.Anthropic, message.Anthropic | message.InPlace, message.OpenAIResponses} {
		for _, msgs := range [][]message.Message{{block, answer, result}, {block, message.User("a")}, {message.System("s"), block, answer, result}} {
			require.NoError(t, rules.Check(msgs))
			require.Empty(t, rules.Repair(msgs).Fixes)
		}
	}
	require.Error(t, message.Anthropic.Check([]message.Message{answer, result}))
}
