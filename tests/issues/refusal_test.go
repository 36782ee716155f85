package issues

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// An error that only quotes words of a refusal was read as one: the model was called again, and its window became tiny.
func TestQuotedRefusal(t *testing.T) {
	t.Parallel()
	const pasted = "prompt is too long: 100 tokens > 2 maximum"
	history := []message.Message{
		message.User("What does 'Prompt is  too long: 100 tokens > 2 maximum' mean?"),
		message.Assistant(message.ToolCall{ID: "c", Name: "log", Arguments: `{"text": "Input is too long for requested model"}`}),
		message.Result("c", "log", "503\nmaximum context length is\n20 tokens"),
	}
	for text, refused := range map[string]bool{
		fmt.Sprintf("invalid tool result %q: want JSON", pasted):                               false,
		"unknown field 'maximum context length is 30 tokens'":                                  false,
		"invalid text " + pasted + " in message 0":                                             false,
		"cannot parse maximum context length is 20 tokens":                                     false,
		"arguments of c: Input is too long for requested model":                                false,
		"prompt is too long: 5000 tokens > 4096 maximum":                                       true,
		`{"error":{"message":"prompt is too long: 5000 tokens > 4096 maximum"}}`:               true,
		`{"message":"Input is too long for requested model","code":"context_length_exceeded"}`: true,
	} {
		calls, failure, budgets := 0, errors.New(text), []middleware.Budget{}
		model := middleware.Chain(
			middleware.Editing("budget", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				b, _ := v.Budget()
				budgets = append(budgets, b)
				return nil, nil
			}, middleware.Options{}),
			fit.New(fit.Options{}),
		)(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			calls++
			if calls == 1 {
				return nil, failure
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
		})
		req := &middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 100_000}}
		_, err := model(t.Context(), req, nil)
		if refused {
			require.NoError(t, err, text)
			require.Equal(t, 2, calls, text)
			continue
		}
		require.Equal(t, failure, err, "%s: the model's own error", text)
		require.Equal(t, 1, calls, text)
		_, err = model(t.Context(), req, nil)
		require.NoError(t, err)
		require.Equal(t, 2, calls, text)
		require.Equal(t, []middleware.Budget{{Window: 100_000}, {Window: 100_000}}, budgets, "%s: nothing is learned", text)
	}
}
