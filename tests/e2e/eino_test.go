package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	chat "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	flow "github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// numbered is the input of the tool.
type numbered struct {
	N int `json:"n" jsonschema:"required"`
}

func readNumbered(_ context.Context, in numbered) (string, error) { return page(in.N) }

func einoTools(t *testing.T) compose.ToolsNodeConfig {
	t.Helper()
	read, err := utils.InferTool(toolName, toolDoc, readNumbered)
	require.NoError(t, err)
	return compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}
}

func einoClient(t *testing.T, server *fakeprovider.Server) chat.ToolCallingChatModel {
	t.Helper()
	client, err := openai.NewChatModel(t.Context(), &openai.ChatModelConfig{APIKey: key, BaseURL: server.URL, Model: model})
	require.NoError(t, err)
	return client
}

// einoAgents run the errand with an agent of eino.
var einoAgents = map[string]func(t *testing.T, m chat.ToolCallingChatModel, streamed bool) (string, error){
	"react": runFlow,
	"adk":   runADK,
}

func runFlow(t *testing.T, m chat.ToolCallingChatModel, streamed bool) (string, error) {
	t.Helper()
	a, err := flow.NewAgent(t.Context(), &flow.AgentConfig{ToolCallingModel: m, ToolsConfig: einoTools(t), MaxStep: 3 * pages})
	require.NoError(t, err)
	in := []*schema.Message{schema.UserMessage(question)}
	if !streamed {
		out, err := a.Generate(t.Context(), in)
		if err != nil {
			return "", err
		}
		return out.Content, nil
	}
	pieces, err := a.Stream(t.Context(), in)
	if err != nil {
		return "", err
	}
	out, err := schema.ConcatMessageStream(pieces)
	if err != nil {
		return "", err
	}
	return out.Content, nil
}

func runADK(t *testing.T, m chat.ToolCallingChatModel, streamed bool) (string, error) {
	t.Helper()
	a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "reader", Description: "Reads ledgers.", Instruction: "Be brief.",
		Model: m, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: einoTools(t)}, MaxIterations: 2 * pages,
	})
	require.NoError(t, err)
	events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a, EnableStreaming: streamed}).
		Run(t.Context(), []adk.Message{schema.UserMessage(question)})
	var last string
	for {
		event, ok := events.Next()
		if !ok {
			return last, nil
		}
		if event.Err != nil {
			return "", event.Err
		}
		out, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return "", err
		}
		last = out.Content
	}
}

func TestEino(t *testing.T) {
	t.Parallel()
	for name, run := range einoAgents {
		for _, streamed := range []bool{false, true} {
			for _, parallel := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s, streamed %t, %d at once", name, streamed, parallel), func(t *testing.T) {
					t.Parallel()
					server := serve(t, parallel, nil)
					var e edits
					m := eino.Options{Model: model, Budget: budget()}.Wrap(einoClient(t, server), e.chain()...)
					got, err := run(t, m, streamed)
					require.NoError(t, err)
					require.Equal(t, answer, got)
					requireFitting(t, server, &e, pages/parallel+1, streamed)
				})
			}
		}
	}
}
