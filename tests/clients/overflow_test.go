// Package clients has tests with the official clients of OpenAI and Anthropic. It is a
// module of its own, so that no program that uses the library downloads them.
package clients

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
)

// ask calls a server in one of the ways of a client, and returns the error.
type ask func(t *testing.T, url string) error

var (
	openaiWays = map[string]ask{
		"chat": func(t *testing.T, url string) error {
			t.Helper()
			_, err := openaiClient(url).Chat.Completions.New(t.Context(), chat)
			return err
		},
		"chat stream": func(t *testing.T, url string) error {
			t.Helper()
			stream := openaiClient(url).Chat.Completions.NewStreaming(t.Context(), chat)
			for stream.Next() {
				t.Log("a chunk")
			}
			return stream.Err()
		},
		"responses": func(t *testing.T, url string) error {
			t.Helper()
			_, err := openaiClient(url).Responses.New(t.Context(), responses.ResponseNewParams{Model: "m"})
			return err
		},
	}
	anthropicWays = map[string]ask{
		"messages": func(t *testing.T, url string) error {
			t.Helper()
			_, err := anthropicClient(url).Messages.New(t.Context(), messages)
			return err
		},
		"messages stream": func(t *testing.T, url string) error {
			t.Helper()
			stream := anthropicClient(url).Messages.NewStreaming(t.Context(), messages)
			for stream.Next() {
				t.Log("an event")
			}
			return stream.Err()
		},
	}
	chat = openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("question")},
	}
	messages = anthropic.MessageNewParams{
		Model: "m", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("question"))},
	}
)

func openaiClient(url string) *openai.Client {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("x"), option.WithMaxRetries(0))
	return &client
}

func anthropicClient(url string) *anthropic.Client {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("x"), anthropicoption.WithMaxRetries(0))
	return &client
}

// answer is what a server sends to every request.
type answer struct {
	status int
	kind   string // content type; "": JSON
	body   string
}

func (a answer) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", cmp.Or(a.kind, "application/json"))
		w.Header().Set("X-Ratelimit-Limit-Tokens", "100000")
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// bodies are those of servers that refuse a prompt which is too long.
var bodies = map[string]struct {
	body   string
	want   middleware.PromptLimits
	lostBy string // the client whose error has nothing of the body
}{
	"OpenAI": {
		body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 140311 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		want: middleware.PromptLimits{Sent: 140311, Limit: 128000, Over: 12311},
	},
	"OpenAI without numbers": {
		body: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
	},
	"vLLM": {
		body: `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your request has 9001 input tokens. Please reduce the length of the input messages. None","type":"BadRequestError","param":null,"code":400}}`,
		want: middleware.PromptLimits{Sent: 9001, Limit: 4096, Over: 4905},
	},
	"vLLM before 0.10": {
		body: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 9100 tokens (9000 in the messages, 100 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`,
		want: middleware.PromptLimits{Sent: 9000, Answer: 100, Limit: 4096, Over: 5004},
	},
	"OpenRouter": {
		body: `{"error":{"message":"This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text input). Please reduce the length of either one.","code":400,"metadata":{"provider_name":null}},"user_id":"u"}`,
		want: middleware.PromptLimits{Sent: 94307, Limit: 16384, Over: 77923},
	},
	"OpenRouter, text of the upstream": {
		body: `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Requested input length 39818 exceeds maximum input length 32767\"}}","provider_name":"DeepInfra"}}}`,
		want: middleware.PromptLimits{Sent: 39818, Limit: 32767, Over: 7051},
	},
	"llama-server": {
		body: `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`,
		want: middleware.PromptLimits{Sent: 14429, Limit: 8192, Over: 6237},
	},
	"LM Studio": {
		body: `{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}`,
		want: middleware.PromptLimits{Limit: 4096}, lostBy: "openai-go", // it wants an object in "error"
	},
	"Anthropic": {
		body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 219898 tokens > 200000 maximum"},"request_id":"req_1"}`,
		want: middleware.PromptLimits{Sent: 219898, Limit: 200000, Over: 19898},
	},
	"a gateway's text": {
		body: `prompt is too long: 5000 tokens > 4096 maximum`,
		want: middleware.PromptLimits{Sent: 5000, Limit: 4096, Over: 904},
	},
}

func TestOverflow(t *testing.T) {
	t.Parallel()
	for client, ways := range map[string]map[string]ask{"openai-go": openaiWays, "anthropic-sdk-go": anthropicWays} {
		for way, ask := range ways {
			for by, c := range bodies {
				t.Run(client+"/"+way+"/"+by, func(t *testing.T) {
					t.Parallel()
					err := ask(t, answer{status: http.StatusBadRequest, body: c.body}.serve(t))
					require.Error(t, err)
					if c.lostBy == client {
						require.NotContains(t, fmt.Sprintf("%+v", err), "4096", "the client keeps the text now: read it")
						return
					}
					limits, ok := middleware.ParseOverflow(fmt.Errorf("ask: %w", err), nil)
					require.True(t, ok, "it is an overflow: %T %v", err, err)
					require.Equal(t, c.want, limits, "%v", err)
				})
			}
		}
	}
}

// An error that is sent in a stream, after the status 200.
func TestOverflowInAStream(t *testing.T) {
	t.Parallel()
	const said = `{"error":{"message":"prompt is too long: 5000 tokens > 4096 maximum","type":"invalid_request_error"},"type":"error"}`
	a := answer{status: http.StatusOK, kind: "text/event-stream", body: "event: error\ndata: " + said + "\n\n"}
	for name, ask := range map[string]ask{"openai-go": openaiWays["chat stream"], "anthropic-sdk-go": anthropicWays["messages stream"]} {
		limits, ok := middleware.ParseOverflow(ask(t, a.serve(t)), nil)
		require.True(t, ok, name)
		require.Equal(t, middleware.PromptLimits{Sent: 5000, Limit: 4096, Over: 904}, limits, name)
	}
}

// Refusals that are about something else, in texts that name tokens and limits.
func TestOtherRefusals(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]answer{
		"tokens per minute":                   {status: http.StatusTooManyRequests, body: `{"error":{"message":"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 31000.","type":"tokens","code":"rate_limit_exceeded"}}`},
		"tokens a minute, without the status": {status: http.StatusBadRequest, body: `{"error":{"message":"Request exceeds the limit of 30000 tokens per minute","code":400}}`},
		"too many bytes":                      {status: http.StatusRequestEntityTooLarge, body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		"no authorization":                    {status: http.StatusUnauthorized, body: `{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}`},
		"a server that is down":               {status: http.StatusServiceUnavailable, body: `{"object":"error","message":"the model's maximum context length is 4096 tokens"}`},
		"a quotation":                         {status: http.StatusBadRequest, body: `{"object":"error","message":"unknown field 'prompt is too long: 5000 tokens > 4096 maximum'"}`},
	} {
		for client, ways := range map[string]map[string]ask{"openai-go": openaiWays, "anthropic-sdk-go": anthropicWays} {
			for way, ask := range ways {
				err := ask(t, a.serve(t))
				require.Error(t, err)
				_, ok := middleware.ParseOverflow(err, nil)
				require.False(t, ok, "%s: %s, %s: %v", name, client, way, err)
			}
		}
	}
}
