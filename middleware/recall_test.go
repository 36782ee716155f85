package middleware_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// planning makes an editor that makes the same edits in each view that is longer
// than some messages.
func planning(name string, beyond int, edits ...middleware.Edit) middleware.Middleware {
	return middleware.Editing(name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() <= beyond {
			return nil, nil
		}
		return &middleware.Plan{Edits: edits}, nil
	}, middleware.Options{})
}

// TestFoldsOfHalfARound has a round with a result that is there twice. Two folds
// take a half each, one after the other: what the last layer sees is what is sent,
// in this call and in the next.
func TestFoldsOfHalfARound(t *testing.T) {
	t.Parallel()
	seen := 0
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		seen = v.Len()
		return nil, nil
	}, middleware.Options{})
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: "{}"}),
		message.Result("c", "tool", words(100)),
		message.Result("c", "tool", words(100)),
		message.Assistant(message.Text{Text: "done"}),
		message.User("and now?"),
	}
	chain := middleware.Chain(planning("twice", 5, middleware.FoldOf(3, 3)), planning("rest", 4, middleware.FoldOf(1, 2)), look)
	for range 2 {
		req, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
		require.NoError(t, err)
		require.Len(t, req.Messages, 3, "both folds are kept: %v", events)
		require.Equal(t, 3, seen, "what the last layer saw is what is sent")
	}
}

// TestAnEarlierCallKeepsItsNewestRound makes a call on a history, and then one on
// its beginning, as after an undo: of the edits of the first, those do not hold
// that the second could not have made.
func TestAnEarlierCallKeepsItsNewestRound(t *testing.T) {
	t.Parallel()
	call := message.Message{Role: message.RoleAssistant, Parts: []message.Part{
		message.Thinking{Text: words(50), Signature: "s"}, message.ToolCall{ID: "c", Name: "tool", Arguments: `{"a":"` + words(50) + `"}`},
	}}
	bare := message.ToolCall{ID: "c", Name: "tool", Arguments: "{}"}
	result := message.Result("c", "tool", words(100))
	h := []message.Message{
		message.User("go"), message.Assistant(message.Text{Text: "well"}), message.User("go on"), call, result,
		message.User("and now?"), message.Assistant(message.ToolCall{ID: "d", Name: "tool", Arguments: "{}"}), message.Result("d", "tool", "done"),
	}
	for name, c := range map[string]struct {
		edit middleware.Edit
		want int // messages of the earlier call that are sent, of 5
	}{
		"arguments":   {middleware.RewriteOf(3, call.Parts[0], bare), 5},
		"thinking":    {middleware.RewriteOf(3, call.Parts[1]), 5},
		"a result":    {middleware.RewriteOf(4, message.ToolResult{CallID: "c", Name: "tool", Text: "[cleared]"}), 5},
		"a round":     {middleware.FoldOf(3, 4), 5},
		"an old part": {middleware.FoldOf(1, 1), 4},
		"shortened":   {middleware.RewriteOf(4, message.ToolResult{CallID: "c", Name: "tool", Text: words(10)}), 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := middleware.Chain(planning("edit", 7, c.edit))
			_, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Len(t, events, 1)
			require.Equal(t, middleware.Edited, events[0].Kind, "%v", events)
			req, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h[:5]})
			require.NoError(t, err)
			require.Len(t, req.Messages, c.want)
			if name == "shortened" {
				require.Equal(t, words(10), req.Messages[4].Parts[0].(message.ToolResult).Text, "this it could have made")
				return
			}
			for i := range 3 {
				require.True(t, h[4-i].Equal(req.Messages[c.want-1-i]), "message %d is protected, and stays", 4-i)
			}
		})
	}
}
