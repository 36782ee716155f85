package issues

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// A tool message without a result became a message of the user, and no fix said
// so, if something else was repaired and nobody minded the message.
func TestRepairLeavesWhatNobodyMinds(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: "not JSON"}),
		message.Result("c", "tool", "done"),
		{Role: message.RoleTool, Parts: []message.Part{message.Opaque{Kind: "note", Data: "kept"}}},
	}
	got, fixes := message.Rules(0).Repair(h)
	require.Len(t, fixes, 1, "the arguments are what is wrong")
	require.Equal(t, h[2:], got[2:], "nothing changes that no fix names")
}
