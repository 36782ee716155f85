package microcompact_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// In a large window, FreshTokens bounds a new result: 8,000 tokens where the model can read the rest.
func TestFreshTokens(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	for name, c := range map[string]struct {
		archive store.Store
		opts    microcompact.Options
		size    int // of the result
		most    int // tokens that are left; 0: all
	}{
		"with an archive":      {archive, microcompact.Options{}, 60_000, 8000},
		"as large as it may":   {archive, microcompact.Options{}, 7900, 0},
		"without one":          {nil, microcompact.Options{}, 60_000, 0},
		"given":                {nil, microcompact.Options{FreshTokens: 3000}, 60_000, 3000},
		"no limit":             {archive, microcompact.Options{FreshTokens: -1}, 60_000, 0},
		"new results are kept": {archive, microcompact.Options{FreshShare: -1}, 60_000, 0},
		"no share":             {archive, microcompact.Options{FreshShare: -1, FreshTokens: 2000}, 60_000, 2000},
		"the smaller one":      {archive, microcompact.Options{FreshShare: 0.001}, 60_000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat("ok\n", c.size*4/3)
			h := []message.Message{
				message.User("Read it."), message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}), message.Result("a", "read", text),
			}
			chain := middleware.With(middleware.Env{Archive: c.archive, Counter: tokens.Chars4}, microcompact.New(c.opts))
			req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 1_000_000}})
			require.NoError(t, err)
			n := tokens.Chars4.Count(req.Messages[2].Parts[0].(message.ToolResult).Text)
			if c.most == 0 {
				require.Equal(t, h, req.Messages)
				return
			}
			require.LessOrEqual(t, n, c.most)
			require.Greater(t, n, c.most*9/10)
		})
	}
}
