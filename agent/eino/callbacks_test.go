package eino_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
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

// heard collects the callbacks of chat models.
type heard struct {
	mu     sync.Mutex
	events []string
	inputs [][]*schema.Message
	wait   sync.WaitGroup
}

func (h *heard) addf(info *callbacks.RunInfo, format string, args ...any) {
	if info == nil || info.Component != components.ComponentOfChatModel {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, info.Type+" "+fmt.Sprintf(format, args...))
}

func (h *heard) handler() callbacks.Handler {
	return callbacks.NewHandlerBuilder().
		OnStartFn(func(ctx context.Context, info *callbacks.RunInfo, in callbacks.CallbackInput) context.Context {
			if i := model.ConvCallbackInput(in); i != nil && info != nil && info.Component == components.ComponentOfChatModel {
				h.addf(info, "start")
				h.mu.Lock()
				h.inputs = append(h.inputs, i.Messages)
				h.mu.Unlock()
			}
			return ctx
		}).
		OnEndFn(func(ctx context.Context, info *callbacks.RunInfo, out callbacks.CallbackOutput) context.Context {
			if o := model.ConvCallbackOutput(out); o != nil {
				h.addf(info, "end: %s", o.Message.Content)
			}
			return ctx
		}).
		OnErrorFn(func(ctx context.Context, info *callbacks.RunInfo, err error) context.Context {
			h.addf(info, "error: %v", err)
			return ctx
		}).
		OnEndWithStreamOutputFn(func(ctx context.Context, info *callbacks.RunInfo, out *schema.StreamReader[callbacks.CallbackOutput]) context.Context {
			h.wait.Go(func() {
				defer out.Close()
				text := ""
				for {
					o, err := out.Recv()
					if err != nil {
						break
					}
					if m := model.ConvCallbackOutput(o); m != nil {
						text += m.Message.Content
					}
				}
				h.addf(info, "stream: %s", text)
			})
			return ctx
		}).Build()
}

// TestCallbacks calls a wrapped model in all ways that fire callbacks.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	type run func(t *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) error
	finish := func(r *schema.StreamReader[*schema.Message], err error) error {
		if err == nil {
			_, err = drain(r)
		}
		return err
	}
	ways := map[string]run{
		"alone": func(_ *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) error {
			name, _ := components.GetType(m)
			ctx := callbacks.InitCallbacks(ctx, &callbacks.RunInfo{Type: name, Component: components.ComponentOfChatModel}, h.handler())
			if streaming {
				return finish(m.Stream(ctx, long(3)))
			}
			_, err := m.Generate(ctx, long(3))
			return err
		},
		"chain": func(t *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) error {
			r, err := compose.NewChain[[]*schema.Message, *schema.Message]().AppendChatModel(m).Compile(ctx)
			require.NoError(t, err)
			if streaming {
				return finish(r.Stream(ctx, long(3), compose.WithCallbacks(h.handler())))
			}
			_, err = r.Invoke(ctx, long(3), compose.WithCallbacks(h.handler()))
			return err
		},
	}
	broken := errors.New("broken")
	for way, do := range ways {
		for name, fails := range map[string]bool{"answers": false, "fails": true} {
			for _, own := range []bool{true, false} {
				for _, streaming := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s/%s/own %v/streaming %v", way, name, own, streaming), func(t *testing.T) {
						t.Parallel()
						f := newFake(says(say("so"), say(" it is")))
						if fails {
							f.does = func(context.Context, []*schema.Message) ([]*schema.Message, error) { return nil, broken }
						}
						inner, typ := model.ToolCallingChatModel(f), "fake"
						if own {
							inner, typ = checked{f}, "Checked"
						}
						h := &heard{}
						err := do(t, eino.Wrap(inner, clearing()), h, streaming)
						h.wait.Wait()
						want := []string{typ + " start", typ + " end: so it is"}
						switch {
						case fails:
							require.ErrorIs(t, err, broken)
							want[1] = typ + " error: broken"
						case streaming:
							require.NoError(t, err)
							want[1] = typ + " stream: so it is"
						default:
							require.NoError(t, err)
						}
						require.Equal(t, want, h.events, "each exactly once")
						require.Equal(t, 2, sound(t, h.inputs[0], 1000), "the callback sees what the model sees")
						require.Equal(t, f.asked[0], h.inputs[0])
					})
				}
			}
		}
	}
}

const pages, window = 20, 3000

// TestReact runs the agent of flow/agent/react. Its default check of a stream
// looks at the first chunk alone.
func TestReact(t *testing.T) {
	t.Parallel()
	inner := newFake(reader(pages))
	a, err := react.NewAgent(t.Context(), &react.AgentConfig{
		ToolCallingModel: eino.Wrap(inner, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(window / 2), Keep: 2})),
		ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t)}},
		MaxStep:          3 * pages,
	})
	require.NoError(t, err)
	h := &heard{}
	r, err := a.Stream(t.Context(), []*schema.Message{schema.UserMessage("Why?")}, agent.WithComposeOptions(compose.WithCallbacks(h.handler())))
	require.NoError(t, err)
	all, err := drain(r)
	require.NoError(t, err)
	answer, err := schema.ConcatMessages(all)
	require.NoError(t, err)
	h.wait.Wait()
	require.Equal(t, "The last page has it.", answer.Content)
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
