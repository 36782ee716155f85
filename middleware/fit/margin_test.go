package fit_test

import (
	"context"
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

// A view that fills the window by an estimate is shortened: it may have more tokens than that. By a counter that the
// caller has set, or with the usage of the prompt before, it is sent whole.
func TestMargin(t *testing.T) {
	t.Parallel()
	h := middlewaretest.ReAct{Rounds: 12, Result: 600}.Messages()
	size := (tokens.Meter{}).Request(h, nil)
	answered := func(charged int) []message.Message {
		before := append([]message.Message(nil), h...)
		before[len(h)-2].Usage = &message.Usage{Input: charged}
		return before
	}
	for name, c := range map[string]struct {
		history []message.Message
		counter tokens.Counter
		window  int
		edited  bool
	}{
		"with room":           {h, nil, size * 107 / 100, false},
		"almost without":      {h, nil, size * 103 / 100, true},
		"without":             {h, nil, size - 1, true},
		"set by the caller":   {h, named{}, size * 103 / 100, false},
		"usage is known":      {answered((tokens.Meter{}).Request(h[:len(h)-2], nil)), nil, size * 103 / 100, false},
		"usage, without room": {answered((tokens.Meter{}).Request(h[:len(h)-2], nil)), nil, size, true},
	} {
		chain := middleware.With(middleware.Env{Counter: c.counter}, fit.New(fit.Options{Rules: message.OpenAI}))
		sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{
			Messages: c.history, Budget: &middleware.Budget{Window: c.window},
		})
		require.NoError(t, err, name)
		require.Equal(t, c.edited, len(events) > 0, "%s: %v", name, events)
		require.LessOrEqual(t, sent.View().Size().Tokens, c.window, name)
		if c.edited && c.window > size {
			require.Contains(t, events[0].Why, "for the error of the count", name)
		}
	}
}

// named counts like an estimate, but is a counter of the caller.
type named struct{}

func (named) Count(text string) int { return tokens.Estimate{}.Count(text) }

// A margin is no reason to refuse a request, nor to cut what is cut only if nothing else helps: in each window
// the call works that worked without a margin.
func TestMarginRefusesNothing(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Write the report. " + strings.Repeat("It has many parts. ", 20)),
		message.Assistant(message.ToolCall{ID: "a", Name: "write", Arguments: fmt.Sprintf(`{"text":%q}`, strings.Repeat("a word ", 60))}),
		message.Result("a", "write", "done"),
	}
	for window := 30; window < 400; window++ {
		ask := func(counter tokens.Counter) (int, error) {
			chain := middleware.With(middleware.Env{Counter: counter}, fit.New(fit.Options{Rules: message.Mistral}))
			sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
			if err != nil {
				return 0, err
			}
			return len(sent.Messages[1].Parts[0].(message.ToolCall).Arguments), nil
		}
		with, err := ask(nil)
		without, want := ask(named{})
		require.Equal(t, want == nil, err == nil, "window %d: %v", window, err)
		require.Equal(t, middleware.KindOf(want), middleware.KindOf(err), "window %d", window)
		require.Equal(t, without, with, "window %d: arguments of the newest call", window)
	}
}

// After a refusal the second attempt has a margin as well.
func TestMarginAfterARefusal(t *testing.T) {
	t.Parallel()
	h := middlewaretest.ReAct{Rounds: 30, Result: 900}.Messages()
	var sizes []middleware.Size
	model := middleware.Chain(fit.New(fit.Options{Rules: message.OpenAI}))(
		func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			sizes = append(sizes, req.View().Size())
			if len(sizes) == 1 {
				return nil, overflow("This model's maximum context length is 4000 tokens. However, your messages resulted in 8000 tokens.")
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}, nil
		})
	_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
	require.NoError(t, err)
	require.Len(t, sizes, 2)
	require.Positive(t, sizes[1].Margin, "of what was removed")
	require.LessOrEqual(t, sizes[1].Tokens+min(sizes[1].Margin, 200), 4000)
}
