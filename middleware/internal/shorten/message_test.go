package shorten_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// mixed has two results in five pieces, and a text between them.
var mixed = []message.Part{
	message.ToolResult{CallID: "a", Name: "read", Text: "one"},
	message.ToolResult{CallID: "a", Name: "read", Content: message.Media{Type: "image/png", Data: "."}},
	message.ToolResult{CallID: "b", Name: "read", Text: "other"},
	message.Text{Text: "between"},
	message.ToolResult{CallID: "a", Name: "read", Text: "two"},
	message.ToolResult{CallID: "a", Name: "read", Text: "three", Error: true},
}

// many returns the parts with others after them.
func many(parts []message.Part) []message.Part {
	out := slices.Clone(parts)
	for i := range 20 {
		out = append(out, message.ToolResult{CallID: fmt.Sprint(i)}, message.ToolCall{ID: fmt.Sprint(i)})
	}
	return out
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]message.Part{mixed, many(mixed), mixed} {
		var at []int
		for i, r := range shorten.Pieces(parts, "a") {
			require.Equal(t, mixed[i], message.Part(r))
			at = append(at, i)
		}
		require.Equal(t, []int{0, 1, 4, 5}, at)
		require.Equal(t, []message.Part{mixed[0], mixed[1], mixed[4], mixed[5]}, shorten.Result(parts, "a"))
		require.Equal(t, mixed[2:3], shorten.Result(parts, "b"))
		require.Equal(t, []string{"a", "b"}, slices.Collect(shorten.CallIDs(parts))[:2])
		require.True(t, shorten.Failed(parts, "a"))
		require.False(t, shorten.Failed(parts, "b"))
		require.Empty(t, shorten.Result(parts, "c"))
	}
	require.Equal(t, []string{"a", "b"}, slices.Collect(shorten.CallIDs(mixed)))
	require.Len(t, slices.Collect(shorten.CallIDs(many(mixed))), 22)
	require.Equal(t, mixed[2:3], shorten.Result(mixed[2:3], "b"))
	require.Empty(t, shorten.Result(mixed[2:3], "a"))
}

func TestCall(t *testing.T) {
	t.Parallel()
	call := message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}
	few := []message.Part{message.Text{Text: "b"}, message.ToolResult{CallID: "b"}, message.ToolCall{ID: "a"}, call, message.ToolCall{ID: "b"}}
	for _, parts := range [][]message.Part{few, many(few)} {
		require.Equal(t, call, shorten.Call(parts, "b"), "the first of two")
		require.Zero(t, shorten.Call(parts, "c"))
	}
}

func TestWithoutThinking(t *testing.T) {
	t.Parallel()
	text, thought := message.Text{Text: "so"}, message.Thinking{Text: "because"}
	parts, ok := shorten.WithoutThinking(message.Assistant(thought, text, thought))
	require.True(t, ok)
	require.Equal(t, []message.Part{text}, parts)
	_, ok = shorten.WithoutThinking(message.Assistant(text))
	require.False(t, ok, "there is no thinking")
	_, ok = shorten.WithoutThinking(message.Assistant(thought))
	require.False(t, ok, "the rest would be empty")
}
