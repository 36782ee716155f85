package clients

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// recallTool declares the tool for a request, and returns what answers its calls.
func recallTool(archive store.Store) (openai.ChatCompletionToolUnionParam, func(context.Context, string) (string, error)) {
	tool := agent.Recall(archive, agent.RecallOptions{})
	def := tool.Definition()
	var parameters openai.FunctionParameters
	_ = json.Unmarshal([]byte(def.Parameters), &parameters) // it is an object
	declared := openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: def.Name, Description: openai.String(def.Description), Parameters: parameters,
	})
	return declared, func(ctx context.Context, arguments string) (string, error) {
		parts, err := tool.Call(ctx, arguments)
		var text strings.Builder
		for _, p := range parts {
			if t, ok := p.(message.Text); ok {
				text.WriteString(t.Text)
			}
		}
		return text.String(), err
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	h, err := store.Keep(t.Context(), archive, store.Content{Data: "the file"})
	require.NoError(t, err)
	loop := fakeprovider.ToolLoop{Tool: store.RecallTool, Calls: 1, Arguments: func(int) string { return `{"handle":"` + h.String() + `"}` }}
	s, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })

	tool, answer := recallTool(archive)
	client := openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"))
	request := openai.ChatCompletionNewParams{
		Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go on")},
		Tools: []openai.ChatCompletionToolUnionParam{tool},
	}
	said, err := client.Chat.Completions.New(t.Context(), request)
	require.NoError(t, err)
	call := said.Choices[0].Message.ToolCalls[0]
	text, err := answer(t.Context(), call.Function.Arguments)
	require.NoError(t, err)
	require.Equal(t, "the file", text)
	request.Messages = append(request.Messages, said.Choices[0].Message.ToParam(), openai.ToolMessage(text, call.ID))
	said, err = client.Chat.Completions.New(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "done", said.Choices[0].Message.Content)
}
