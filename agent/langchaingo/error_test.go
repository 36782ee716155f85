package langchaingo_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

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
		{llms.NewError(llms.ErrCodeQuotaExceeded, "x", "no"), middleware.Denied},
		{llms.NewError(llms.ErrCodeTimeout, "x", "late"), middleware.Unavailable},
		{llms.NewError(llms.ErrCodeProviderUnavailable, "x", "down"), middleware.Unavailable},
		{llms.NewError(llms.ErrCodeInvalidRequest, "x", "bad"), middleware.Invalid},
		{llms.NewError(llms.ErrCodeUnknown, "x", "prompt is too long: 5 tokens > 4 maximum"), middleware.Overflow},
		{llms.NewError(llms.ErrCodeContentFilter, "x", "no"), middleware.Unknown},
		{api(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."), middleware.Overflow},
		{fmt.Errorf("anthropic: failed to create message: %w", api(400, "prompt is too long: 210000 tokens > 200000 maximum")), middleware.Overflow},
		{errors.New("googleapi: Error 400: The input token count (5) exceeds the maximum number of tokens allowed (4)"), middleware.Overflow},
		{errors.New("operation error Bedrock Runtime: InvokeModel, https response error StatusCode: 400, ValidationException: Input is too long for requested model"), middleware.Overflow},
		{api(400, "the request exceeds the available context size, try increasing it"), middleware.Overflow},
		{fmt.Errorf("ask: %w", errors.Join(errors.New("x"), api(400, "Your input exceeds the context window of this model. Please adjust your input and try again."))), middleware.Overflow},
		{fmt.Errorf("ask: %w", errors.New("Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length")), middleware.Overflow},
		{errors.New("too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292"), middleware.Overflow},
		{errors.New("exceed_context_size_error"), middleware.Overflow},
		{errors.New("HTTP (400) 400 Bad Request: input token count exceeds the maximum number of tokens allowed (65536)"), middleware.Overflow},
		{llms.AnthropicErrorMapper().Map(api(400, "prompt is too long: 210000 tokens > 200000 maximum")), middleware.Overflow}, // whose code is that of a wrong request
		{llms.OpenAIErrorMapper().Map(api(400, "This model's maximum context length is 8192 tokens.")), middleware.Overflow},
		{llms.NewError(llms.ErrCodeInvalidRequest, "x", "Invalid request").WithCause(errors.New("context_length_exceeded")), middleware.Overflow},
		{llms.NewError(llms.ErrCodeInvalidRequest, "x", "Invalid request").WithCause(api(413, "prompt is too long")), middleware.Invalid},
		{llms.NewError(llms.ErrCodeRateLimit, "x", "too many").WithCause(errors.New("prompt is too long")), middleware.RateLimited},
		{api(429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31000"), middleware.RateLimited},
		{errors.New("https response error StatusCode: 429, ThrottlingException: Too many tokens, please wait before trying again"), middleware.RateLimited},
		{api(413, "prompt is too long"), middleware.Invalid},
		{api(400, "max_tokens is too large: 200000. This model supports at most 64000 completion tokens"), middleware.Invalid},
		{api(503, "prompt is too long"), middleware.Unavailable},
		{api(400, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"), middleware.Invalid}, //nolint:misspell // as OpenAI writes it
		{api(413, "request too large"), middleware.Invalid},
		{api(401, "bad key"), middleware.Denied},
		{api(404, "no such model"), middleware.Invalid},
		{api(429, "Rate limit reached"), middleware.RateLimited},
		{api(429, "You exceeded your current quota, please check your plan and billing details."), middleware.Denied},
		{api(529, "Overloaded"), middleware.Unavailable},
		{errors.New("API returned unexpected status code: 503"), middleware.Unavailable},
		{errors.New("https response error StatusCode: 429, ThrottlingException"), middleware.RateLimited},
		{errors.New("404 Not Found: model \"m\" not found"), middleware.Invalid},
		{&url.Error{Op: "Post", URL: "http://x", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, middleware.Unavailable},
		{errors.New("network error: failed to reach API server"), middleware.Unavailable},
		{errors.New("request timeout: API call exceeded deadline"), middleware.Unavailable},
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
