package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// TestLoad checks that what a message weighs is at least what it takes here,
// and near to it.
func TestLoad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := writable(t)
		written, err := openai.New(m)
		require.NoError(t, err, "%v", m)
		got, is := payload.Of(&m).Bytes, len(written.String())
		require.GreaterOrEqual(t, got, is, "%s", written)
		const frame = 140 // of a message, and of a part
		most := is + is/10 + frame*(1+len(m.Parts))
		if onlyTexts(m) {
			require.LessOrEqual(t, got, most, "%s", written)
		}
		require.GreaterOrEqual(t, payload.Bound(&m).Bytes, got)
	})
}

// writable draws a message that the format can say.
func writable(t *rapid.T) message.Message {
	text := func(name string) string {
		s := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"", "plain", "\"quoted\"\n\t\\", "<a href='x'>&</a>", "\x00\x01\x7f", "\u2028", "你好，世界", "👩‍💻 é", strings.Repeat("many words ", 50)}),
		).Draw(t, name)
		return strings.ToValidUTF8(s, "?")
	}
	media := func() message.Part {
		return rapid.SampledFrom([]message.Part{
			message.Media{Type: "image/png", Data: text("data")},
			message.Media{Type: "image/*", URL: "https://example.com/" + text("url")},
			message.Media{Type: "audio/wav", Data: text("data")},
			message.Media{Type: "application/pdf", Data: text("data"), Name: text("name")},
			message.Opaque{Kind: "hologram", Data: `{"type":"hologram","x":[1,2,3]}`},
		}).Draw(t, "media")
	}
	m := message.Message{Role: rapid.SampledFrom([]message.Role{message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleTool}).Draw(t, "role")}
	if m.Role == message.RoleTool {
		r := message.ToolResult{CallID: "call_1", Name: "tool", Error: rapid.Bool().Draw(t, "error")}
		for range rapid.IntRange(1, 3).Draw(t, "pieces") {
			piece := r
			if rapid.Bool().Draw(t, "with media") {
				piece.Content = media()
			} else {
				piece.Text = text("result")
			}
			m.Parts = append(m.Parts, piece)
		}
		return m
	}
	m.Name = text("name")
	if m.Role == message.RoleAssistant && rapid.Bool().Draw(t, "thinking") {
		m.Parts = append(m.Parts, message.Thinking{Text: "x" + text("thinking")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			m.Parts = append(m.Parts, media())
		} else {
			m.Parts = append(m.Parts, message.Text{Text: text("text")})
		}
	}
	if m.Role == message.RoleAssistant {
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			m.Parts = append(m.Parts, message.ToolCall{ID: text("id"), Name: text("tool"), Arguments: text("arguments")})
		}
	}
	return m
}

func onlyTexts(m message.Message) bool {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text, message.Thinking, message.ToolCall:
		case message.ToolResult:
			if p.Content != nil {
				return false
			}
		case message.Media, message.Opaque:
			return false
		}
	}
	return true
}

// long has what a program may send: a developer, marks for caches, fields that nobody knows, strict and custom tools.
const long = `{"model": "gpt-4.1", "temperature": 0.20,
 "messages": [
  {"role": "developer", "content": [{"type": "text", "text": "You fix builds.", "cache_control": {"type": "ephemeral"}}]},
  {"role": "user", "content": "Why does it fail?", "x-time": 1.50},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "make"}}, {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "b", "content": "a long page"},
  {"role": "tool", "tool_call_id": "a", "content": "a long log", "x-time": 2.50},
  {"role": "assistant", "content": "It is the linker.", "annotations": []},
  {"role": "user", "content": "How much memory?", "cache_control": {"type": "ephemeral"}}
 ],
 "tools": [
  {"type": "function", "function": {"name": "read", "strict": true, "description": "Reads <a> page.", "parameters": {"type": "object"}}, "x": 1.0},
  {"type": "custom", "custom": {"name": "sh", "format": {"type": "text"}}}
 ], "tool_choice": "auto", "parallel_tool_calls": false, "n": 1e0}
`

func TestBody(t *testing.T) {
	t.Parallel()
	type list = []message.Message
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(long) }
	lines := strings.SplitAfter(long, "\n")
	without := func(from, to int, with string) string {
		return strings.Join(slices.Concat(lines[:from], []string{with}, lines[to:]), "")
	}
	for name, c := range map[string]struct {
		edit func(m list, tools []message.ToolDef) (list, []message.ToolDef)
		want string
	}{
		"nothing changed": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) { return m, tools }, long},
		"a cleared result": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			m[4] = message.Result("a", "", "[cleared]")
			return m, tools
		}, replaced("a long log", "[cleared]")},
		"results in the order of the calls": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			m[3], m[4] = message.Result("a", "", "[cleared]"), m[3]
			return m, tools
		}, without(5, 7, strings.Replace(lines[6], "a long log", "[cleared]", 1)+lines[5])},
		"an edited system message and question": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			m[0], m[6] = message.System("Short."), message.User("Memory?")
			return m, tools
		}, replaced("You fix builds.", "Short.", "How much memory?", "Memory?")},
		"a shortened call": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			m[2] = message.Assistant(message.ToolCall{ID: "a", Name: "sh", Arguments: `{"input": "…"}`}, m[2].Parts[1])
			return m, tools
		}, replaced(`"input": "make"`, `"input": "…"`)},
		"a fold": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			return slices.Concat(m[:2], list{message.Assistant(message.Text{Text: "a"}, message.Text{Text: "b"})}, m[6:]), tools
		}, without(4, 8, `  {"role":"assistant","content":"a\nb"},`+"\n")},
		"a message repeated at the end": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			return append(m, message.Assistant(message.Text{Text: "So?"}), m[1]), tools
		}, without(8, 9, strings.TrimSuffix(lines[8], "\n")+",\n  "+`{"role":"assistant","content":"So?"},`+"\n  "+`{"role":"user","content":"Why does it fail?"}`+"\n")},
		"no tools": {func(m list, _ []message.ToolDef) (list, []message.ToolDef) {
			return m, nil
		}, without(10, 14, ` "n": 1e0}`+"\n")},
		"one tool changed, one more": {func(m list, tools []message.ToolDef) (list, []message.ToolDef) {
			tools = slices.Clone(tools)
			tools[0].Description, tools[0].Parameters = "Reads.", ""
			return m, append(tools, message.ToolDef{Name: "recall", Description: "<a>", Parameters: `{"type":"object"}`})
		}, replaced("Reads <a> page.", "Reads.", `, "parameters": {"type": "object"}`, "", `{"type": "text"}}}`,
			`{"type": "text"}}},`+"\n  "+`{"type":"function","function":{"name":"recall","description":"<a>","parameters":{"type":"object"}}}`)},
	} {
		conv, err := openai.Parse([]byte(long))
		require.NoError(t, err, name)
		out, err := conv.Body(c.edit(conv.History(), conv.Tools))
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(out), name)
	}
}
