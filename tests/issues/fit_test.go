package issues

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// Tools that fit declares for the calls in the messages kept their weight when the
// calls were gone, and requests that would fit were irreducible.
func TestUndeclaredToolsWeighNothing(t *testing.T) {
	t.Parallel()
	const limit = 700 // bytes: enough for two questions and the note, not for the tool as well
	chain := fit.New(fit.Options{Rules: message.Anthropic, Limits: message.Limits{Bytes: limit}})
	history := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: "{}"}),
		message.Result("c", "tool", strings.Repeat("long ", 200)),
		message.Assistant(message.Text{Text: "done"}),
		message.User(strings.Repeat("why? ", 40)),
	}
	req, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history})
	require.NoError(t, err, "%v", events)
	require.Empty(t, req.Tools)
	require.Empty(t, message.Limits{Bytes: limit}.Broken(req.Messages, message.Load{}))
}
