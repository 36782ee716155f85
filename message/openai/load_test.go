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

// TestLoad checks that what a message weighs is at least what it takes here, and near to it in texts.
func TestLoad(t *testing.T) {
	t.Parallel()
	requireLoad := func(t require.TestingT, m message.Message) {
		written, err := openai.New(m)
		if err != nil {
			return // the format cannot say it
		}
		got, is := payload.Of(&m).Bytes, len(written.String())
		require.GreaterOrEqual(t, got, is, "%s", written)
		if text := written.String(); !strings.Contains(text, "hologram") && !strings.Contains(text, "url") {
			const frame = 140 // of a message, and of a part
			require.LessOrEqual(t, got, is+is/10+frame*(1+len(m.Parts)), "%s", written)
		}
		require.GreaterOrEqual(t, payload.Bound(&m).Bytes, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		m, err := openai.CheckMessage([]byte(wire{t}.message()))
		require.NoError(t, err)
		requireLoad(t, m.Message())
	})
	data := strings.Repeat("\x89PNG and more", 100)
	requireLoad(t, message.Message{Role: message.RoleUser, Name: "<ann>", Parts: []message.Part{
		message.Text{Text: "\"quoted\"\n\t\\\x00\x7f\u2028你好"},
		message.Media{Type: "image/png", Data: data},
		message.Media{Type: "audio/wav", Data: data},
		message.Media{Type: "application/pdf", Data: data, Name: "a b.pdf"},
		message.Media{Type: "image/*", URL: "https://example.com/<a>"},
	}})
	requireLoad(t, message.Message{Role: message.RoleTool, Parts: []message.Part{
		message.ToolResult{CallID: "c", Name: "tool", Text: "see", Error: true}, message.ToolResult{CallID: "c", Content: message.Media{Type: "image/png", Data: data}},
	}})
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
