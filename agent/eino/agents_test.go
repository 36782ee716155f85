package eino_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/summarize"
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

// folding is summarize as a user of eino writes it.
func folding(w summarize.Writer, opts summarize.Options) middleware.Middleware {
	opts.Trigger, opts.Keep = trigger.Tokens(window/2), 4
	return summarize.New(w, opts)
}

// by has another model write.
func by(small model.BaseChatModel) summarize.Writer {
	return summarize.By(eino.Model(small), summarize.Ask{})
}

// TestSummaryIsNotHeard runs agents of eino that summarise: neither streams nor
// callbacks nor events of the run have a word of it.
func TestSummaryIsNotHeard(t *testing.T) {
	t.Parallel()
	runs := map[string]func(t *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) string{
		"react": func(t *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) string {
			t.Helper()
			a, err := react.NewAgent(t.Context(), &react.AgentConfig{
				ToolCallingModel: m, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t)}}, MaxStep: 3 * pages,
			})
			require.NoError(t, err)
			in, with := []*schema.Message{schema.UserMessage("Why?")}, agent.WithComposeOptions(compose.WithCallbacks(h.handler()))
			if !streaming {
				answer, err := a.Generate(t.Context(), in, with)
				require.NoError(t, err)
				return answer.Content
			}
			r, err := a.Stream(t.Context(), in, with)
			require.NoError(t, err)
			all, err := drain(r)
			require.NoError(t, err)
			answer, err := schema.ConcatMessages(all)
			require.NoError(t, err)
			return answer.Content
		},
		"adk": func(t *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) string {
			t.Helper()
			a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
				Name: "auditor", Description: "reads logs", Model: m, MaxIterations: 2 * pages,
				ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t)}}},
			})
			require.NoError(t, err)
			events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a, EnableStreaming: streaming}).
				Run(t.Context(), []adk.Message{schema.UserMessage("Why?")}, adk.WithCallbacks(h.handler()))
			said := ""
			for e, ok := events.Next(); ok; e, ok = events.Next() {
				require.NoError(t, e.Err)
				m, err := e.Output.MessageOutput.GetMessage()
				require.NoError(t, err)
				require.NotContains(t, m.Content, secret, "an event of the agent")
				said = m.Content
			}
			return said
		},
	}
	for name, run := range runs {
		for _, own := range []bool{true, false} {
			for _, fires := range []bool{true, false} {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, own model %v, fires itself %v, streaming %v", name, own, fires, streaming), func(t *testing.T) {
						t.Parallel()
						inner, other := newFake(writes(steps(pages))), newFake(writes(nil))
						var chat, small model.ToolCallingChatModel = inner, other
						if fires {
							chat, small = checked{inner}, checked{other}
						}
						w := by(small)
						if own {
							w = summarize.InConversation(eino.Model(chat), summarize.Ask{})
						}
						var told []middleware.Event
						observe := middleware.Observe(func(_ context.Context, e middleware.Event) { told = append(told, e) })
						h := &heard{}
						answer := run(t, eino.Wrap(chat, observe, folding(w, summarize.Options{})), h, streaming)
						h.wait.Wait()
						require.Equal(t, "The last page has it.", answer)

						summaries, shown := 0, 0
						for i, in := range append(inner.asked, other.asked...) {
							opts := append(inner.options, other.options...)[i]
							if !asksForSummary(in) {
								for _, m := range in {
									if strings.Contains(m.Content, secret) || len(m.UserInputMultiContent) > 0 && strings.Contains(fmt.Sprint(m.UserInputMultiContent), secret) {
										shown++
									}
								}
								continue
							}
							summaries++
							require.Equal(t, own, len(opts.Tools) > 0, "tools are declared in the conversation itself alone")
						}
						require.Positive(t, summaries)
						require.Positive(t, shown, "the model sees the summary")
						require.Equal(t, own, len(other.asked) == 0)
						for _, e := range h.events {
							require.NotContains(t, e, secret, "a callback of the run")
						}
						require.Len(t, h.events, 2*(pages+1), "callbacks fire for the calls of the run alone")
						for _, e := range told {
							require.NoError(t, e.Err, "%s", e)
						}
					})
				}
			}
		}
	}
}
