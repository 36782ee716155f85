package eino_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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

// secret stands in every summary, and nowhere else.
const secret = "SUMMARY"

const summaryText = "Goal: " + secret + ", find out why it fails.\nCurrent state: read.\nDecisions and reasons: none.\n" +
	"Errors and repairs: reading.\nNext steps: read on."

// asksForSummary reports whether a request is for a summary: with a record, or in
// the conversation itself.
func asksForSummary(in []*schema.Message) bool {
	text := in[len(in)-1].Content
	for _, p := range in[len(in)-1].UserInputMultiContent {
		text += p.Text
	}
	return strings.Contains(text, "Write a summary of what was said and done")
}

// writes is a model that writes summaries, and else does as it is told.
func writes(does chunks) chunks {
	return func(ctx context.Context, in []*schema.Message) ([]*schema.Message, error) {
		if asksForSummary(in) {
			return []*schema.Message{say(summaryText)}, nil
		}
		return does(ctx, in)
	}
}

// steps reads so many pages, counting its own calls: pages are folded away.
func steps(pages int) chunks {
	n := 0
	return func(context.Context, []*schema.Message) ([]*schema.Message, error) {
		n++
		if n > pages {
			return []*schema.Message{say("The last "), say("page has it.")}, nil
		}
		return []*schema.Message{calls(fmt.Sprint("c", n), fmt.Sprintf(`{"page":%d}`, n))}, nil
	}
}
