package langchaingo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// TestUsage has what each provider of langchaingo v0.1.14 tells, with the types
// that it tells it in.
func TestUsage(t *testing.T) {
	t.Parallel()
	type usage struct{ PromptTokens, TotalTokens, CompletionTokens int } // of the client for Mistral
	for provider, c := range map[string]struct {
		info map[string]any
		want message.Usage
	}{
		"openai": {
			map[string]any{
				"PromptTokens": 100, "CompletionTokens": 30, "TotalTokens": 130, "PromptCachedTokens": 60, "PromptAudioTokens": 0,
				"ReasoningTokens": 20, "CompletionReasoningTokens": 20, "ThinkingTokens": 20, "ThinkingContent": "",
			},
			message.Usage{Input: 100, CacheRead: 60, Output: 30, Thinking: 20},
		},
		"anthropic": {
			map[string]any{"InputTokens": 10, "OutputTokens": 30, "CacheCreationInputTokens": 1000, "CacheReadInputTokens": 100},
			message.Usage{Input: 1110, CacheRead: 100, CacheWrite: 1000, Output: 30},
		},
		"googleai": {
			map[string]any{
				"input_tokens": int32(100), "output_tokens": int32(30), "total_tokens": int32(130),
				"PromptTokens": int32(100), "CompletionTokens": int32(30), "TotalTokens": int32(130), "ThinkingTokens": 0,
			},
			message.Usage{Input: 100, Output: 30},
		},
		"googleai with a cache": {
			map[string]any{
				"input_tokens": int32(100), "output_tokens": int32(30), "PromptTokens": int32(100), "CompletionTokens": int32(30),
				"CachedTokens": int32(60), "CacheReadInputTokens": int32(60), "NonCachedInputTokens": int32(40),
			},
			message.Usage{Input: 100, CacheRead: 60, Output: 30},
		},
		"vertex": {
			map[string]any{"input_tokens": int32(100), "output_tokens": int32(30), "total_tokens": int32(130)},
			message.Usage{Input: 100, Output: 30},
		},
		"bedrock": {
			map[string]any{"input_tokens": 100, "output_tokens": 30},
			message.Usage{Input: 100, Output: 30},
		},
		"ollama": {
			map[string]any{"PromptTokens": 100, "CompletionTokens": 30, "TotalTokens": 130, "ThinkingTokens": 0, "CachedTokens": 90, "CacheHit": true},
			message.Usage{Input: 100, Output: 30},
		},
		"maritaca": {
			map[string]any{"PromptTokens": 100, "CompletionTokens": 30, "TotalTokens": 130},
			message.Usage{Input: 100, Output: 30},
		},
		"mistral": {
			map[string]any{"created": 1, "model": "m", "usage": usage{PromptTokens: 100, TotalTokens: 130, CompletionTokens: 30}},
			message.Usage{Input: 100, Output: 30},
		},
		"others":            {nil, message.Usage{}},
		"another usage":     {map[string]any{"usage": map[string]int{"PromptTokens": 1}}, message.Usage{}},
		"no usage":          {map[string]any{"usage": (*usage)(nil)}, message.Usage{}},
		"float and decoded": {map[string]any{"PromptTokens": 100.0, "CompletionTokens": float32(30)}, message.Usage{Input: 100, Output: 30}},
		"unsigned":          {map[string]any{"PromptTokens": uint64(100), "CompletionTokens": int64(30)}, message.Usage{Input: 100, Output: 30}},
		"nonsense":          {map[string]any{"PromptTokens": -1, "CompletionTokens": "30"}, message.Usage{}},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			answer := says("Hi")
			answer.Choices[0].GenerationInfo = c.info
			var got message.Usage
			llm := langchaingo.Wrap(gives(answer), answering(func(r *middleware.Response) { got = r.Usage }))
			_, err := llm.GenerateContent(t.Context(), []llms.MessageContent{human("Hi")})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestUsageOfBlocksCountsOnce(t *testing.T) {
	t.Parallel()
	var got message.Usage
	llm := langchaingo.Wrap(gives(anthropics()), answering(func(r *middleware.Response) { got = r.Usage }))
	_, err := llm.GenerateContent(t.Context(), []llms.MessageContent{human("Hi")})
	require.NoError(t, err)
	require.Equal(t, message.Usage{Input: 1110, CacheRead: 100, CacheWrite: 1000, Output: 5}, got)
}

// TestUsageOfOwnAnswer has a middleware that answers instead of the model: what
// it says of usage is what a chain further out reads.
func TestUsageOfOwnAnswer(t *testing.T) {
	t.Parallel()
	want := message.Usage{Input: 100, CacheRead: 60, Output: 30, Thinking: 20}
	instead := func(middleware.Model) middleware.Model {
		return func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: want}, nil
		}
	}
	model := langchaingo.Model(langchaingo.Wrap(&echo{}, instead))
	resp, err := model(t.Context(), &middleware.Request{Messages: []message.Message{message.User("Hi")}}, nil)
	require.NoError(t, err)
	require.Equal(t, want, resp.Usage)
}
