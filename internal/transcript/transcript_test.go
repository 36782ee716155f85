package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
)

const (
	chat = `{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"},` +
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"It is."},{"role":"assistant","content":"So."},{"role":"user","content":"Go on."}],` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}],` +
		`"max_tokens":100,"stream":true}`
	log = `{"type":"summary","summary":"Fix the build","leafUuid":"u2"}
{"type":"user","sessionId":"s","uuid":"u0","message":{"role":"user","content":"before"}}
{"type":"system","subtype":"compact_boundary","sessionId":"s"}
{"type":"user","sessionId":"s","uuid":"u1","message":{"role":"user","content":"Why?"}}
{"type":"assistant","sessionId":"s","uuid":"u2","message":{"id":"m1","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"thinking","thinking":"hm","signature":"x"}]}}
{"type":"assistant","sessionId":"s","uuid":"u3","message":{"id":"m1","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}}
{"type":"assistant","isSidechain":true,"sessionId":"s","message":{"id":"m9","role":"assistant","content":[{"type":"text","text":"elsewhere"}]}}
{"type":"user","sessionId":"s","uuid":"u4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"It is."}]}}
{"type":"assistant","sessionId":"s","uuid":"u5","message":{"id":"m2","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"text","text":"So."}]}}
`
)

func parse(t *testing.T, text string) *transcript.Transcript {
	t.Helper()
	tr, err := transcript.Parse([]byte(text))
	require.NoError(t, err)
	return tr
}

// What was read is written again with the same bytes, and a list of messages as a request.
func TestParse(t *testing.T) {
	t.Parallel()
	for format, texts := range map[string][]string{
		"chat": {chat, `[{"role":"user","content":"hi"}]`, "\ufeff" + chat},
		"messages": {
			`{"model":"c","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}`,
			`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}]`,
		},
		"responses": {`{"model":"gpt-5","input":"hi"}`, `[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}]`},
		"ollama": {
			`{"model":"q","messages":[{"role":"user","content":"hi"}],"options":{"num_ctx":9}}`,
			`[{"role":"user","content":"hi","images":["aGk="]}]`,
			`[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","tool_name":"f","content":"x"}]`,
		},
		"gemini": {`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
	} {
		for _, text := range texts {
			tr := parse(t, text)
			require.Equal(t, format, tr.Body.Format.Name)
			out, err := tr.Body.Encode(tr.Body.Request())
			require.NoError(t, err)
			require.Contains(t, out, strings.TrimPrefix(text, "\ufeff"))
			require.False(t, tr.Session)
		}
	}
}

// What is recognised is not counted as a text.
func TestRecognised(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"hi", "", "1", "null", "[]", "{}", `["a"]`, `{"input":"a"}`, `{"contents":["a"],"system":"linux"}`, `{"type":"human"}`,
		`[{"name":"a","type":"tool"}]`, `{"role":"admin"}`, `{"parts":[1,2]}`, `{"type":"message","text":"a"}`,
		`[{"role":"tool","tool_name":"read","content":"ok"}]`, strings.Repeat(`{"a":1}`+"\n", 200),
	} {
		require.False(t, transcript.Recognised([]byte(text)), text)
	}
	require.True(t, transcript.Recognised([]byte(log)))
}

func TestSession(t *testing.T) {
	t.Parallel()
	tr := parse(t, log)
	require.True(t, tr.Session)
	require.Equal(t, "claude-sonnet-5-5", tr.Body.Model)
	var got []string
	for _, m := range tr.Body.Request().Messages {
		text := ""
		for _, p := range m.Parts {
			text += fmt.Sprintf("%T ", p)
		}
		got = append(got, string(m.Role)+": "+strings.TrimSpace(text))
	}
	require.Equal(t, []string{
		"user: message.Text", "assistant: message.Thinking message.ToolCall", "tool: message.ToolResult", "assistant: message.Text",
	}, got)
	require.NoError(t, message.Check(tr.Body.Request().Messages))
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"conversations":[{"from":"human","value":"hi"}]}`: "in the format of ShareGPT: want a request of",
		`{"choices":[{"message":{"role":"assistant"}}]}`:    "is an answer without its request",
		`{"messages":[{"role":"user","content":1}]}`:        "messages[0].content",
		`{"input":[{"type":"function_call"}]}`:              "input[0]",
		`{"messages":`:                                      "",
		`{"type":"summary","sessionId":"s"}`:                "is a session without messages",
	} {
		_, err := transcript.Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// A conversation in each format, and back: the same messages, and nothing but white space and order is different.
func TestConvert(t *testing.T) {
	t.Parallel()
	from := parse(t, chat)
	for _, to := range codec.Formats() {
		if to == codec.Gemini {
			continue // has no member stream
		}
		out, err := from.Convert(to)
		require.NoError(t, err, to.Name)
		again := parse(t, out)
		require.Equal(t, to.Name, again.Body.Format.Name, out)
		require.Equal(t, 100, again.Body.MaxTokens, out)
		require.Contains(t, out, `"stream":true`)
		back, err := again.Convert(codec.Chat)
		require.NoError(t, err, out)
		require.JSONEq(t, strings.Replace(chat, `"max_tokens"`, `"max_completion_tokens"`, 1), back)
	}
	out, err := parse(t, strings.Replace(chat, `,"stream":true`, "", 1)).Convert(codec.Gemini)
	require.NoError(t, err)
	require.Contains(t, out, `"generationConfig":{"maxOutputTokens":100}`)
	require.Equal(t, "gemini", parse(t, out).Body.Format.Name)
}

// What another format does not have is an error with its path.
func TestConvertLosesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, to, want string }{
		{strings.Replace(chat, `"stream":true`, `"seed":7`, 1), "messages", "seed would be lost"},
		{chat, "gemini", "stream would be lost"},
		{strings.Replace(chat, `"content":"Why?"`, `"content":"Why?","name":"ann"`, 1), "messages", ""},
		{
			`{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"system":"x"}`, "chat",
			"messages[0].content[0].cache_control would be lost",
		},
		{log, "chat", ""},
	} {
		_, err := parse(t, c.text).Convert(map[string]*codec.Format{"chat": codec.Chat, "messages": codec.Messages, "gemini": codec.Gemini}[c.to])
		require.ErrorContains(t, err, c.want, c.text)
		t.Log(err)
	}
}
