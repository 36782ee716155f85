package message_test

import (
	"fmt"
	"slices"
	"strings"
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

// TestTwins checks which call gets which piece if calls of one message have the same ID.
// A call or a text is written as its ID, an image as its ID in capitals.
func TestTwins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, calls, results, want string }{
		{"a message for each result", "aba", "aA b a", "0:aA 1:b 2:a"},
		{"the last one is missing", "aba", "aA b", "0:aA 1:b 2:none"},
		{"two texts in a message, and one for the second", "aa", "aa a", "0:aa 1:a"},
		{"two texts with images in a message", "aa", "aAaA", "0:aA 1:aA"},
		{"three texts in a message for two calls", "aa", "aaa", "0:a 1:aa"},
		{"images alone", "aa", "AA", "0:AA 1:none"},
		{"more results than calls, in one message", "aba", "abaA", "0:a 1:b 2:aA"},
		{"as many results as calls, after another", "aab", "aabaA", "0:aa 1:aA 2:b"},
		{"a result too many", "aa", strings.Repeat("a ", 3), "0:a 1:a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := []message.Message{message.User("go"), {Role: message.RoleAssistant}}
			for _, id := range tt.calls {
				h[1].Parts = append(h[1].Parts, call(string(id)))
			}
			for m := range strings.FieldsSeq(tt.results) {
				h = append(h, message.Message{Role: message.RoleTool})
				for _, id := range m {
					r := message.ToolResult{CallID: strings.ToLower(string(id)), Text: string(id)}
					if id < 'a' {
						r.Text, r.Content = "", message.Media{Type: "image/png", URL: string(id)}
					}
					h[len(h)-1].Parts = append(h[len(h)-1].Parts, r)
				}
			}
			for _, rules := range []message.Rules{0, message.Gemini, message.Anthropic, message.Bedrock} {
				got := rules.Repair(h).Messages
				require.NoError(t, rules.Check(got))
				require.Equal(t, tt.want, assigned(got), "%v", rules)
			}
		})
	}
}

// assigned returns the contents of the results of each call.
func assigned(h []message.Message) string {
	contents := map[string]string{}
	for _, m := range h {
		for r := range m.Results() {
			content := strings.Replace(r.Text, "no result: the call was interrupted", "none", 1)
			if image, ok := r.Content.(message.Media); ok {
				content = image.URL
			}
			contents[r.CallID] += strings.ReplaceAll(content, "\n", "")
		}
	}
	var all []string
	n := 0
	for _, m := range h {
		for c := range m.Calls() {
			all = append(all, fmt.Sprintf("%d:%s", n, contents[c.ID]))
			n++
		}
	}
	return strings.Join(all, " ")
}
