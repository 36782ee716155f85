package middleware_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Some APIs accept a result behind other answers than the one with its call.
func TestResultsApartFromTheirCalls(t *testing.T) {
	t.Parallel()
	pay, other := message.ToolCall{ID: "a", Name: "pay", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "x", Arguments: "{}"}
	said := message.Assistant(message.Text{Text: "Wait."})
	for name, c := range map[string]struct {
		between      message.Message
		tool, newest bool
	}{
		"an answer without calls": {said, true, true},
		"other calls":             {message.Assistant(other), true, false},
	} {
		h := []message.Message{message.User("Go."), message.Assistant(pay), c.between, message.Result("a", "", "paid")}
		look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			require.Equal(t, c.tool, v.Protected(3).Tool, name)
			require.Equal(t, c.newest, v.Protected(1).Newest, name)
			require.True(t, v.Protected(3).Newest, name)
			return nil, nil
		}, middleware.Options{Strict: true})
		_, _, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Protect: []string{"pay"}}, look), &middleware.Request{Messages: h})
		require.NoError(t, err)
	}
}

// A person changes no result of a protected tool either.
func TestDraftSparesProtectedTools(t *testing.T) {
	t.Parallel()
	results := func(read, paid string) []message.Part {
		return []message.Part{
			message.ToolResult{CallID: "a", Name: "read", Text: read}, message.ToolResult{CallID: "b", Name: "pay", Text: paid},
		}
	}
	h := []message.Message{
		message.User("Go."), message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "pay", Arguments: "{}"}),
		{Role: message.RoleTool, Parts: results("a long page of a book", "paid 1 euro")},
		message.Assistant(message.Text{Text: "Done."}), message.User("And now?"),
	}
	shorten := middleware.Editing("shorten", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(2, results("-", "paid 1 euro")...)}}, nil
	}, middleware.Options{Strict: true})
	d, err := middleware.Draft(t.Context(), middleware.With(middleware.Env{Protect: []string{"pay"}}, shorten), &middleware.Request{Messages: h})
	require.NoError(t, err)
	_, err = d.Rewrite(0, results("a page", "paid 1 euro")...)
	require.NoError(t, err)
	_, err = d.Rewrite(0, results("-", "paid")...)
	require.ErrorIs(t, err, middleware.Invalid)
	require.ErrorContains(t, err, "protected tool")
}

// A new model is measured by its own rates, until it has reported a usage.
func TestSizeForAnotherModel(t *testing.T) {
	t.Parallel()
	var size middleware.Size
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		size = v.Size()
		return nil, nil
	}, middleware.Options{})
	model := middleware.Chain(look)(func(_ context.Context, r *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "Done."}), Usage: message.Usage{Input: 2 * size.Counted}}, nil
	})
	h := []message.Message{message.User(strings.Repeat("Read this page. ", 200))}
	for i, name := range []string{"one", "one", "two", "two"} {
		_, err := model(t.Context(), &middleware.Request{Messages: h, Model: name}, nil)
		require.NoError(t, err)
		require.Equal(t, i%2 == 1, size.Tokens > size.Counted*3/2, "call %d: %d of %d", i, size.Tokens, size.Counted)
		h = append(h, message.Assistant(message.Text{Text: "Done."}), message.User("Go on."))
	}
}

// A layer behind the last editor may add messages: that is no change between two editors.
func TestMessagesBehindTheLastEditor(t *testing.T) {
	t.Parallel()
	cut := middleware.Editing("cut", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(1, message.Text{Text: "-"})}}, nil
	}, middleware.Options{})
	repairs := middleware.Repairing("fit", func(context.Context, *middleware.View) (*message.Repaired, error) { return nil, nil })
	adds := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, r *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			own := *r
			own.Messages = append(slices.Clip(own.Messages), message.User("Remember the tests."))
			return next(ctx, &own, emit)
		}
	}
	var events []middleware.Event
	observe := middleware.Observe(func(_ context.Context, e middleware.Event) { events = append(events, e) })
	h := []message.Message{message.User("Go."), message.Assistant(message.Text{Text: strings.Repeat("Done. ", 50)}), message.User("And now?")}
	_, err := middleware.Chain(observe, cut, repairs, adds)(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
	})(t.Context(), &middleware.Request{Messages: h}, nil)
	require.NoError(t, err)
	for _, e := range events {
		require.NotEqual(t, middleware.Notice, e.Kind, e.Why)
	}
	require.Positive(t, events[len(events)-1].Call.Economics.Freed)
}
