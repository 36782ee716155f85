package fit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// TestRepairsOfWhatIsGone has a history whose repairs take a large part of the
// window, but only as long as all of it is there.
func TestRepairsOfWhatIsGone(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 40, Result: 300, Thought: 100}.Messages()
	req, _, err := middleware.Apply(t.Context(), fit.New(fit.Options{}),
		&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 1500}})
	require.NoError(t, err)
	require.LessOrEqual(t, req.View().Size().Tokens, 1500)
	require.Greater(t, req.View().Size().Tokens, 1000, "no room is kept free for repairs of messages that are not sent")
}
