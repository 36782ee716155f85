package eino_test

import (
	"context"
	"errors"
	"fmt"
	"net"
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
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func TestModelAnswers(t *testing.T) {
	t.Parallel()
	inner := newFake(says(answer()...))
	m := eino.Model(inner, model.WithTemperature(0.5))
	tool := message.ToolDef{Name: "read", Description: "d", Parameters: `{"type":"object","properties":{"page":{"type":"integer"}}}`}
	req := &middleware.Request{
		Messages: []message.Message{message.System("be brief"), message.User("go")},
		Tools:    []message.ToolDef{tool}, Params: []model.Option{model.WithTopP(0.1)},
	}
	whole, err := m(t.Context(), req, nil)
	require.NoError(t, err)
	var deltas []middleware.Delta
	streamed, err := m(t.Context(), req, func(d middleware.Delta) error { deltas = append(deltas, d); return nil })
	require.NoError(t, err)
	require.Equal(t, whole, streamed)
	require.Equal(t, "I look.\n!", whole.Message.Text())
	require.Equal(t, middleware.StopTools, whole.Stop)
	require.Equal(t, message.Usage{Input: 10, Output: 2}, whole.Usage)
	require.Len(t, deltas, 9)

	require.Equal(t, []*schema.Message{schema.SystemMessage("be brief"), schema.UserMessage("go")}, inner.asked[0])
	o := inner.options[0]
	require.InDelta(t, 0.5, *o.Temperature, 0.001)
	require.InDelta(t, 0.1, *o.TopP, 0.001)
	require.Len(t, o.Tools, 1)
	require.Equal(t, "read", o.Tools[0].Name)
	require.Same(t, o.Tools[0], inner.options[1].Tools[0], "tools are converted once")

	// What our words do not carry is sent back with the answer.
	req.Messages = append(req.Messages, whole.Message, message.Result("c1", "read", "x"), message.Result("c2", "read", "y"))
	_, err = m(t.Context(), req, nil)
	require.NoError(t, err)
	back := inner.asked[2][2]
	require.Equal(t, []byte("s"), back.Extra["signature"])
	require.Equal(t, map[string]any{"x": 1}, back.ToolCalls[1].Extra)
	require.Len(t, back.AssistantGenMultiContent, 3)
}

func TestModelStop(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"stop": middleware.StopEnd, "end_turn": middleware.StopEnd, "STOP": middleware.StopEnd, "length": middleware.StopLength,
		"MAX_TOKENS": middleware.StopLength, "tool_calls": middleware.StopTools, "tool_use": middleware.StopTools,
		"content_filter": middleware.StopFilter, "SAFETY": middleware.StopFilter, "": "", "insufficient_system_resource": "insufficient_system_resource",
	} {
		a := &schema.Message{Content: "so", ResponseMeta: &schema.ResponseMeta{FinishReason: reason}} // and no role
		resp, err := eino.Model(newFake(says(a)))(t.Context(), &middleware.Request{Messages: []message.Message{message.User("go")}}, nil)
		require.NoError(t, err)
		require.Equal(t, want, resp.Stop, reason)
		require.Equal(t, message.RoleAssistant, resp.Message.Role)
	}
	called := calls("c1", "{}")
	called.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop"}
	resp, err := eino.Model(newFake(says(called)))(t.Context(), &middleware.Request{Messages: []message.Message{message.User("go")}}, nil)
	require.NoError(t, err)
	require.Equal(t, middleware.StopTools, resp.Stop, "an answer with calls waits for them, whatever the model says")
}

// The errors of the clients that eino-ext uses, by shape.
type (
	statusError struct{ StatusCode int }
	codeError   struct {
		Code any
		Text string
	}
	methodError struct{ status int }
)

func (e statusError) Error() string        { return "status error" }
func (e *codeError) Error() string         { return e.Text }
func (e *methodError) Error() string       { return "method error" }
func (e *methodError) HTTPStatusCode() int { return e.status }

func TestModelErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want middleware.ErrorKind
	}{
		"OpenAI: rate limit":        {&apiError{429}, middleware.RateLimited},
		"OpenAI: key":               {&apiError{401}, middleware.Denied},
		"down":                      {statusError{502}, middleware.Unavailable},
		"by method":                 {&methodError{403}, middleware.Denied},
		"wrapped":                   {fmt.Errorf("call: %w", errors.Join(errors.New("x"), &apiError{429})), middleware.RateLimited},
		"OpenAI: too long, by code": {&codeError{Code: "context_length_exceeded", Text: "error, status code: 400, status: 400 Bad Request, message: no"}, middleware.Overflow},
		"llama-server: too long":    {&codeError{Code: 400, Text: "the request exceeds the available context size"}, middleware.Overflow},
		"429 is never overflow":     {errors.New("error, status code: 429, message: maximum context length"), middleware.RateLimited},
		"a code that is a status":   {fmt.Errorf("stream: %w", &codeError{Code: 429, Text: "the input token count exceeds the maximum number of tokens"}), middleware.RateLimited},
		"xAI, status in a field":    {fmt.Errorf("ask: %w: %w", statusError{400}, errors.New("This model's maximum prompt length is 131072 but the request contains 537812 tokens")), middleware.Overflow},
		"Bedrock":                   {errors.New("https response error StatusCode: 400, ValidationException: Input is too long for requested model"), middleware.Overflow},
		"nothing left":              {errors.New("error, status code: 429, message: You exceeded your current quota"), middleware.Denied},
		"unreachable":               {fmt.Errorf("ask: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")}), middleware.Unavailable},
		"a code that is no status":  {&codeError{Code: 7, Text: "x"}, middleware.Unknown},
		"unknown":                   {errors.New("eh"), middleware.Unknown},
		"cancelled":                 {fmt.Errorf("x: %w", context.Canceled), middleware.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.err == nil {
				c.err = errors.New("x")
			}
			m := eino.Model(newFake(func(context.Context, []*schema.Message) ([]*schema.Message, error) { return nil, c.err }))
			for _, emit := range []middleware.Emit{nil, func(middleware.Delta) error { return nil }} {
				_, err := m(t.Context(), &middleware.Request{Messages: []message.Message{message.User("go")}}, emit)
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.want, middleware.KindOf(err), "%v", err)
			}
		})
	}
}

// hasMark reports whether the model of eino-ext for Claude marks the message: getMsgExtraValue[bool] there.
func hasMark(m *schema.Message) bool {
	mark, _ := m.Extra["_eino_claude_breakpoint"].(bool)
	return mark
}

// Marks reach the model, on copies; those of the caller stay.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	in := []*schema.Message{
		schema.SystemMessage("Be brief."), schema.UserMessage("What is there?"),
		schema.AssistantMessage("", []schema.ToolCall{{ID: "t1", Type: "function", Function: schema.FunctionCall{Name: "look", Arguments: "{}"}}}),
		schema.ToolMessage("a", "t1", schema.WithToolName("look")), schema.AssistantMessage("An a.", nil), schema.UserMessage("And?"),
	}
	in[4].Extra = map[string]any{"_eino_claude_breakpoint": true, "mine": 1}
	model := newFake(says(schema.AssistantMessage("ok", nil)))
	chain := middleware.With(middleware.Env{Breakpoints: true}, contextedit.New(contextedit.Options{}))
	_, err := eino.Wrap(model, chain).Generate(t.Context(), in)
	require.NoError(t, err)
	sent := model.asked[0]
	for i, want := range []bool{false, true, false, false, true, true} {
		require.Equal(t, want, hasMark(sent[i]), "message %d", i)
		require.Equal(t, i == 4, hasMark(in[i]), "message %d of the caller", i)
	}
	require.Same(t, in[3], sent[3])
	require.Equal(t, in[5].Content, sent[5].Content)

	history, err := eino.Import(in)
	require.NoError(t, err)
	for _, mark := range []int{-1, 0, 1, 2, 3, 4, 5} {
		marked := slices.Clone(history)
		if mark >= 0 {
			marked[mark].Hints.Breakpoint = true
		}
		_, err = eino.Model(model)(t.Context(), &middleware.Request{Messages: marked}, nil)
		require.NoError(t, err)
		exported, err := eino.Export(marked)
		require.NoError(t, err)
		for i := range history {
			require.Equal(t, i == mark, hasMark(exported[i]), "message %d", i)
			require.Equal(t, i == mark, hasMark(model.asked[len(model.asked)-1][i]), "message %d", i)
		}
		back, err := eino.Import(exported)
		require.NoError(t, err)
		require.Equal(t, history, back, "a mark is no content")
	}
}

// A model of one's own, or its response modifier, tells by Extra why the cache was missed, also in a stream.
func TestCacheMiss(t *testing.T) {
	t.Parallel()
	first, last := schema.AssistantMessage("H", nil), schema.AssistantMessage("i", nil)
	last.Extra = map[string]any{"cache_miss_reason": "tools_changed"}
	last.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop", Usage: &schema.TokenUsage{
		PromptTokens: 100, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 60, CacheWriteTokens: 30},
	}}
	var got []report.Cache
	inside := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, emit)
			if err == nil {
				got = append(got, resp.Cache)
			}
			return resp, err
		}
	}
	model := eino.Wrap(newFake(says(first, last)), inside, contextedit.New(contextedit.Options{}))
	in := []*schema.Message{schema.UserMessage("Hello")}
	_, err := model.Generate(t.Context(), in)
	require.NoError(t, err)
	stream, err := model.Stream(t.Context(), in)
	require.NoError(t, err)
	_, err = schema.ConcatMessageStream(stream)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, c := range got {
		require.Equal(t, 100, c.Prompt)
		require.Equal(t, 60, c.Read)
		require.Equal(t, "tools_changed", c.Miss)
	}
	require.Zero(t, got[0].Prefix)
	require.Positive(t, got[1].Prefix, "the same request again")
}

// TestModelRemembersExtra has answers that the loop corrects, that a chain edits, and that another conversation has as well.
func TestModelRemembersExtra(t *testing.T) {
	t.Parallel()
	signed := func(args, sign string) *schema.Message {
		c := calls("read", args)
		c.ToolCalls[0].Extra = map[string]any{"sign": sign}
		return c
	}
	var next *schema.Message
	inner := newFake(func(context.Context, []*schema.Message) ([]*schema.Message, error) {
		return []*schema.Message{next}, nil
	})
	m := eino.Model(inner)
	ask := func(history []message.Message, talk string, answer *schema.Message, mws ...middleware.Middleware) []any {
		next = answer
		chain := m
		if len(mws) > 0 {
			chain = middleware.Chain(mws...)(m)
		}
		_, err := chain(t.Context(), &middleware.Request{Messages: history, Conversation: talk}, nil)
		require.NoError(t, err)
		signs := []any{}
		for _, sent := range inner.asked[len(inner.asked)-1] {
			for _, c := range sent.ToolCalls {
				signs = append(signs, c.Extra["sign"])
			}
		}
		return signs
	}
	corrected := func(id, args string) []message.Message { // as the loop of package react corrects arguments and ids
		return []message.Message{message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: args}), message.Result(id, "read", strings.Repeat("line ", 100))}
	}
	long := `{"page":"` + strings.Repeat("a ", 100) + `"}`
	history := []message.Message{message.System("be brief"), message.User("go")}
	for n, args := range [][2]string{{long, long}, {"null", "{}"}, {"null", "{}"}} { // equal calls, with different signatures
		signs := ask(history, "", signed(args[0], fmt.Sprint(n)))
		require.Equal(t, []any{"0", "1"}[:n], signs)
		history = append(history, corrected(fmt.Sprint("call_", n), args[1])...)
	}
	signs := ask(history, "", say("done"), contextedit.New(contextedit.Options{Keep: 1, Trigger: trigger.Tokens(1), ClearToolInputs: true}))
	require.Equal(t, []any{"0", "1", "2"}, signs)
	require.NotEqual(t, long, inner.asked[3][2].ToolCalls[0].Function.Arguments, "edited")

	// The same answers elsewhere.
	other := []message.Message{message.System("be brief"), message.User("other")}
	signs = ask(append(other, history[2:]...), "", say("done"))
	require.Equal(t, []any{nil, nil, nil}, signs)
	signs = ask(history, "named", say("done"))
	require.Equal(t, []any{nil, nil, nil}, signs)

	// Two conversations that begin alike have one answer that must be corrected.
	ask(other, "", signed("null", "a"))
	ask(other, "", signed("", "b"))
	signs = ask(append(other, corrected("c", "{}")...), "", say("done"))
	require.Equal(t, []any{nil}, signs, "it could be that of the other one")
	ask(other, "one", signed("null", "a"))
	ask(other, "one", signed("", "b"))
	signs = ask(append(other, corrected("c", "{}")...), "one", say("done"))
	require.Equal(t, []any{"b"}, signs, "asked again")
}
