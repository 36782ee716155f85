package message_test

import (
	"encoding/json"
	"strings"
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

// TestBadTextInIDs checks that two invalid IDs stay different, that results keep their calls, and that what is derived does
// not depend on later messages.
func TestBadTextInIDs(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("go on"),
		message.Assistant(call("c\xff"), call("c\xfe"), call("c\ufffd")), tool(piece("c\xfe")), tool(piece("c\ufffd"), piece("c\xff")),
		message.Assistant(call("c\xff")), tool(piece("c\xff")),
	}
	for _, r := range append(everyRules(), 0) {
		requireRepair(t, r, h)
		got := r.Repair(h).Messages
		short := r.Repair(h[:4]).Messages
		require.Equal(t, short[:len(short)-1], got[:len(short)-1], "%v: the beginning of a longer history is the same", r) // the end may be (continue)
		require.Equal(t, short[1].Parts, got[1].Parts)
	}
	got := message.Rules(0).Repair(h).Messages
	var ids []string
	answers := map[string]string{}
	for _, m := range got {
		for c := range m.Calls() {
			require.NotContains(t, ids, c.ID)
			ids = append(ids, c.ID)
		}
		for r := range m.Results() {
			answers[r.CallID] = r.Text
		}
	}
	require.Len(t, ids, 4)
	require.Equal(t, "c\ufffd", ids[2], "a valid ID stays")
	for i, was := range []string{"c\xff", "c\xfe", "c\ufffd", "c\xff"} {
		require.Equal(t, strings.ToValidUTF8("result "+was, "\ufffd"), answers[ids[i]])
	}
}
