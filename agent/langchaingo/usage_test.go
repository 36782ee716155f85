package langchaingo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/report"
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

// claude is the client for Anthropic, of which asked returns each block that was sent, with its mark.
func claude(t *testing.T) (client llms.Model, asked func() []string) {
	t.Helper()
	var sent struct {
		System   any `json:"system"`
		Messages []struct {
			Content []struct {
				Type  string `json:"type"`
				Cache *struct {
					Type string `json:"type"`
				} `json:"cache_control"`
			} `json:"content"`
		} `json:"messages"`
	}
	client, err := anthropic.New(anthropic.WithToken("none"), anthropic.WithModel("claude"), anthropic.WithHTTPClient(doer(func(r *http.Request) (*http.Response, error) {
		sent.Messages = nil
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, err
		}
		body := `{"id":"1","type":"message","role":"assistant","stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":100,` +
			`"output_tokens":5},"diagnostics":{"cache_miss_reason":{"type":"tools_changed"}},"content":[{"type":"text","text":"ok"}]}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})))
	require.NoError(t, err)
	return client, func() (blocks []string) {
		for i, m := range sent.Messages {
			for _, c := range m.Content {
				mark := ""
				if c.Cache != nil {
					mark = " " + c.Cache.Type
				}
				blocks = append(blocks, fmt.Sprintf("%d %s%s", i, c.Type, mark))
			}
		}
		return blocks
	}
}

// Marks reach Anthropic on messages of a user: that with the hint, or the nearest one before it.
func TestBreakpointsOfAnthropic(t *testing.T) {
	t.Parallel()
	call := func(id string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "look", Arguments: "{}"})
	}
	history := []message.Message{
		message.System("Be brief."), message.User("What is there?"), call("t1"), message.Result("t1", "look", "a"),
		message.Assistant(message.Text{Text: "An a."}), message.User("And now?"), call("t2"), message.Result("t2", "look", "b"),
	}
	for name, c := range map[string]struct {
		at   []int
		want []int // positions among the messages of Anthropic, which has system messages apart
	}{
		"nothing":                {},
		"a user message":         {[]int{1}, []int{0}},
		"a result":               {[]int{3}, []int{0}},
		"the end and the middle": {[]int{4, 7}, []int{0, 4}},
		"the same twice":         {[]int{5, 7}, []int{4}},
		"a system message":       {[]int{0}, nil},
	} {
		marked := slices.Clone(history)
		for _, i := range c.at {
			marked[i].Hints.Breakpoint = true
		}
		client, asked := claude(t)
		for _, inner := range []llms.Model{client, langchaingo.Wrap(client)} {
			_, err := langchaingo.Model(inner)(t.Context(), &middleware.Request{Messages: marked}, nil)
			require.NoError(t, err)
			blocks := asked()
			require.Len(t, blocks, 7)
			for i, b := range blocks {
				require.Equal(t, slices.Contains(c.want, i), strings.HasSuffix(b, " ephemeral"), "%s: %s", name, b)
			}
		}
	}
	other := gives(says("ok"))
	history[1].Hints.Breakpoint = true
	_, err := langchaingo.Model(other)(t.Context(), &middleware.Request{Messages: history}, nil)
	require.NoError(t, err)
	require.Equal(t, llms.TextContent{Text: "What is there?"}, other.last().msgs[1].Parts[0], "other clients would reject a mark")
}

// A client of one's own tells by GenerationInfo why the cache was missed.
func TestCacheMiss(t *testing.T) {
	t.Parallel()
	answer := says("Hi")
	answer.Choices[0].GenerationInfo = map[string]any{
		"PromptTokens": 100, "PromptCachedTokens": 60, "prompt_cache_diagnostics": map[string]any{"type": "cache_miss", "reason": "tools_changed", "cache_missed_tokens": 40},
	}
	var got report.Cache
	inside := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, emit)
			if err == nil {
				got = resp.Cache
			}
			return resp, err
		}
	}
	model := langchaingo.Wrap(gives(answer), inside, contextedit.New(contextedit.Options{}))
	_, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hello")})
	require.NoError(t, err)
	require.Equal(t, report.Cache{Prompt: 100, Read: 60, Miss: "tools_changed", Missed: 40}, got)
}
