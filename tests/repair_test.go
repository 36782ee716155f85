package tests

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tests/guarantee"
)

// torn generates conversations as bad trimming, crashes and careless imports
// leave them behind.
func torn() *rapid.Generator[[]message.Message] {
	return rapid.Custom(func(t *rapid.T) []message.Message {
		var h []message.Message
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			m := message.Message{Role: rapid.SampledFrom([]message.Role{
				message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleAssistant, message.RoleTool, message.RoleTool,
			}).Draw(t, "role")}
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				id := rapid.SampledFrom([]string{"a", "b", "c", "a call with spaces"}).Draw(t, "id")
				m.Parts = append(m.Parts, rapid.SampledFrom([]message.Part{
					message.Text{Text: "text"},
					message.Text{},
					message.Media{Type: "image/png", URL: "https://example.org/a.png"},
					message.ToolCall{ID: id, Name: "tool", Arguments: `{"n":1}`},
					message.ToolCall{ID: id, Name: "tool", Arguments: `{"n":`},
					message.ToolResult{CallID: id, Text: "result"},
					message.ToolResult{CallID: id, Text: "further"},
				}).Draw(t, "part"))
			}
			h = append(h, m)
		}
		return h
	})
}

// TestRepairAgainstProvider lets a provider judge what a repair makes: it shares
// no code with the rules.
func TestRepairAgainstProvider(t *testing.T) {
	t.Parallel()
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		h := torn().Draw(t, "history")
		if guarantee.AskOpenAI(h, true) != nil {
			refused++
		}
		repaired := message.Portable.Repair(h)
		got, fixes := repaired.Messages, repaired.Fixes
		require.NoError(t, guarantee.AskOpenAI(got, true), "after %v", fixes)
	})
	require.Positive(t, refused, "nothing that was generated needed a repair")
}
