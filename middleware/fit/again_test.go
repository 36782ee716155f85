package fit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

// TestThirdAttempt has a second refusal that misses the window by little, and one that does not.
func TestThirdAttempt(t *testing.T) {
	t.Parallel()
	for second, want := range map[int]int{2570: 3, 2580: 2} {
		script := middlewaretest.Script(
			middlewaretest.Fail(overflow("prompt is too long: 4000 tokens > 2500 maximum")),
			middlewaretest.Fail(overflow(fmt.Sprintf("prompt is too long: %d tokens > 2500 maximum", second))),
			middlewaretest.Say("done"),
		)
		_, err := fit.New(fit.Options{Rules: message.OpenAI})(script.Model)(t.Context(), &middleware.Request{
			Messages: readsLogs(6), Budget: &middleware.Budget{Window: 100_000},
		}, nil)
		require.Equal(t, want == 3, err == nil, "%v", err)
		require.Len(t, script.Requests(), want, "%d tokens", second)
	}
}

// What cannot be left out exceeds the window by the number of the refusal, though not by our count: it is not sent again.
func TestSystemLongerThanTheRefusalSays(t *testing.T) {
	t.Parallel()
	h := append([]message.Message{message.System(strings.Repeat("rule ", 1900))}, readsLogs(3)...)
	count := (tokens.Meter{}).Request
	limit := count(h[:2], nil) * 105 / 100
	script := middlewaretest.Script(middlewaretest.Fail(overflow(fmt.Sprintf("prompt is too long: %d tokens > %d maximum", count(h, nil)*115/100, limit))))
	_, err := fit.New(fit.Options{Rules: message.OpenAI})(script.Model)(t.Context(), &middleware.Request{
		Messages: h, Budget: &middleware.Budget{Window: 100_000},
	}, nil)
	e, ok := errors.AsType[*fit.Irreducible](err)
	require.True(t, ok, "%v", err)
	require.Greater(t, e.Total, limit)
	require.Greater(t, e.LargestSize, limit/2)
	require.Len(t, script.Requests(), 1)
}
