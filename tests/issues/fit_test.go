package issues

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
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
	require.Empty(t, payload.Broken(message.Limits{Bytes: limit}, req.Messages, payload.Load{}))
}

// A picture of the first question gave way to a note with a handle, and later there
// was no room for the handle: the request was irreducible by the few tokens that it
// takes.
func TestHandlesMakeNothingIrreducible(t *testing.T) {
	t.Parallel()
	history := []message.Message{
		message.System("You look at pictures."),
		{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "What is it?"}, message.Media{Type: "image/png", Data: strings.Repeat("picture", 9), Name: "plan.png"}}},
		message.Assistant(message.Text{Text: "A plan."}),
		message.User("And what is on it, " + strings.Repeat("by all its lines, ", 20)),
	}
	fits := func(window int, archive store.Store) (first, second bool) {
		chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, fit.New(fit.Options{Rules: message.OpenAI}))
		budget := &middleware.Budget{Window: window}
		_, _, err1 := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history[:2], Budget: budget})
		_, _, err2 := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: history, Budget: budget})
		return err1 == nil, err2 == nil
	}
	for window := 20; window < 200; window++ {
		first, second := fits(window, store.NewMemory(0))
		alsoFirst, alsoSecond := fits(window, nil)
		require.Equal(t, alsoFirst, first, "window %d", window)
		require.Equal(t, alsoSecond, second, "window %d", window)
	}
}

// Arguments of the newest round were shortened as the last resort, and then its second result arrived. The same
// edit was planned for the longer history, taken for the one that no longer held, and the call failed in all
// repetitions: the model was not asked.
func TestResultAfterTheLastResort(t *testing.T) {
	t.Parallel()
	history := []message.Message{
		message.User("go"),
		message.Assistant(
			message.ToolCall{ID: "a", Name: "write", Arguments: `{"text":"` + strings.Repeat("long ", 4000) + `"}`},
			message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}),
		message.Result("a", "write", "done"),
	}
	asked := 0
	model := fit.New(fit.Options{})(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		asked++
		if asked == 1 {
			return nil, &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: errors.New("529: overloaded")}
		}
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"}), Stop: middleware.StopEnd}, nil
	})
	req := &middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 2000}}
	_, err := model(t.Context(), req, nil)
	require.ErrorContains(t, err, "529")
	req.Messages = append(history, message.Result("b", "read", "two")) //nolint:gocritic // the history grows
	_, err = model(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, 2, asked, "the call succeeds at once")
}
