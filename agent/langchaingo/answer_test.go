package langchaingo_test

import (
	"maps"
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
		"blocks, several asked":  {raw: anthropics(), options: []llms.CallOption{llms.WithN(3)}, want: []message.Part{message.Thinking{Text: "hm", Signature: "sig"}, text("Let me see."), look}, stop: middleware.StopTools},
		"alternatives":           {raw: two(), options: []llms.CallOption{llms.WithN(2)}, want: []message.Part{text("a")}, stop: middleware.StopEnd},
		"candidates":             {raw: two(), options: []llms.CallOption{llms.WithCandidateCount(2)}, want: []message.Part{text("a")}, stop: middleware.StopEnd},
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
		"text of the first alternative": {
			raw:     &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "a"}, {Content: "b"}}},
			options: []llms.CallOption{llms.WithN(2)},
			change:  replace(0, message.Text{Text: "A"}),
			want:    func(r *llms.ContentResponse) { r.Choices[0].Content = "A" },
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
		"reason": {
			raw: says("Hi"), change: func(r *middleware.Response) { r.Stop = "tired" },
			want: func(r *llms.ContentResponse) { r.Choices[0].StopReason = "tired" },
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
