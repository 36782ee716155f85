package eino_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
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
		"graph": func(t *testing.T, m model.ToolCallingChatModel, h *heard, streaming bool) error {
			g := compose.NewGraph[[]*schema.Message, *schema.Message]()
			require.NoError(t, g.AddChatModelNode("model", m))
			require.NoError(t, g.AddEdge(compose.START, "model"))
			require.NoError(t, g.AddEdge("model", compose.END))
			r, err := g.Compile(ctx)
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
