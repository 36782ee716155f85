package eino_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// chunks answers a call by a stream of these pieces.
type chunks func(ctx context.Context, in []*schema.Message) ([]*schema.Message, error)

// fake is a chat model that does what it is told and remembers what it was
// asked. Generate puts the chunks together.
type fake struct {
	*seen

	does  chunks
	tools []*schema.ToolInfo
	after func(w *schema.StreamWriter[*schema.Message]) // what a stream does behind its chunks
}

// seen is what a fake and those made from it by WithTools have seen.
type seen struct {
	mu      sync.Mutex
	asked   [][]*schema.Message
	options []*model.Options
	running sync.WaitGroup
}

func newFake(does chunks) *fake { return &fake{seen: new(seen), does: does} }

func says(of ...*schema.Message) chunks {
	return func(context.Context, []*schema.Message) ([]*schema.Message, error) { return of, nil }
}

func (f *fake) see(in []*schema.Message, opts []model.Option) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, slices.Clone(in))
	f.options = append(f.options, model.GetCommonOptions(&model.Options{Tools: f.tools}, opts...))
}

func (f *fake) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	f.see(in, opts)
	of, err := f.does(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(of) == 1 {
		return of[0], nil
	}
	return schema.ConcatMessages(of)
}

func (f *fake) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	f.see(in, opts)
	of, err := f.does(ctx, in)
	if err != nil {
		return nil, err
	}
	r, w := schema.Pipe[*schema.Message](0)
	f.running.Go(func() {
		defer w.Close()
		for _, c := range of {
			if w.Send(c, nil) {
				return
			}
		}
		if f.after != nil {
			f.after(w)
		}
	})
	return r, nil
}

func (f *fake) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	c := *f
	c.tools = tools
	return &c, nil
}

// checked is a fake that fires callbacks itself.
type checked struct{ *fake }

func (c checked) IsCallbacksEnabled() bool { return true }
func (c checked) GetType() string          { return "Checked" }

func (c checked) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	f := *c.fake
	f.tools = tools
	return checked{&f}, nil
}

func (c checked) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	ctx = callbacks.EnsureRunInfo(ctx, c.GetType(), components.ComponentOfChatModel)
	ctx = callbacks.OnStart(ctx, &model.CallbackInput{Messages: in})
	out, err := c.fake.Generate(ctx, in, opts...)
	if err != nil {
		callbacks.OnError(ctx, err)
		return nil, err
	}
	callbacks.OnEnd(ctx, &model.CallbackOutput{Message: out})
	return out, nil
}

func (c checked) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	ctx = callbacks.EnsureRunInfo(ctx, c.GetType(), components.ComponentOfChatModel)
	ctx = callbacks.OnStart(ctx, &model.CallbackInput{Messages: in})
	out, err := c.fake.Stream(ctx, in, opts...)
	if err != nil {
		callbacks.OnError(ctx, err)
		return nil, err
	}
	_, out = callbacks.OnEndWithStreamOutput(ctx, out)
	return out, nil
}

func say(text string) *schema.Message { return ended("stop", schema.AssistantMessage(text, nil)) }

func calls(id, args string) *schema.Message {
	return ended("tool_calls", schema.AssistantMessage("", []schema.ToolCall{
		{ID: id, Type: "function", Function: schema.FunctionCall{Name: "read", Arguments: args}},
	}))
}

// ended sets the finish reason of an answer.
func ended(reason string, m *schema.Message) *schema.Message {
	m.ResponseMeta = &schema.ResponseMeta{FinishReason: reason}
	return m
}

// long is a conversation in which the tool was called so often.
func long(rounds int) []*schema.Message {
	msgs := []*schema.Message{schema.SystemMessage("You fix builds."), schema.UserMessage("Why does it fail?")}
	for i := range rounds {
		id := fmt.Sprint("c", i)
		c := calls(id, fmt.Sprintf(`{"page":%d}`, i))
		c.Extra = map[string]any{"id": id}
		r := schema.ToolMessage(strings.Repeat("line ", 100), id, schema.WithToolName("read"))
		r.Extra = map[string]any{"id": id}
		msgs = append(msgs, c, r)
	}
	return append(msgs, schema.UserMessage("Well?"))
}

// reader is a model that reads pages until it has all, and then answers. It
// decides by what it is asked.
func reader(pages int) chunks {
	return func(_ context.Context, in []*schema.Message) ([]*schema.Message, error) {
		read := 0
		for _, m := range in {
			if m.Role == schema.Tool {
				read++
			}
		}
		if read == pages {
			return []*schema.Message{say("The last "), say("page has it.")}, nil
		}
		index := 0
		c := calls(fmt.Sprint("c", read), `{"pa`)
		c.ToolCalls[0].Index = &index
		rest := schema.AssistantMessage("", []schema.ToolCall{{Index: &index, Function: schema.FunctionCall{Arguments: fmt.Sprintf(`ge":%d}`, read)}}})
		return []*schema.Message{c, rest}, nil
	}
}

type page struct {
	Page int `json:"page"`
}

func readTool(t *testing.T) tool.InvokableTool {
	t.Helper()
	read, err := utils.InferTool("read", "Reads a page of the log.", func(_ context.Context, in page) (string, error) {
		return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("ok ", 300)), nil
	})
	require.NoError(t, err)
	return read
}

// sound checks that a provider would take a request, and returns how many
// results in it are cleared.
func sound(t *testing.T, in []*schema.Message, window int) (cleared int) {
	t.Helper()
	msgs, err := eino.Import(in)
	require.NoError(t, err)
	require.NoError(t, message.Check(msgs))
	size := 0
	for _, m := range in {
		size += len(m.Content)
		if m.Content == "[cleared]" {
			cleared++
		}
	}
	require.LessOrEqual(t, size/4, window, "tokens of the request")
	return cleared
}
