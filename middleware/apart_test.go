package middleware_test

import (
	"context"
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
		{Role: message.RoleTool, Parts: results("a long page of a book", "paid 1 euro")}, message.Assistant(message.Text{Text: "Done."}), message.User("And now?"),
	}
	clear := middleware.Editing("clear", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(2, results("-", "paid 1 euro")...)}}, nil
	}, middleware.Options{Strict: true})
	d, err := middleware.Draft(t.Context(), middleware.With(middleware.Env{Protect: []string{"pay"}}, clear), &middleware.Request{Messages: h})
	require.NoError(t, err)
	_, err = d.Rewrite(0, results("a page", "paid 1 euro")...)
	require.NoError(t, err)
	_, err = d.Rewrite(0, results("-", "paid")...)
	require.ErrorIs(t, err, middleware.Invalid)
	require.ErrorContains(t, err, "protected tool")
}
