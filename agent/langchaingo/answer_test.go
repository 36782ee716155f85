package langchaingo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// anthropics is how the client for Anthropic answers: a choice for each block.
func anthropics() *llms.ContentResponse {
	info := func(more ...any) map[string]any {
		m := map[string]any{"InputTokens": 10, "OutputTokens": 5, "CacheReadInputTokens": 100, "CacheCreationInputTokens": 1000}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{
		{StopReason: "tool_use", GenerationInfo: info("ThinkingContent", "hm", "ThinkingSignature", "sig")},
		{StopReason: "tool_use", Content: "Let me see.", GenerationInfo: info("ThinkingContent", "", "OutputContent", "Let me see.")},
		{StopReason: "tool_use", ToolCalls: []llms.ToolCall{{ID: "t1", FunctionCall: &llms.FunctionCall{Name: "look", Arguments: "{}"}}}, GenerationInfo: info()},
	}}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) message.Part { return message.Text{Text: s} }
	look := message.ToolCall{ID: "t1", Name: "look", Arguments: "{}"}
	two := func() *llms.ContentResponse {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "a", StopReason: "stop"}, {Content: "b", StopReason: "length"}}}
	}
	for name, c := range map[string]struct {
		raw     *llms.ContentResponse
		options []llms.CallOption
		want    []message.Part
		stop    string
	}{
		"text":                   {raw: says("Hi"), want: []message.Part{text("Hi")}, stop: middleware.StopEnd},
		"call":                   {raw: calls("t1", "look", "{}"), want: []message.Part{look}, stop: middleware.StopTools},
		"blocks":                 {raw: anthropics(), want: []message.Part{message.Thinking{Text: "hm", Signature: "sig"}, text("Let me see."), look}, stop: middleware.StopTools},
		"alternatives":           {raw: two(), options: []llms.CallOption{llms.WithN(2)}, want: []message.Part{text("a")}, stop: middleware.StopEnd},
		"several and none asked": {raw: two(), want: []message.Part{text("a"), text("b")}, stop: middleware.StopLength},
		"reasoning": {
			raw:  &llms.ContentResponse{Choices: []*llms.ContentChoice{{ReasoningContent: "hm", Content: "Hi", GenerationInfo: map[string]any{"ThinkingContent": "hm"}}}},
			want: []message.Part{message.Thinking{Text: "hm"}, text("Hi")},
		},
		"legacy call": {
			raw:  &llms.ContentResponse{Choices: []*llms.ContentChoice{{FuncCall: &llms.FunctionCall{Name: "look", Arguments: "{}"}, StopReason: "function_call"}}},
			want: []message.Part{message.ToolCall{Name: "look", Arguments: "{}"}}, stop: middleware.StopTools,
		},
		"Gemini's call": {
			raw:  &llms.ContentResponse{Choices: []*llms.ContentChoice{{StopReason: "FinishReasonStop", ToolCalls: []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "look", Arguments: "{}"}}}}}},
			want: []message.Part{message.ToolCall{Name: "look", Arguments: "{}"}}, stop: middleware.StopTools,
		},
		"nothing":    {raw: &llms.ContentResponse{}},
		"nil choice": {raw: &llms.ContentResponse{Choices: []*llms.ContentChoice{nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen middleware.Response
			llm := langchaingo.Wrap(gives(c.raw), answering(func(r *middleware.Response) { seen = *r }))
			got, err := llm.GenerateContent(t.Context(), []llms.MessageContent{human("Hi")}, c.options...)
			require.NoError(t, err)
			require.Same(t, c.raw, got, "what no middleware changes is the model's own response")
			require.Equal(t, message.RoleAssistant, seen.Message.Role)
			require.Equal(t, c.want, seen.Message.Parts)
			require.Equal(t, c.stop, seen.Stop)
		})
	}
}

func TestChangedAnswers(t *testing.T) {
	t.Parallel()
	replace := func(i int, p message.Part) func(*middleware.Response) {
		return func(r *middleware.Response) { r.Message.Parts[i] = p }
	}
	for name, c := range map[string]struct {
		raw     *llms.ContentResponse
		options []llms.CallOption
		change  func(*middleware.Response)
		want    func(*llms.ContentResponse) // what differs
	}{
		"text": {
			raw: says("secret"), change: replace(0, message.Text{Text: "***"}),
			want: func(r *llms.ContentResponse) { r.Choices[0].Content = "***" },
		},
		"arguments": {
			raw: calls("t1", "look", "{}"), change: replace(0, message.ToolCall{ID: "t1", Name: "look", Arguments: `{"a":1}`}),
			want: func(r *llms.ContentResponse) {
				f := &llms.FunctionCall{Name: "look", Arguments: `{"a":1}`}
				r.Choices[0].ToolCalls[0].FunctionCall, r.Choices[0].FuncCall = f, f
			},
		},
		"a block of several": {
			raw: anthropics(), change: replace(1, message.Text{Text: "Wait."}),
			want: func(r *llms.ContentResponse) {
				f := &llms.FunctionCall{Name: "look", Arguments: "{}"}
				r.Choices = r.Choices[:1]
				r.Choices[0].ReasoningContent, r.Choices[0].Content = "hm", "Wait."
				r.Choices[0].ToolCalls, r.Choices[0].FuncCall = []llms.ToolCall{{ID: "t1", Type: "function", FunctionCall: f}}, f
			},
		},
		"thinking of a block": {
			raw: &llms.ContentResponse{Choices: anthropics().Choices[:1]}, change: replace(0, message.Thinking{Text: "", Signature: "s"}),
			want: func(r *llms.ContentResponse) {
				r.Choices[0].GenerationInfo["ThinkingContent"], r.Choices[0].GenerationInfo["ThinkingSignature"] = "", "s"
			},
		},
		"fewer parts": {
			raw:    anthropics(),
			change: func(r *middleware.Response) { r.Message.Parts, r.Stop = r.Message.Parts[1:2], middleware.StopEnd },
			want: func(r *llms.ContentResponse) {
				r.Choices = r.Choices[:1]
				r.Choices[0].Content, r.Choices[0].StopReason = "Let me see.", "stop"
				delete(r.Choices[0].GenerationInfo, "ThinkingContent")
				delete(r.Choices[0].GenerationInfo, "ThinkingSignature")
			},
		},
		"another call": {
			raw: says("Hi"),
			change: func(r *middleware.Response) {
				r.Message.Parts = append(r.Message.Parts, message.ToolCall{ID: "t1", Name: "look", Arguments: "{}"}, message.Thinking{Text: "hm"})
				r.Stop = middleware.StopTools
			},
			want: func(r *llms.ContentResponse) {
				f := &llms.FunctionCall{Name: "look", Arguments: "{}"}
				r.Choices[0].ToolCalls, r.Choices[0].FuncCall = []llms.ToolCall{{ID: "t1", Type: "function", FunctionCall: f}}, f
				r.Choices[0].StopReason, r.Choices[0].ReasoningContent = "tool_calls", "hm"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := copyOf(c.raw)
			got, err := langchaingo.Wrap(gives(c.raw), answering(c.change)).GenerateContent(t.Context(), []llms.MessageContent{human("Hi")}, c.options...)
			require.NoError(t, err)
			want := copyOf(c.raw)
			c.want(want)
			require.Equal(t, want, got)
			require.Equal(t, before, c.raw, "the model's own response is not written to")
		})
	}
	_, err := langchaingo.Wrap(gives(says("Hi")), answering(func(r *middleware.Response) {
		r.Message.Parts = append(r.Message.Parts, message.Opaque{Kind: "k"})
	})).GenerateContent(t.Context(), []llms.MessageContent{human("Hi")})
	require.EqualError(t, err, "langchaingo: answer: part 1: a message.Opaque has no place in an answer of langchaingo")
}

func copyOf(r *llms.ContentResponse) *llms.ContentResponse {
	out := &llms.ContentResponse{}
	for _, c := range r.Choices {
		n := *c
		n.ToolCalls = append([]llms.ToolCall(nil), c.ToolCalls...)
		if c.GenerationInfo != nil {
			n.GenerationInfo = maps.Clone(c.GenerationInfo)
		}
		out.Choices = append(out.Choices, &n)
	}
	return out
}

func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	api := func(status int, text string) error {
		return fmt.Errorf("API returned unexpected status code: %d: %s", status, text)
	}
	for _, c := range []struct {
		err  error
		want middleware.ErrorKind
	}{
		{llms.NewError(llms.ErrCodeTokenLimit, "x", "Context length exceeded"), middleware.Overflow},
		{fmt.Errorf("call: %w", llms.NewError(llms.ErrCodeRateLimit, "x", "slow down")), middleware.RateLimited},
		{llms.NewError(llms.ErrCodeAuthentication, "x", "no"), middleware.Denied},
		{llms.NewError(llms.ErrCodeProviderUnavailable, "x", "down"), middleware.Unavailable},
		{llms.NewError(llms.ErrCodeInvalidRequest, "x", "bad"), middleware.Invalid},
		{llms.NewError(llms.ErrCodeUnknown, "x", "prompt is too long: 5 tokens > 4 maximum"), middleware.Overflow},
		{llms.NewError(llms.ErrCodeContentFilter, "x", "no"), middleware.Unknown},
		{api(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."), middleware.Overflow},
		{fmt.Errorf("anthropic: failed to create message: %w", api(400, "prompt is too long: 210000 tokens > 200000 maximum")), middleware.Overflow},
		{llms.AnthropicErrorMapper().Map(api(400, "prompt is too long: 210000 tokens > 200000 maximum")), middleware.Overflow}, // whose code is that of a wrong request
		{llms.NewError(llms.ErrCodeInvalidRequest, "x", "Invalid request").WithCause(errors.New("context_length_exceeded")), middleware.Overflow},
		{llms.NewError(llms.ErrCodeInvalidRequest, "x", "Invalid request").WithCause(api(413, "prompt is too long")), middleware.Invalid},
		{llms.NewError(llms.ErrCodeRateLimit, "x", "too many").WithCause(errors.New("prompt is too long")), middleware.RateLimited},
		{api(503, "prompt is too long"), middleware.Unavailable},
		{api(401, "bad key"), middleware.Denied},
		{api(404, "no such model"), middleware.Invalid},
		{api(429, "Rate limit reached"), middleware.RateLimited},
		{api(429, "You exceeded your current quota, please check your plan and billing details."), middleware.Denied},
		{errors.New("404 Not Found: model \"m\" not found"), middleware.Invalid},
		{&url.Error{Op: "Post", URL: "http://x", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, middleware.Unavailable},
		{errors.New("network error: failed to reach API server"), middleware.Unavailable},
		{fmt.Errorf("client: %w", context.DeadlineExceeded), middleware.Unavailable},
		{&middleware.Error{Kind: middleware.Irreducible, Err: errors.New("status code: 429")}, middleware.Irreducible},
		{errors.New("the answer is 429"), middleware.Unknown},
	} {
		inner := &model{answer: func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, c.err
		}}
		_, err := langchaingo.Wrap(inner).GenerateContent(t.Context(), []llms.MessageContent{human("Hi")})
		require.ErrorIs(t, err, c.err)
		require.EqualError(t, err, c.err.Error(), "the text stays")
		require.Equal(t, c.want, middleware.KindOf(err), "%v", c.err)

		_, err = langchaingo.Model(inner)(t.Context(), &middleware.Request{Messages: []message.Message{message.User("Hi")}}, nil)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.want, middleware.KindOf(err), "%v", c.err)
	}
}
