package frameworks

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"charm.land/fantasy"
	"github.com/stretchr/testify/require"
	adkagent "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model/openaimodel"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	trpctool "trpc.group/trpc-go/trpc-agent-go/tool"
	"trpc.group/trpc-go/trpc-agent-go/tool/function"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// handle is what a model asks for.
type handle struct {
	Handle string `json:"handle"`
	From   int    `json:"from,omitempty"`
	To     int    `json:"to,omitempty"`
	Search string `json:"search,omitempty"`
}

// read returns what an archive has under a handle.
func read(ctx context.Context, archive store.Store, in handle) (string, error) {
	arguments, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	parts, err := agent.Recall(archive, agent.RecallOptions{}).Call(ctx, string(arguments))
	var text strings.Builder
	for _, p := range parts {
		if t, ok := p.(message.Text); ok {
			text.WriteString(t.Text)
		}
	}
	return text.String(), err
}

func fantasyRecall(archive store.Store) fantasy.AgentTool {
	return fantasy.NewAgentTool(store.RecallTool, "Reads again what was cleared, by the handle in the placeholder.",
		func(ctx context.Context, in handle, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
			text, err := read(ctx, archive, in)
			return fantasy.NewTextResponse(text), err
		})
}

func trpcRecall(archive store.Store) trpctool.CallableTool {
	return function.NewFunctionTool(func(ctx context.Context, in handle) (string, error) { return read(ctx, archive, in) },
		function.WithName(store.RecallTool), function.WithDescription("Reads again what was cleared, by the handle in the placeholder."))
}

func adkRecall(archive store.Store) (adktool.Tool, error) {
	type output struct {
		Text string `json:"text"`
	}
	return functiontool.New(functiontool.Config{
		Name: store.RecallTool, Description: "Reads again what was cleared, by the handle in the placeholder.",
	}, func(ctx adkagent.Context, in handle) (output, error) {
		text, err := read(ctx, archive, in)
		return output{text}, err
	})
}

func TestRecall(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	h, err := store.Keep(t.Context(), archive, store.Content{Data: "the file"})
	require.NoError(t, err)
	arguments := `{"handle":"` + h.String() + `"}`

	answer, err := fantasyRecall(archive).Run(t.Context(), fantasy.ToolCall{ID: "1", Name: store.RecallTool, Input: arguments})
	require.NoError(t, err)
	require.Equal(t, "the file", answer.Content)

	var text any
	text, err = trpcRecall(archive).Call(t.Context(), []byte(arguments))
	require.NoError(t, err)
	require.Equal(t, "the file", text)

	tool, err := adkRecall(archive)
	require.NoError(t, err)
	loop := fakeprovider.ToolLoop{Tool: store.RecallTool, Calls: 1, Arguments: func(int) string { return arguments }}
	s, err := fakeprovider.Start(loop.Responder(), fakeprovider.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	m, err := openaimodel.NewModel(t.Context(), modelName, &openaimodel.ClientConfig{BaseURL: s.URL, APIKey: "k"})
	require.NoError(t, err)
	text, err = adkRun(t.Context(), m, tool, false)
	require.NoError(t, err)
	require.Equal(t, "done", text)
	require.Contains(t, string(s.Requests()[1].Body), "the file", "the model has read it")
}
