package fit_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// An ID that an answer has brought is valid for its server; one that came from elsewhere is renamed until then.
func TestIDsOfAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, model, foreign, own string }{
		"Mistral":                  {"chat", "mistral-large-latest", "call_0123456789", "call_9876543210"},
		"Mistral without a format": {"", "mistral-large-latest", "call_0123456789", "call_9876543210"},
		"Messages of others":       {"messages", "kimi-k3", "functions.read#0", "functions.read:1"},
		"Messages":                 {"messages", "claude-opus-5", "functions.read#0", "toolu:1"},
		"OpenAI":                   {"chat", "gpt-4.1", "a-very-long-identifier-of-another-provider", "an-identifier-that-our-own-server-has-made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []message.Message
			answer := message.Assistant(message.ToolCall{ID: c.own, Name: "read", Arguments: "{}"})
			model := middleware.With(middleware.Env{}, fit.New(fit.Options{}))(
				func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
					sent = req.Messages
					return &middleware.Response{Message: answer}, nil
				})
			ask := func(h ...message.Message) {
				_, err := model(t.Context(), &middleware.Request{Format: c.format, Model: c.model, Messages: h}, nil)
				require.NoError(t, err)
			}
			h := []message.Message{
				message.User("Read both."), message.Assistant(message.ToolCall{ID: c.foreign, Name: "read", Arguments: "{}"}),
				message.Result(c.foreign, "read", "one"),
			}
			ask(h...)
			require.False(t, sent[1].Equal(h[1]), "an ID that this server would refuse is renamed")
			h = append(h, answer, message.Result(c.own, "read", "two"))
			ask(h...)
			require.Equal(t, h, sent, "after an answer with such an ID, all are as they came")
		})
	}
}
