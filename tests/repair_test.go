package tests

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
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
		if sent(t, h) != nil {
			refused++
		}
		got, fixes := message.Portable.Repair(h)
		if len(got) == 0 {
			return // a provider wants one message at least, and there was nothing to say
		}
		require.NoError(t, sent(t, got), "after %v", fixes)
	})
	require.Positive(t, refused, "nothing that was generated needed a repair")
}

// sent returns what the provider says of a list.
func sent(t *rapid.T, h []message.Message) error {
	var msgs []openai.Message
	for _, m := range h {
		for _, one := range byCall(m) {
			msg, err := openai.New(one)
			if err != nil {
				return err
			}
			msgs = append(msgs, msg)
		}
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": msgs})
	require.NoError(t, err)
	r, err := fakeprovider.Parse(body)
	if err != nil {
		return err
	}
	return r.Check(fakeprovider.Options{})
}

// byCall cuts a tool message into one for each call, as the wire has it.
func byCall(m message.Message) []message.Message {
	if m.Role != message.RoleTool {
		return []message.Message{m}
	}
	var ids []string
	for r := range m.Results() {
		if !slices.Contains(ids, r.CallID) {
			ids = append(ids, r.CallID)
		}
	}
	var out []message.Message
	for _, id := range ids {
		one := message.Message{Role: message.RoleTool}
		for r := range m.Results() {
			if r.CallID == id {
				one.Parts = append(one.Parts, r)
			}
		}
		out = append(out, one)
	}
	return out
}
