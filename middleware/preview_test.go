package middleware_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// core is what only the middlewares of this module ask the core.
var core = middleware.Internals(inside.Key{})

// inView calls fn with the view of a history.
func inView(t *testing.T, h []message.Message, fn func(v *middleware.View) *middleware.Plan) (*middleware.Request, []middleware.Event) {
	t.Helper()
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) { return fn(v), nil }, middleware.Options{})
	sent, events, err := middleware.Apply(t.Context(), look, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return sent, events
}

// TestPreview makes a plan, looks at what it would make, and has it made.
func TestPreview(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Why does it fail?"),
		message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}), message.Result("a", "read", strings.Repeat("log ", 100)),
		message.Assistant(message.Text{Text: "I do not know."}), message.User("Look again."),
	}
	var preview *middleware.View
	sent, _ := inView(t, h, func(v *middleware.View) *middleware.Plan {
		clearing := &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(2, message.ToolResult{CallID: "a", Name: "read", Text: "-"})}}
		var err error
		preview, err = core.Preview(v, "look", clearing)
		require.NoError(t, err)
		require.Equal(t, h, v.Messages(), "nothing is changed by it")
		require.Equal(t, preview.Size().Tokens, core.Without(v, v.Size().Counted-preview.Size().Counted).Size().Tokens, "what TokensWithout foretells")

		same, err := core.Preview(v, "look", &middleware.Plan{})
		require.NoError(t, err)
		require.Same(t, v, same, "an empty plan makes no other view")

		_, err = core.Preview(v, "look", &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(0, 0)}})
		require.ErrorContains(t, err, "message 0 is protected", "a plan that would be refused")
		_, err = core.Preview(v, "look", &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(7, 7)}})
		require.ErrorContains(t, err, "folds messages 7 to 7 of 5", "a plan for another view")
		return clearing
	})
	require.Equal(t, sent.Messages, preview.Messages(), "the preview is what is made")
	require.Equal(t, sent.View().Size().Tokens, preview.Size().Tokens)
}

// TestAgain has a layer between two editors that makes a call once more.
func TestAgain(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Why?"), message.Assistant(message.Text{Text: strings.Repeat("a ", 50)}), message.User("And?"),
		message.Assistant(message.Text{Text: strings.Repeat("b ", 50)}), message.User("Then?"),
	}
	shortens := func(name string, at int) middleware.Middleware {
		return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			text := v.At(at).Text()
			if len(text) < 20 {
				return nil, nil
			}
			return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(at, message.Text{Text: text[:len(text)/2]})}}, nil
		}, middleware.Options{})
	}
	again := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if _, err := next(ctx, req, emit); err != nil {
				return nil, err
			}
			return next(ctx, core.Again(req, false), emit)
		}
	}
	var heard middlewaretest.Recorder
	script := middlewaretest.Script(middlewaretest.Say("once"), middlewaretest.Say("twice"))
	_, err := middleware.Chain(heard.Middleware(), shortens("first", 1), again, shortens("second", 3))(script.Model)(
		t.Context(), &middleware.Request{Messages: h}, nil)
	require.NoError(t, err)
	var lengths [][2]int
	for _, req := range script.Requests() {
		lengths = append(lengths, [2]int{len(req.Messages[1].Text()), len(req.Messages[3].Text())})
	}
	require.Equal(t, [][2]int{{50, 50}, {50, 25}}, lengths, "the second attempt begins with the edits of the first")
	require.Len(t, heard.Events(), 3, "and nothing else is told: %v", heard.Events())

	req := &middleware.Request{Messages: h, Model: "m"}
	require.Equal(t, req, core.Again(req, false), "without a view there is nothing to take back")
	require.NotSame(t, req, core.Again(req, false))
}

// TestTell has a middleware that tells something beside its edits.
func TestTell(t *testing.T) {
	t.Parallel()
	_, events := inView(t, []message.Message{message.User("Why?")}, func(v *middleware.View) *middleware.Plan {
		v.Report(t.Context(), middleware.Event{Kind: "told", By: "look", Why: "so little"})
		return nil
	})
	require.Len(t, events, 1)
	require.Equal(t, "look: told: so little", events[0].String())
	require.False(t, events[0].Time.IsZero(), "with the time of the chain")
}
