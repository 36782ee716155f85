package shorten_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// What is found among the narrowed parts is what is found among all, whatever their order.
func TestFinder(t *testing.T) {
	t.Parallel()
	var many, calls []message.Part
	for i := range 60 {
		many = append(many, message.ToolResult{CallID: fmt.Sprint(i % 23), Text: fmt.Sprint(i)}, message.Text{Text: "note"})
		calls = append(calls, message.ToolCall{ID: fmt.Sprint(i), Name: "read"})
	}
	var f shorten.Finder
	for _, parts := range [][]message.Part{many, many[:3], many[:40], nil} {
		for i := range 25 {
			id := fmt.Sprint(i)
			require.Equal(t, shorten.Result(parts, id), append([]message.Part(nil), shorten.Result(f.Among(parts, id), id)...))
		}
	}
	for i := range 61 {
		id := fmt.Sprint(i)
		require.Equal(t, shorten.Call(calls, id), shorten.Call(f.Among(calls, id), id))
	}
	require.Len(t, f.Among(calls, "7"), 1, "of many parts only those with the ID are left")
}
