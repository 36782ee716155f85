package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
)

// TestFormats has conversations of other systems as they write them.
func TestFormats(t *testing.T) {
	t.Parallel()
	asJSON := func(v any) string {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		return string(data)
	}
	call := schema.ToolCall{ID: "c1", Type: "function", Function: schema.FunctionCall{Name: "read", Arguments: "{}"}}
	answer := schema.AssistantMessage("", []schema.ToolCall{call})
	answer.ResponseMeta = &schema.ResponseMeta{FinishReason: "tool_calls"}
	cases := map[string]map[string]string{
		"eino (schema.Message)": {
			"an answer": asJSON([]*schema.Message{schema.UserMessage("hi"), answer}),
			"a result":  asJSON([]*schema.Message{schema.ToolMessage("ok", "c1", schema.WithToolName("read"))}),
			"parts": asJSON([]*schema.Message{{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
				{Type: schema.ChatMessagePartTypeText, Text: "hi"},
			}}}),
		},
		"langchaingo (llms.MessageContent)": {
			"a text": asJSON([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}),
			"a result": asJSON([]llms.MessageContent{{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: "c1", Name: "read", Content: "ok"},
			}}}),
			"in a body": asJSON(map[string]any{"messages": []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeAI, "a", "b")}}),
		},
		"LangChain": {
			"dicts":  `[{"type":"human","data":{"content":"hi","additional_kwargs":{}}}]`,
			"dumped": `[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"hi"}}]`,
			"state":  `{"messages":[{"type":"human","content":"hi","id":"1"},{"type":"ai","content":"","tool_calls":[{"name":"read","args":{},"id":"c1"}]}]}`,
		},
	}
	chain := write(t, "chain: [{use: fit}]")
	for name, texts := range cases {
		for what, text := range texts {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				for _, in := range []string{text, "\ufeff\n" + text} {
					for _, args := range [][]string{{"apply", "--chain", chain}, {"count"}, {"convert", "--to", "chat"}} {
						status, _, stderr := exec(t, in, args...)
						require.Equal(t, 1, status, args[0])
						require.Contains(t, stderr, "standard input: is a conversation in the format of "+name+": want a request of OpenAI", text)
					}
				}
				status, _, _ := exec(t, text, "count", "--text")
				require.Zero(t, status, "a text on request")
			})
		}
	}
}

// TestFormatsOfApply has the same history in each format. The chain clears the first result in each, and nothing else
// changes; what is counted is about the same.
func TestFormatsOfApply(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long line of a log ", 100)
	chat := `{"model":"gpt-4o","messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":"I look.","tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"` + long + `"},` +
		`{"role":"assistant","content":"And here.","tool_calls":[{"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c2","content":"It is a long answer which has several words in it, more than a placeholder."},{"role":"assistant","content":"So."},{"role":"user","content":"Go on."}]}`
	chain := write(t, "chain: [{use: contextedit, trigger: {tokens: 50}, keep: 1, digest: none}, {use: fit}]")
	for _, format := range []string{"chat", "messages", "responses", "gemini", "ollama"} {
		status, in, stderr := exec(t, chat, "convert", "--to", format)
		require.Zero(t, status, stderr)
		status, out, stderr := exec(t, in, "apply", "--chain", chain)
		require.Zero(t, status, stderr)
		require.NotContains(t, out, long, out[len(out)-600:])
		require.Contains(t, out, "[cleared]", format)
		require.Contains(t, out, `"by":"contextedit"`, format)
		without, _, found := strings.Cut(out, `,"report"`)
		require.True(t, found, out)
		want := strings.Replace(strings.TrimRight(in, "}\n"), long, "[cleared]", 1)
		require.Equal(t, want, strings.TrimRight(without, "}\n"), "only the result changes")
		status, n, stderr := exec(t, in, "count", "--json", "--counter", "chars4")
		require.Zero(t, status, stderr)
		require.Contains(t, n, `"messages":7`, format)
	}
}

// The arguments of a call are no JSON object: chat completions may have them, and the other formats after a repair.
func TestConvertBrokenArguments(t *testing.T) {
	t.Parallel()
	chat := `{"messages":[{"role":"user","content":"Why?"},{"role":"assistant","tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a.g"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"no such file"},{"role":"user","content":"Go on."}]}`
	status, repaired, stderr := exec(t, chat, "apply", "--chain", write(t, "chain: [{use: fit, rules: [portable]}]"))
	require.Zero(t, status, stderr)
	repaired, _, _ = strings.Cut(repaired, `,"report"`)
	for format, want := range map[string]string{
		"messages": "the arguments of the call read/c1 are not a JSON object, which messages must have; laconic apply repairs them, with {use: fit, rules: [portable]}",
		"ollama":   "read/c1", "gemini": "read/c1", "responses": "",
	} {
		status, _, stderr := exec(t, chat, "convert", "--to", format)
		require.Contains(t, stderr, want)
		require.Equal(t, want != "", status == 1, format)
		status, _, stderr = exec(t, repaired+"}", "convert", "--to", format)
		require.Zero(t, status, stderr)
	}
	for format, want := range map[string]string{
		"": "--to is missing, want --to and one of chat, responses, messages, gemini, ollama", "xml": `no format "xml": want --to and one of chat, `,
	} {
		status, _, stderr := exec(t, chat, "convert", "--to", format)
		require.Equal(t, 2, status)
		require.Contains(t, stderr, want)
	}
}

// pageOf returns the data of a page.
func pageOf(t *testing.T, file string) (text string, data struct {
	Scale  string           `json:"scale"`
	Texts  bool             `json:"texts"`
	Chains []map[string]any `json:"chains"`
	Talks  []struct {
		ID    string `json:"id"`
		Data  string `json:"data"`
		Texts string `json:"texts"`
	} `json:"talks"`
},
) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(b), `<script type="application/json" id="data">`)
	require.True(t, found)
	inner, _, found := strings.Cut(rest, "</script>")
	require.True(t, found)
	require.NoError(t, json.Unmarshal([]byte(inner), &data))
	return string(b), data
}

func unpacked(t *testing.T, packed string) string {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(b)
}

func TestPage(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit, trigger: {messages: 1}, keep: 2, digest: none}]")
	odd := strings.ReplaceAll(reading("</script><b>odd", 3), "done", "</script><script>odd()")
	dir := folder(t, `{"conversation": "a", "fact": "#W000", "kind": "id", "used_at_message": 21}`, reading("a", 10), odd)
	file := filepath.Join(t.TempDir(), "report.html")
	status, stdout, stderr := exec(t, "", "replay", dir, "--json", "--html", file, "--chain", chain)
	require.Zero(t, status, stderr)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the page has what the recordings have: only its owner reads it")
	text, page := pageOf(t, file)
	require.Equal(t, 2, strings.Count(text, "</script>"), "no text ends an element")
	require.NotContains(t, text, "<b>odd")
	require.Equal(t, lines(t, stdout), page.Chains, "the page has the numbers of --json")
	require.Equal(t, "chars4", page.Scale)
	require.Equal(t, "a", page.Talks[0].ID)
	require.Contains(t, unpacked(t, page.Talks[0].Texts), "order #W000")
	require.Contains(t, unpacked(t, page.Talks[0].Data), `"lost":[[10,true,"#W000"]]`)
	require.Contains(t, unpacked(t, page.Talks[0].Data), "cleared 1 result")

	status, _, stderr = exec(t, "", "replay", dir, "--html", file, "--no-text", "--chain", chain)
	require.Zero(t, status, stderr)
	_, page = pageOf(t, file)
	require.False(t, page.Texts)
	require.Empty(t, page.Talks[0].Texts)
	require.NotContains(t, unpacked(t, page.Talks[0].Data), "#W", "neither messages nor facts")
	require.Contains(t, unpacked(t, page.Talks[0].Data), `"lost":[[10,true,""]]`)
}
