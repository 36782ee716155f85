package message_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// TestBadText checks which strings must be UTF-8, that a repair replaces them, and that the bytes of media and signatures
// stay as they are.
func TestBadText(t *testing.T) {
	t.Parallel()
	const bad, good = "caf\xe9\xff!\xc3", "caf\ufffd!\ufffd" // one for each run
	user, a := message.User("go on"), message.Assistant
	result := func(r message.ToolResult) []message.Message {
		r.CallID = "a"
		return []message.Message{user, a(call("a")), tool(r)}
	}
	named := func(name string) []message.Message {
		m := message.User("hi")
		m.Name = name
		return []message.Message{m}
	}
	arguments := func(text string) []message.Message {
		return []message.Message{user, a(message.ToolCall{ID: "a", Name: "tool", Arguments: `{"path":"` + text + `"}`}), tool(piece("a"))}
	}
	tests := []struct {
		name     string
		in, want []message.Message
		at       int
		id       string
	}{
		{"the name of a message", named(bad), named(good), 0, ""},
		{"a result", result(message.ToolResult{Text: bad}), result(message.ToolResult{Text: good}), 2, "a"},
		{
			"media of a result", result(message.ToolResult{Content: message.Media{Type: bad, URL: bad, Name: bad, Data: bad}}),
			result(message.ToolResult{Content: message.Media{Type: good, URL: good, Name: good, Data: bad}}), 2, "a",
		},
		{"arguments", arguments(bad), arguments(good), 1, "a"},
		{
			"the name of a tool",
			[]message.Message{user, a(message.ToolCall{ID: "a", Name: bad, Arguments: "{}"}), tool(piece("a"))},
			[]message.Message{user, a(message.ToolCall{ID: "a", Name: good, Arguments: "{}"}), tool(piece("a"))},
			1, "a",
		},
		{
			"thinking without a signature",
			[]message.Message{user, a(message.Thinking{Text: bad}, message.Text{Text: "x"})},
			[]message.Message{user, a(message.Thinking{Text: good}, message.Text{Text: "x"})},
			1, "",
		},
		{
			"signed thinking",
			[]message.Message{user, a(message.Thinking{Text: bad, Signature: "s"}, message.Text{Text: "x"})},
			[]message.Message{user, a(message.Text{Text: "x"})},
			1, "",
		},
		{"bytes and signatures", []message.Message{user, a(message.Thinking{Text: "x", Signature: bad}, message.Media{Data: bad})}, nil, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requireRepair(t, 0, tt.in)
			got := message.Rules(0).Repair(tt.in)
			if tt.want == nil {
				require.NoError(t, message.Check(tt.in))
				return
			}
			require.Equal(t, []message.Violation{{Rule: message.BadText, At: tt.at, CallID: tt.id}}, message.Rules(0).Violations(tt.in))
			require.Equal(t, tt.want, got.Messages)
			require.Len(t, got.Fixes, 1)
			require.Equal(t, tt.at, got.Fixes[0].At)
			for _, m := range got.Messages {
				for c := range m.Calls() {
					require.True(t, json.Valid([]byte(c.Arguments)))
				}
			}
		})
	}
}
