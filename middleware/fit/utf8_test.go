package fit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// TestBadText sends a result that is not UTF-8 to a model with the JSON of OpenAI in each turn of a conversation. Each request
// can be written, begins with the bytes of the one before, and the repair of a message is reported once.
func TestBadText(t *testing.T) {
	t.Parallel()
	var bodies []string
	model := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		body, err := (&openai.Conversation{Model: req.Model}).Body(req.Messages, req.Tools)
		bodies = append(bodies, strings.TrimSuffix(string(body), "]}"))
		return &middleware.Response{Stop: middleware.StopEnd, Message: message.Assistant(message.Text{Text: "ok"})}, err
	}
	repairs := 0
	chain := middleware.Chain(middleware.Observe(func(_ context.Context, e middleware.Event) {
		if fixes, ok := e.Detail.([]message.Fix); ok {
			repairs += len(fixes)
		}
	}), fit.New(fit.Options{}))(model)
	h := []message.Message{message.User("Read the logs.")}
	for turn := range 4 {
		id, path := fmt.Sprintf("c%d\xff", turn), fmt.Sprintf(`{"path":"caf%c.log"}`, 0xe0+turn)
		h = append(
			h, message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: path[:12] + "\xe9" + path[12:]}),
			message.Result(id, "read_log", "caf\xe9 \xff\xfe closed"),
		)
		answer, err := chain(t.Context(), &middleware.Request{Model: "gpt-4.1-mini", Messages: h}, nil)
		require.NoError(t, err)
		require.Contains(t, bodies[turn], "caf\ufffd \ufffd closed")
		h = append(h, answer.Message, message.User("And again?"))
		require.Equal(t, 3*(turn+1), repairs, "each repair is reported once: the arguments, the ID and the result")
		if turn > 0 {
			require.True(t, strings.HasPrefix(bodies[turn], bodies[turn-1]), "%s\ndoes not begin with\n%s", bodies[turn], bodies[turn-1])
		}
	}
	require.Contains(t, h[2].Parts, message.Part(message.ToolResult{CallID: "c0\xff", Name: "read_log", Text: "caf\xe9 \xff\xfe closed"}))
}
