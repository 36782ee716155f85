package replay

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

const (
	simple  = `{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}`
	ownForm = `{"id": "c1", "model": "gpt-4o", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"},` +
		`{"role": "assistant", "content": null, "tool_calls": [{"id": "t1", "name": "read", "arguments": "{\"path\":\"a.go\"}"}]},` +
		`{"role": "tool", "content": "r", "tool_call_id": "t1", "name": "read"}, {"role": "assistant", "content": "done", "tool_calls": []}],` +
		`"tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}]}`
	chat = `{"id": "c1", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"},` +
		`{"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.go\"}"}}]},` +
		`{"role": "tool", "content": "r", "tool_call_id": "t1", "name": "read"}, {"role": "assistant", "content": "done"}],` +
		`"tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}]}`
	anthropicForm = `{"id": "c1", "system": "s", "messages": [{"role": "user", "content": "u"},` +
		`{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path":"a.go"}}]},` +
		`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "r"}]}]},` +
		`{"role": "assistant", "content": [{"type": "text", "text": "done"}]}],` +
		`"tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}]}`
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestReadFormats(t *testing.T) {
	t.Parallel()
	want := &Conversation{
		ID: "c1",
		Messages: []message.Message{
			message.System("s"), message.User("u"),
			message.Assistant(message.ToolCall{ID: "t1", Name: "read", Arguments: `{"path":"a.go"}`}),
			message.Result("t1", "read", "r"), message.Assistant(message.Text{Text: "done"}),
		},
	}
	for name, in := range map[string]string{"own": ownForm, "chat completions": chat, "Anthropic": anthropicForm} {
		for form, data := range map[string]string{
			"plain": in, "with a mark": "\ufeff" + in, "compressed": zipped(t, in+"\n"), "a list": "[" + in + "]",
			"on lines": "\n" + in + "\n\n", "on several lines": strings.ReplaceAll(in, ", \"", ",\n\"") + "\n",
		} {
			talks, err := Read("f", strings.NewReader(data))
			require.NoError(t, err, "%s, %s", name, form)
			require.Len(t, talks, 1, "%s, %s", name, form)
			require.Equal(t, "c1", talks[0].ID)
			require.Len(t, talks[0].Messages, len(want.Messages))
			for i, m := range talks[0].Messages {
				m.Parts = withoutName(m.Parts)
				w := want.Messages[i]
				w.Parts = withoutName(w.Parts)
				require.True(t, w.Equal(m), "%s, %s: message %d is %+v", name, form, i, m)
			}
			require.Len(t, talks[0].Tools, 1)
			require.Equal(t, "read", talks[0].Tools[0].Name)
			require.JSONEq(t, `{"type":"object"}`, talks[0].Tools[0].Parameters)
		}
	}
	talks, err := Read("f", strings.NewReader(simple+"\n"+simple))
	require.NoError(t, err)
	require.Equal(t, []string{"f:1", "f:2"}, []string{talks[0].ID, talks[1].ID}, "without an id it is file and line")
	talks, err = Read("f", strings.NewReader(`[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "timestamp": "2026-01-02T03:04:05Z"}]`))
	require.NoError(t, err)
	require.Len(t, talks[0].Messages, 2, "a list of messages is one conversation")
	require.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), talks[0].Messages[1].Time)
}

// withoutName returns parts in which results have no tool name, which is optional in chat completions.
func withoutName(parts []message.Part) (all []message.Part) {
	for _, p := range parts {
		if r, ok := p.(message.ToolResult); ok {
			r.Name = ""
			p = r
		}
		all = append(all, p)
	}
	return all
}

func TestReadBroken(t *testing.T) {
	t.Parallel()
	cut := zipped(t, strings.Repeat(simple+"\n", 200))
	for _, c := range []struct {
		name, in string
		talks    int
		want     []string // the errors
	}{
		{"empty", "", 0, []string{"f: is empty: want a conversation"}},
		{"empty, compressed", zipped(t, ""), 0, []string{"f: is empty: want a conversation"}},
		{"a text", "Dear diary,\nnothing happened.", 0, []string{"f:1: is not JSON: invalid character 'D'"}},
		{"bytes", "\x00\xff\xfe", 0, []string{"f:1: is not UTF-8"}},
		{"a number", "5", 0, []string{"f:1: is no conversation"}},
		{"Responses", `{"input": [{"role": "user", "content": "x"}]}`, 0, []string{`f:1: has no message of the assistant`}},
		{"Claude Code", `{"type": "summary", "summary": "x", "sessionId": "x"}`, 0, []string{`f:1: is a session without messages`}},
		{"ShareGPT", `{"conversations": [{"from": "human", "value": "x"}]}`, 0, []string{`f:1: is a conversation in the format of ShareGPT: want`}},
		{"no answer", `{"messages": [{"role": "user", "content": "x"}]}`, 0, []string{"f:1: has no message of the assistant"}},
		{"truncated, on several lines", `{"messages": [` + "\n" + `{"role": "user",` + "\n" + `"content": "hi`, 0, []string{"f:3: is not JSON: unexpected end"}},
		{"the last line truncated", simple + "\n" + simple + "\n" + simple[:60], 2, []string{"f:3: is not JSON"}},
		{"one line broken", simple + "\n{\"messages\": oops}\n\n" + simple + "\n{\"x\":1}\n", 2, []string{"f:2: is not JSON", "f:5: is no conversation"}},
		{"compressed and cut off", cut[:len(cut)-12], -1, []string{": the compression is broken or cut off"}},
		{"one of a list", "[" + simple + `,{"messages":[]}]`, 1, []string{"f:1: conversation 1 of the list: "}},
	} {
		talks, err := Read("f", strings.NewReader(c.in))
		if c.talks >= 0 {
			require.Len(t, talks, c.talks, c.name)
		}
		require.Error(t, err, c.name)
		found := strings.Split(err.Error(), "\n")
		require.Len(t, found, len(c.want), "%v", err)
		for i := range c.want {
			require.Contains(t, found[i], c.want[i], c.name)
		}
	}
}

func TestLoadFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, data string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
		return path
	}
	_, err := Load(dir)
	require.ErrorContains(t, err, "the folder has no conversations.jsonl.gz")
	_, err = Load(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "none: no such file or directory")

	put("conversations.jsonl.gz", zipped(t, ownForm))
	put("other.jsonl", "not read")
	talks, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, talks, 1)
	require.Nil(t, talks[0].Facts)

	facts := put("facts.jsonl.gz", zipped(t, `{"conversation": "c1", "fact": "W23", "kind": "id", "used_at_message": 4}
{"conversation": "c1", "fact": "a.go", "kind": "path", "used_at_message": 2}
{"conversation": "elsewhere", "fact": "a.go", "kind": "path", "used_at_message": 99}
{"conversation": "c1", "fact": "x", "used_at_message": 3}
{"conversation": "c1", "fact": "x", "used_at_message": 99}
{"conversation": "c1", "fact": "x"}
[]
`))
	talks, err = Load(dir)
	require.Equal(t, []Fact{{Text: "W23", Hard: true, At: 4}, {Text: "a.go", At: 2}}, talks[0].Facts, "facts that can be read")
	for i, want := range []string{
		":4: used_at_message is 3, want the index of an answer", ":5: used_at_message is 99, want", ":6: is no use of a fact: want", ":7: is no use of a fact",
	} {
		require.Contains(t, strings.Split(err.Error(), "\n")[i], facts+want)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{simple, ownForm, chat, anthropicForm, simple + "\n{", "[" + simple + "]", "[]", "\x1f\x8b", `{"messages":[{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		talks, err := Read("f", bytes.NewReader(data))
		if len(talks) == 0 && err == nil {
			t.Error("neither a conversation nor an error")
		}
	})
}
