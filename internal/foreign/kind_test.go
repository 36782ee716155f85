package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for want, errs := range map[middleware.Kind][]error{
		middleware.Overflow: {
			errors.New("error, status code: 400, message: prompt is too long: 5 tokens > 4 maximum"),
			fmt.Errorf("ask: %w", errors.New("context_length_exceeded")),
		},
		middleware.Denied: {
			errors.New("error, status code: 429, message: You exceeded your current quota"),
			errors.New("400 Your credit balance is too low to access the API"),
			errors.New("error, status code: 401"),
		},
		middleware.RateLimited: {errors.New("429 Too Many Requests: too many tokens")},
		middleware.Invalid:     {errors.New("413 Request Entity Too Large"), errors.New("400 max_tokens is too large")},
		middleware.Unavailable: {
			errors.New("HTTP 503: prompt is too long"),
			fmt.Errorf("ask: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")}),
			fmt.Errorf("client: %w", context.DeadlineExceeded),
		},
		middleware.Unknown: {errors.New("eh"), errors.New("")},
	} {
		for _, err := range errs {
			require.Equal(t, want, foreign.KindOf(err), "%v", err)
		}
	}
}
