package microcompact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
)

// TestLateResult shows that a result which comes behind the answer is one of an old
// round, also for a process that has seen the conversation before it came.
func TestLateResult(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Look."),
		message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}),
		message.Result("a", "read", "ok"),
		message.Assistant(message.Text{Text: "It is fine."}),
		message.Result("a", "read", strings.Repeat("late ", 400)),
	}
	mw := microcompact.New(microcompact.Options{KeepRounds: -1, FreshShare: -1})
	seen := func(mw middleware.Middleware, msgs []message.Message) []message.Message {
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: msgs})
		require.NoError(t, err)
		return sent.Messages
	}
	require.Equal(t, h[:4], seen(mw, h[:4]), "nothing is long yet")
	view := seen(mw, h)
	for r := range view[4].Results() {
		require.Equal(t, "[truncated: 2000 chars]", r.Text)
	}
	require.Equal(t, view, seen(microcompact.New(microcompact.Options{KeepRounds: -1, FreshShare: -1}), h), "a process that has seen nothing has the same view")
}
