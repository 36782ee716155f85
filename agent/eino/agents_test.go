package eino_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

const pages, window = 20, 3000

// TestReact runs the agent of flow/agent/react. Its default check of a stream
// looks at the first chunk alone.
func TestReact(t *testing.T) {
	t.Parallel()
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprint("streaming ", streaming), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			inner := newFake(reader(pages))
			a, err := react.NewAgent(ctx, &react.AgentConfig{
				ToolCallingModel: eino.Wrap(inner, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(window / 2), Keep: 2})),
				ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t)}},
				MaxStep:          3 * pages,
			})
			require.NoError(t, err)
			h := &heard{}
			in := []*schema.Message{schema.UserMessage("Why?")}
			with := agent.WithComposeOptions(compose.WithCallbacks(h.handler()))
			var answer *schema.Message
			if streaming {
				r, err := a.Stream(ctx, in, with)
				require.NoError(t, err)
				all, err := drain(r)
				require.NoError(t, err)
				answer, err = schema.ConcatMessages(all)
				require.NoError(t, err)
			} else {
				answer, err = a.Generate(ctx, in, with)
				require.NoError(t, err)
			}
			h.wait.Wait()
			require.Equal(t, "The last page has it.", answer.Content)
			checkRun(t, inner, h)
		})
	}
}

// checkRun looks at what the model saw in a run of so many tool calls.
func checkRun(t *testing.T, inner *fake, h *heard) {
	t.Helper()
	require.Len(t, inner.asked, pages+1)
	cleared := 0
	for i, in := range inner.asked {
		cleared = sound(t, in, window)
		require.Equal(t, in, h.inputs[i], "callbacks see what the model sees")
		require.Len(t, inner.options[i].Tools, 1, "tools reach the model")
	}
	require.Positive(t, cleared)
	require.Len(t, h.events, 2*(pages+1), "callbacks fire once")
}

// TestADK runs a ChatModelAgent of eino's ADK and looks at its state.
func TestADK(t *testing.T) {
	t.Parallel()
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprint("streaming ", streaming), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			inner := newFake(reader(pages))
			state := &states{}
			a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
				Name: "auditor", Description: "reads logs", Instruction: "Be brief.",
				Model:         eino.Wrap(inner, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(window / 2), Keep: 2})),
				ToolsConfig:   adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t)}}},
				MaxIterations: 2 * pages,
				Handlers:      []adk.ChatModelAgentMiddleware{state},
			})
			require.NoError(t, err)
			h := &heard{}
			events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: streaming}).
				Run(ctx, []adk.Message{schema.UserMessage("Why?")}, adk.WithCallbacks(h.handler()))
			last := ""
			for {
				e, ok := events.Next()
				if !ok {
					break
				}
				require.NoError(t, e.Err)
				m, err := e.Output.MessageOutput.GetMessage()
				require.NoError(t, err)
				last = m.Content
			}
			h.wait.Wait()
			require.Equal(t, "The last page has it.", last)
			checkRun(t, inner, h)
			require.Len(t, state.last, 2*pages+2) // and the instruction and the question
			for _, m := range state.last {
				require.NotEqual(t, "[cleared]", m.Content, "the agent's state is whole")
			}
		})
	}
}

// states keeps the newest state of an agent.
type states struct {
	*adk.BaseChatModelAgentMiddleware

	last []*schema.Message
}

func (s *states) BeforeModelRewriteState(ctx context.Context, st *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	s.last = st.Messages
	return ctx, st, nil
}
