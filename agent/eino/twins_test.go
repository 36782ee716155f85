package eino_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/fit"
)

// TestRepeatedID has three calls of one answer, of which two have the same ID, as local
// models give them. Each call must get its own result, image included.
func TestRepeatedID(t *testing.T) {
	t.Parallel()
	call := func(id, n string) schema.ToolCall {
		return schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: "look", Arguments: fmt.Sprintf(`{"n":%s}`, n)}}
	}
	url := "https://example.com/a.png"
	first := schema.ToolMessage("", "a")
	first.UserInputMultiContent = []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "0"},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}}},
	}
	history := []*schema.Message{
		schema.UserMessage("go"),
		schema.AssistantMessage("", []schema.ToolCall{call("a", "0"), call("b", "1"), call("a", "2")}),
		first, schema.ToolMessage("1", "b"), schema.ToolMessage("2", "a"),
	}
	for _, rules := range []message.Rules{message.Anthropic, message.Gemini, message.Bedrock, message.OpenAI, message.Mistral} {
		inner := newFake(says(schema.AssistantMessage("done", nil)))
		_, err := eino.Wrap(inner, fit.New(fit.Options{Rules: rules})).Generate(t.Context(), history)
		require.NoError(t, err, "%v", rules)
		sent := inner.asked[0]
		got := map[string]string{}
		for _, m := range sent {
			if m.Role == schema.Tool {
				got[m.ToolCallID] += m.Content
				for _, p := range m.UserInputMultiContent {
					got[m.ToolCallID] += p.Text
					if p.Image != nil {
						got[m.ToolCallID] += " image"
					}
				}
			}
		}
		require.Len(t, got, 3, "%v: %v", rules, got)
		for n, c := range sent[1].ToolCalls {
			require.True(t, strings.HasPrefix(got[c.ID], fmt.Sprint(n)), "%v: call %d has the result %q", rules, n, got[c.ID])
			if rules&(message.OpenAI|message.Mistral) == 0 {
				require.Equal(t, n == 0, strings.HasSuffix(got[c.ID], " image"), "%v: call %d has the result %q", rules, n, got[c.ID])
			}
		}
		in, err := eino.Import(sent)
		require.NoError(t, err)
		require.NoError(t, rules.Check(in), "%v", rules)
	}
}
