package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

func invalid(err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: op, Err: err}
}

// sorted gives an error of a model its kind. It keeps text and identity.
func sorted(ctx context.Context, err error) error {
	if done := ctx.Err(); done != nil {
		if errors.Is(err, done) {
			return err
		}
		return fmt.Errorf("%w: %w", done, err) // some providers say it in words alone
	}
	if _, ok := errors.AsType[*middleware.Error](err); ok {
		return err
	}
	if kind := kindOfError(err); kind != middleware.Unknown {
		return &middleware.Error{Kind: kind, Err: err}
	}
	return err
}

// byCode says what the codes of langchaingo mean. Its providers return most
// errors without one.
var byCode = map[llms.ErrorCode]middleware.Kind{
	llms.ErrCodeAuthentication:      middleware.Denied,
	llms.ErrCodeRateLimit:           middleware.RateLimited,
	llms.ErrCodeInvalidRequest:      middleware.Invalid,
	llms.ErrCodeResourceNotFound:    middleware.Invalid,
	llms.ErrCodeTimeout:             middleware.Unavailable, // that of the call is told by its context
	llms.ErrCodeQuotaExceeded:       middleware.Denied,
	llms.ErrCodeTokenLimit:          middleware.Overflow,
	llms.ErrCodeProviderUnavailable: middleware.Unavailable,
	llms.ErrCodeNotImplemented:      middleware.Invalid,
}

// overflows are the words for a request that is too long, in lower case:
// OpenAI, Anthropic, Gemini, Bedrock, Mistral, Cohere, llama.cpp, in this
// order.
var overflows = []string{
	"maximum context length", "context_length_exceeded",
	"prompt is too long",
	"exceeds the maximum number of tokens",
	"input is too long",
	"too large for model",
	"too many tokens",
	"exceed_context_size_error", "exceeds the available context size",
}

// quotas are the words for an account that has nothing left, which the
// providers also call too many requests.
var quotas = []string{"insufficient_quota", "exceeded your current quota", "credit balance is too low", "billing hard limit"}

// status finds what the clients of langchaingo and those that they use say of
// an HTTP status: OpenAI, Anthropic and others, AWS, Google, Ollama.
var status = regexp.MustCompile(`(?i)(?:status ?code:? |googleapi: error |^)(\d{3})\b`)

func kindOfError(err error) middleware.Kind {
	coded, hasCode := errors.AsType[*llms.Error](err)
	_, network := errors.AsType[net.Error](err)
	text := strings.ToLower(err.Error())
	switch {
	case hasCode && byCode[coded.Code] != middleware.Unknown:
		return byCode[coded.Code]
	case containsAny(text, overflows):
		return middleware.Overflow
	case containsAny(text, quotas):
		return middleware.Denied
	}
	if m := status.FindStringSubmatch(err.Error()); m != nil {
		code, _ := strconv.Atoi(m[1])
		return foreign.KindOfStatus(code)
	}
	switch {
	case network, strings.HasPrefix(text, "network error:"), strings.HasPrefix(text, "request timeout:"):
		return middleware.Unavailable
	case errors.Is(err, context.DeadlineExceeded):
		return middleware.Unavailable // a deadline of the client's own
	}
	return middleware.Unknown
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
