package eino_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func clearing() middleware.Middleware {
	return contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1})
}

// look is a middleware that sees requests and answers.
func look(at func(req *middleware.Request, resp *middleware.Response, err error)) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			resp, err := next(ctx, &r, emit)
			at(req, resp, err)
			return resp, err
		}
	}
}

func drain(r *schema.StreamReader[*schema.Message]) (all []*schema.Message, err error) {
	defer r.Close()
	for {
		c, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
}

// both runs a test with Generate and with Stream.
func both(t *testing.T, test func(t *testing.T, ask func(m model.BaseChatModel, in []*schema.Message, opts ...model.Option) (*schema.Message, error))) {
	t.Helper()
	t.Run("generate", func(t *testing.T) {
		t.Parallel()
		test(t, func(m model.BaseChatModel, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
			return m.Generate(t.Context(), in, opts...)
		})
	})
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		test(t, func(m model.BaseChatModel, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
			r, err := m.Stream(t.Context(), in, opts...)
			if err != nil {
				return nil, err
			}
			all, err := drain(r)
			if err != nil {
				return nil, err
			}
			return schema.ConcatMessages(all)
		})
	})
}

func TestModelSeesTheView(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, ask func(model.BaseChatModel, []*schema.Message, ...model.Option) (*schema.Message, error)) {
		answer := say("Because.")
		answer.Extra = map[string]any{"signature": []byte("s")}
		inner := newFake(says(answer))
		m := eino.Wrap(inner, clearing())
		in := long(3)
		before, err := eino.Import(in)
		require.NoError(t, err)
		got, err := ask(m, in)
		require.NoError(t, err)
		require.Equal(t, "Because.", got.Content)
		require.Equal(t, []byte("s"), got.Extra["signature"], "the answer is the model's own")

		seen := inner.asked[0]
		require.Len(t, seen, len(in))
		for i := range in {
			if i == 3 || i == 5 {
				want := *in[i]
				want.Content = "[cleared]"
				require.Equal(t, &want, seen[i])
				continue
			}
			require.Same(t, in[i], seen[i], "message %d is the caller's own", i)
		}
		after, err := eino.Import(in)
		require.NoError(t, err)
		require.Equal(t, before, after, "the caller's messages stay as they are")

		_, err = ask(m, append(in, say("Because."), schema.UserMessage("Sure?")))
		require.NoError(t, err)
		for i := range seen {
			require.Equal(t, seen[i], inner.asked[1][i], "the beginning stays as it is")
		}
	})
}

func TestToolsAndOptions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, ask func(model.BaseChatModel, []*schema.Message, ...model.Option) (*schema.Message, error)) {
		var reqs []*middleware.Request
		inner := newFake(says(say("ok")))
		budget := &middleware.Budget{Window: 1000}
		session := func(ctx context.Context) string { return fmt.Sprint("session of ", ctx.Err()) }
		m := eino.Options{Model: "m1", Budget: budget, Conversation: session}.Wrap(inner, look(func(req *middleware.Request, _ *middleware.Response, _ error) { reqs = append(reqs, req) }))
		info, err := readTool(t).Info(t.Context())
		require.NoError(t, err)
		bound, err := m.WithTools([]*schema.ToolInfo{info})
		require.NoError(t, err)
		in := []*schema.Message{schema.UserMessage("go")}
		other := &schema.ToolInfo{Name: "other", Desc: "d"}

		_, err = ask(m, in)
		require.NoError(t, err)
		_, err = ask(bound, in, model.WithTemperature(0.5), model.WithToolChoice(schema.ToolChoiceForced))
		require.NoError(t, err)
		_, err = ask(bound, in, model.WithTools([]*schema.ToolInfo{other}), model.WithModel("m2"))
		require.NoError(t, err)

		require.Empty(t, reqs[0].Tools)
		require.Equal(t, "m1", reqs[0].Model)
		require.Equal(t, budget, reqs[0].Budget)
		require.Equal(t, "session of <nil>", reqs[0].Conversation)
		require.Len(t, reqs[1].Tools, 1)
		require.Equal(t, "read", reqs[1].Tools[0].Name)
		require.JSONEq(t, `{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"],"additionalProperties":false}`, stripSchema(reqs[1].Tools[0].Parameters))
		require.Len(t, reqs[1].Params, 2)
		require.Equal(t, []message.ToolDef{{Name: "other", Description: "d"}}, reqs[2].Tools)
		require.Equal(t, "m2", reqs[2].Model)

		require.Same(t, info, inner.options[1].Tools[0])
		require.InDelta(t, 0.5, *inner.options[1].Temperature, 0.001)
		require.Equal(t, schema.ToolChoiceForced, *inner.options[1].ToolChoice)
		require.Equal(t, []*schema.ToolInfo{other}, inner.options[2].Tools)
	})
}

// stripSchema leaves out what depends on the version of the schema library.
func stripSchema(s string) string {
	return strings.Replace(s, `"$schema":"https://json-schema.org/draft/2020-12/schema",`, "", 1)
}

func TestMiddlewareChangesToolsAndOptions(t *testing.T) {
	t.Parallel()
	inner := newFake(says(say("ok")))
	m := eino.Wrap(inner, func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Tools = append(slices.Clip(r.Tools), message.ToolDef{Name: "recall", Parameters: `{"type":"object","properties":{"handle":{"type":"string"}}}`})
			r.Params = append(slices.Clip(req.Params.([]model.Option)), model.WithTemperature(0))
			return next(ctx, &r, emit)
		}
	})
	mine := &schema.ToolInfo{Name: "mine"}
	_, err := m.Generate(t.Context(), long(1), model.WithTools([]*schema.ToolInfo{mine}), model.WithTopP(0.1))
	require.NoError(t, err)
	o := inner.options[0]
	require.Len(t, o.Tools, 2)
	require.Same(t, mine, o.Tools[0])
	require.Equal(t, "recall", o.Tools[1].Name)
	s, err := o.Tools[1].ToJSONSchema()
	require.NoError(t, err)
	require.NotNil(t, s.Properties)
	require.Zero(t, *o.Temperature)
	require.InDelta(t, 0.1, *o.TopP, 0.001)
}

func TestMiddlewareChangesTheAnswer(t *testing.T) {
	t.Parallel()
	change := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, nil)
			if err != nil {
				return nil, err
			}
			r := *resp
			r.Message.Parts = []message.Part{message.Text{Text: "better"}}
			r.Usage.Input = 99
			return &r, nil
		}
	}
	answer := say("good")
	answer.Extra = map[string]any{"id": "m1"}
	answer.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop", Usage: &schema.TokenUsage{PromptTokens: 9, CompletionTokens: 1}}
	both(t, func(t *testing.T, ask func(model.BaseChatModel, []*schema.Message, ...model.Option) (*schema.Message, error)) {
		got, err := ask(eino.Wrap(newFake(says(answer)), change), long(1))
		require.NoError(t, err)
		require.Equal(t, "better", got.Content)
		require.Equal(t, map[string]any{"id": "m1"}, got.Extra)
		require.Equal(t, "stop", got.ResponseMeta.FinishReason)
		require.Equal(t, 99, got.ResponseMeta.Usage.PromptTokens)
		require.Equal(t, 9, answer.ResponseMeta.Usage.PromptTokens)
	})
}

type apiError struct{ HTTPStatusCode int }

func (e *apiError) Error() string { return "the provider says no" }

func TestBadRequests(t *testing.T) {
	t.Parallel()
	m := eino.Wrap(newFake(says(say("ok"))), clearing())
	for name, in := range map[string][]*schema.Message{
		"message 0: nil":              {nil},
		`message 1: role "developer"`: {schema.UserMessage("go"), {Role: "developer"}},
	} {
		_, err := m.Generate(t.Context(), in)
		require.ErrorContains(t, err, name)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
		_, err = m.Stream(t.Context(), in)
		require.ErrorContains(t, err, name)
	}
	_, err := m.Generate(t.Context(), long(1), model.WithTools([]*schema.ToolInfo{nil}))
	require.ErrorContains(t, err, "eino: tool 0 is nil")

	lost := eino.Wrap(newFake(says(say("ok"))), func(next middleware.Model) middleware.Model {
		return func(_ context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			return next(context.Background(), req, emit) //nolint:contextcheck // this is what is tested
		}
	})
	_, err = lost.Generate(t.Context(), long(1))
	require.ErrorContains(t, err, "the context of the call was lost")

	odd := eino.Wrap(newFake(says(say("ok"))), func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := *req
			r.Params = "hot"
			return next(ctx, &r, emit)
		}
	})
	_, err = odd.Generate(t.Context(), long(1))
	require.ErrorContains(t, err, "Request.Params is string, want []model.Option or nil")

	require.PanicsWithValue(t, "eino: Wrap: want a model", func() { eino.Wrap(nil) })
	require.PanicsWithValue(t, "eino: Wrap: Budget.Window is -1 tokens, want more than 0", func() {
		eino.Options{Budget: &middleware.Budget{Window: -1}}.Wrap(newFake(nil))
	})
}

// A message with the key is sent as it is, from the call on that finds it.
func TestPinnedKey(t *testing.T) {
	t.Parallel()
	history := long(10)
	inner := newFake(says(say("done")))
	chat := eino.Wrap(inner, clearing())
	whole := history[3].Content
	for _, pinned := range []bool{false, true, false} {
		history[3].Extra = map[string]any{eino.PinnedKey: pinned}
		_, err := chat.Generate(t.Context(), history)
		require.NoError(t, err)
		sent := inner.asked[len(inner.asked)-1]
		require.Equal(t, pinned, sent[3].Content == whole, "pinned: %v", pinned)
		require.NotEqual(t, whole, sent[5].Content)
	}
}

// Memory marks and priorities reach the middlewares, also as JSON has them.
func TestHintKeys(t *testing.T) {
	t.Parallel()
	for _, priority := range []any{message.PriorityLow, 1, 1.0} {
		msgs, err := eino.Import([]*schema.Message{
			{Role: schema.User, Content: "a", Extra: map[string]any{eino.MemoryKey: true, eino.PriorityKey: priority}},
		})
		require.NoError(t, err)
		require.Equal(t, message.Hints{Memory: true, Priority: message.PriorityLow}, msgs[0].Hints)
	}
}

// TestDocs keeps the programs of docs/eino.md those of the examples.
func TestDocs(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/eino.md")
	require.NoError(t, err)
	for _, name := range []string{"Wrap", "Options", "Tool", "Model", "Summaries"} {
		_, program, ok := strings.Cut(string(source), "// "+name+" begins.\n")
		require.True(t, ok)
		program, _, ok = strings.Cut(program, "\n\t// "+name+" ends.")
		require.True(t, ok)
		program = strings.ReplaceAll("\n"+program, "\n\t", "\n")[1:]
		require.Contains(t, string(page), "```go\n"+program+"\n```", "docs/eino.md shows another program than the example of %s", name)
	}
}

// TestRepeatedID has three calls of one answer, of which two have the same ID, as local
// models give them. Each call must get its own result, image included.
func TestRepeatedID(t *testing.T) {
	t.Parallel()
	call := func(id, n string) schema.ToolCall {
		return schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: "look", Arguments: fmt.Sprintf(`{"n":%s}`, n)}}
	}
	url := "https://example.com/a.png"
	first := schema.ToolMessage("", "a")
	first.UserInputMultiContent = []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "0"},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}}},
	}
	history := []*schema.Message{
		schema.UserMessage("go"),
		schema.AssistantMessage("", []schema.ToolCall{call("a", "0"), call("b", "1"), call("a", "2")}),
		first, schema.ToolMessage("1", "b"), schema.ToolMessage("2", "a"),
	}
	for _, rules := range []message.Rules{message.Anthropic, message.Gemini, message.Bedrock, message.OpenAI, message.Mistral} {
		inner := newFake(says(schema.AssistantMessage("done", nil)))
		_, err := eino.Wrap(inner, fit.New(fit.Options{Rules: rules})).Generate(t.Context(), history)
		require.NoError(t, err, "%v", rules)
		sent := inner.asked[0]
		got := map[string]string{}
		for _, m := range sent {
			if m.Role == schema.Tool {
				got[m.ToolCallID] += m.Content
				for _, p := range m.UserInputMultiContent {
					got[m.ToolCallID] += p.Text
					if p.Image != nil {
						got[m.ToolCallID] += " image"
					}
				}
			}
		}
		require.Len(t, got, 3, "%v: %v", rules, got)
		for n, c := range sent[1].ToolCalls {
			require.True(t, strings.HasPrefix(got[c.ID], fmt.Sprint(n)), "%v: call %d has the result %q", rules, n, got[c.ID])
			if rules&(message.OpenAI|message.Mistral) == 0 {
				require.Equal(t, n == 0, strings.HasSuffix(got[c.ID], " image"), "%v: call %d has the result %q", rules, n, got[c.ID])
			}
		}
		in, err := eino.Import(sent)
		require.NoError(t, err)
		require.NoError(t, rules.Check(in), "%v", rules)
	}
}
