package eino_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// An agent of eino reads again what the chain around its model has cleared.
func TestToolRecalls(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	archive := store.NewMemory(0)
	recall, err := eino.Tool(agent.Recall(archive, agent.RecallOptions{}))
	require.NoError(t, err)
	read := reader(pages)
	inner := newFake(func(ctx context.Context, in []*schema.Message) ([]*schema.Message, error) {
		last := in[len(in)-1]
		if last.ToolName == store.RecallTool {
			return []*schema.Message{say(last.Content)}, nil
		}
		for _, m := range in {
			if handles := archived.In(m.Content); len(handles) > 0 {
				return []*schema.Message{schema.AssistantMessage("", []schema.ToolCall{{
					ID: "again", Type: "function", Function: schema.FunctionCall{Name: store.RecallTool, Arguments: fmt.Sprintf(`{"handle":%q}`, handles[0])},
				}})}, nil
			}
		}
		return read(ctx, in)
	})
	a, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: eino.Wrap(inner, middleware.With(middleware.Env{Archive: archive},
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(window / 2), Keep: 2}))),
		ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t), recall}},
		MaxStep:     3 * pages,
	})
	require.NoError(t, err)
	answer, err := a.Generate(ctx, []*schema.Message{schema.UserMessage("Why?")})
	require.NoError(t, err)
	require.Equal(t, "page 0: "+strings.Repeat("ok ", 300), answer.Content, "the first page was cleared, and the model has read it again")
	require.Len(t, inner.options[0].Tools, 2, "the model knows both tools")
}

// fixed is a tool that always answers the same.
type fixed struct {
	def   message.ToolDef
	parts []message.Part
	err   error
}

func (f fixed) Definition() message.ToolDef                          { return f.def }
func (f fixed) Call(context.Context, string) ([]message.Part, error) { return f.parts, f.err }

func TestToolAnswers(t *testing.T) {
	t.Parallel()
	def := message.ToolDef{Name: "look", Description: "Looks.", Parameters: `{"type":"object","properties":{"at":{"type":"string"}}}`}
	for want, f := range map[string]fixed{
		"":  {},
		"a": {parts: []message.Part{message.Text{Text: "a"}}},
		"a\n[image/png, 3 bytes, cannot be shown here]\n[cannot be shown here]": {parts: []message.Part{
			message.Text{Text: "a"}, message.Media{Type: "image/png", Data: "png"}, message.Opaque{Kind: "x"},
		}},
		"error: no such page; want 1 to 3": {err: errors.New("no such page; want 1 to 3")},
	} {
		f.def = def
		made, err := eino.Tool(f)
		require.NoError(t, err)
		info, err := made.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"look", "Looks."}, []string{info.Name, info.Desc})
		parameters, err := info.ToJSONSchema()
		require.NoError(t, err)
		require.Equal(t, 1, parameters.Properties.Len())
		got, err := made.InvokableRun(t.Context(), "{}")
		require.NoError(t, err, "an error would end the run")
		require.Equal(t, want, got)
	}

	made, err := eino.Tool(fixed{def: def, err: context.Canceled})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = made.InvokableRun(ctx, "{}")
	require.ErrorIs(t, err, context.Canceled, "who is gone needs no answer")
	made, err = eino.Tool(fixed{def: def, parts: []message.Part{message.Text{Text: "done"}}})
	require.NoError(t, err)
	got, err := made.InvokableRun(ctx, "{}")
	require.NoError(t, err)
	require.Equal(t, "done", got, "what is done is done")

	_, err = eino.Tool(fixed{def: message.ToolDef{Name: "look", Parameters: "no schema"}})
	require.ErrorContains(t, err, "tool look: parameters: ")
}
