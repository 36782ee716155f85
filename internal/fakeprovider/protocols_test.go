package fakeprovider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// apis have the path and the model of each API, and a request with one question, whose text is filled in.
var apis = map[string]struct{ path, model, first string }{
	"messages": {
		"/v1/messages", "claude",
		`{"model":"claude","max_tokens":100,"system":"Be brief.","tools":[{"name":"read","input_schema":{"type":"object"}}],` +
			`"messages":[{"role":"user","content":[{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}]}]}`,
	},
	"responses": {
		"/v1/responses", "gpt",
		`{"model":"gpt","instructions":"Be brief.","tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{}}}],` +
			`"store":false,"input":[{"role":"user","content":%q}]}`,
	},
	"gemini": {
		"/v1beta/models/gem:generateContent", "gem",
		`{"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"read"}]}],` +
			`"contents":[{"role":"user","parts":[{"text":%q}]}]}`,
	},
	"ollama": {path: "/api/chat", model: "qwen"},
}

// send posts a body to an API and returns status and answer.
func send(t *testing.T, s *fakeprovider.Server, api, body string, beta ...string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Root+apis[api].path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header["Anthropic-Beta"] = beta
	resp, err := client(t).Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, got
}

// Each API tells in its own words that a request is too long, which is what clients and libraries look for.
func TestTooLongInEachAPI(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"messages":  "prompt is too long: 1019 tokens > 500 maximum",
		"responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
		"gemini":    "The input token count (1019) exceeds the maximum number of tokens allowed (500).",
	} {
		a := apis[name]
		s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{a.model: 500}})
		status, answer := send(t, s, name, fmt.Sprintf(a.first, strings.Repeat("long", 990)))
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, string(answer), text)
	}
}

// Ollama leaves out the oldest messages of a prompt that is too long, and says nothing.
func TestOllamaCutsPrompts(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"qwen": 9000}})
	var messages []any
	for i := range 5 {
		messages = append(messages, map[string]any{"role": []string{"system", "user"}[min(i, 1)], "content": strings.Repeat("long", 1200)})
	}
	for _, c := range []struct {
		window, left int
		used         float64
	}{
		{0, 3, 3628}, // 4,096
		{2500, 2, 2420},
		{9000, 5, 6044},
		{900, 2, 2420}, // the system message and the last one stay
	} {
		request := map[string]any{"model": "qwen", "messages": messages, "stream": false, "options": map[string]any{"num_ctx": c.window}}
		body, err := json.Marshal(request)
		require.NoError(t, err)
		status, got := send(t, s, "ollama", string(body))
		var answer struct {
			Prompt int `json:"prompt_eval_count"`
		}
		require.NoError(t, json.Unmarshal(got, &answer))
		require.Equal(t, http.StatusOK, status)
		all := s.Requests()
		require.Len(t, all[len(all)-1].Request.Messages, c.left)
		require.InDelta(t, c.used, answer.Prompt, 30)
	}
}

// What an API refuses, and the text of it. The requests are bodies without the members that each needs.
func TestVerdictsOfEachAPI(t *testing.T) {
	t.Parallel()
	const (
		question = `{"role":"user","content":"go"}`
		call     = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}`
		result   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}`
	)
	chats := func(messages ...string) string {
		return `{"model":"claude","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	items := func(items ...string) string { return `{"model":"gpt","input":[` + strings.Join(items, ",") + `]}` }
	turns := func(turns ...string) string { return `{"contents":[` + strings.Join(turns, ",") + `]}` }
	for _, c := range []struct{ api, body, text string }{
		{"messages", chats(question), ""},
		{"messages", chats(question, call, result), ""},
		{"messages", chats(question, question, call, result, question), ""},
		{"messages", chats(question, `{"role":"system","content":"Be brief."}`), ""},
		{"messages", `{`, "not valid JSON"},
		{"messages", `{"model":"claude","messages":[]}`, "max_tokens: Field required"},
		{"messages", chats(), "messages: at least one message is required"},
		{"messages", strings.Replace(chats(question), `"max_tokens"`, `"odd":1,"max_tokens"`, 1), "odd: Extra inputs are not permitted"},
		{"messages", strings.Replace(chats(question), "claude", "other", 1), "model: other"},
		{"messages", chats(call, result), `messages: first message must use the "user" role`},
		{"messages", chats(question, call), "This model does not support assistant message prefill."},
		{"messages", chats(question, call, question), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a."},
		{"messages", chats(question, result), "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."},
		{"messages", chats(question, call, question, result), "unexpected `tool_use_id`"},
		{"messages", chats(question, call, result, result), "each tool_use must have a single result"},
		{"messages", chats(question, strings.Replace(call, `{}`, `"x"`, 1), result), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{"messages", chats(question, strings.Replace(call, `"a"`, `"a b"`, 1), result), "messages.1.content.0.tool_use.id: String should match pattern"},
		{"messages", chats(`{"role":"user","content":""}`), "messages.0.content.0: text content blocks must be non-empty"},
		{"messages", chats(`{"role":"user","content":" "}`), "text content blocks must contain non-whitespace text"},
		{"messages", chats(`{"role":"user","content":[]}`), "messages.0: all messages must have non-empty content"},
		{"messages", chats(`{"role":"tool","content":"x"}`), "messages.0.role: Input should be"},
		{"messages", chats(`{"role":"user","content":[{"type":"text","text":"x","odd":1}]}`), "messages.0.content.0.text.odd: Extra inputs are not permitted"},
		{
			"messages", chats(question, `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"eA=="}]}`, question),
			"messages.1: The final block in an assistant message cannot be `thinking`.",
		},
		{
			"messages", strings.Replace(chats(question), `"max_tokens"`, `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"error"}},"max_tokens"`, 1),
			"thinking.block_binding: Extra inputs are not permitted",
		},
		{
			"messages", chats(`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 5) + `{"type":"text","text":"x"}]}`),
			"A maximum of 4 blocks with cache_control may be provided. Found 5.",
		},

		{"responses", items(question), ""},
		{"responses", `{"model":"gpt","input":"go"}`, ""},
		{"responses", items(question, `{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"a","output":"x"}`), ""},
		{"responses", `{"model":"gpt"}`, "Missing required parameter: 'input'."},
		{"responses", `{"model":"gpt","input":"go","odd":1}`, "Unknown parameter: 'odd'."},
		{"responses", `{"model":"other","input":"go"}`, "The requested model 'other' does not exist."},
		{"responses", `{"model":"gpt","input":"go","previous_response_id":"r"}`, "Previous response with id 'r' not found."},
		{"responses", items(question, `{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`), "No tool output found for function call a."},
		{"responses", items(question, `{"type":"function_call_output","call_id":"a","output":"x"}`), "No tool call found for function call output with call_id a."},
		{"responses", items(question, `{"type":"reasoning","id":"rs_1","summary":[]}`), "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
		{
			"responses", items(question, `{"type":"function_call","id":"fc_r1_0","call_id":"a","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"a","output":"x"}`),
			"Item 'fc_r1_0' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1_0'.",
		},
		{"responses", items(`{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "Supported values are: 'output_text', 'refusal'."},

		{"ollama", `{"model":"qwen","stream":false,"messages":[` + question + `]}`, ""},
		{"ollama", `{"model":"qwen","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`, "cannot unmarshal a string into an object"},
		{"ollama", `{"model":"qwen","messages":[{"role":"model"}]}`, "invalid role: model"},
		{"ollama", `{"model":"other","messages":[` + question + `]}`, "model 'other' not found"},
		{"ollama", `{"messages":[` + question + `]}`, "model is required"},

		{"gemini", turns(`{"parts":[{"text":"go"}]}`), ""},
		{"gemini", turns(`{"parts":[{"text":"go"}]}`, `{"role":"model","parts":[{"functionCall":{"name":"f"}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`), ""},
		{"gemini", `{}`, "contents is not specified"},
		{"gemini", `{"contents":[{"parts":[{"text":"go"}]}],"odd":1}`, `Unknown name \"odd\": Cannot find field.`},
		{"gemini", turns(`{"role":"tool","parts":[{"text":"go"}]}`), "Please use a valid role: user, model."},
		{"gemini", turns(`{"role":"user","parts":[]}`), "contents.parts must not be empty."},
		{
			"gemini", turns(`{"role":"model","parts":[{"functionCall":{"name":"f"}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`),
			"Please ensure that function call turn comes immediately after a user turn",
		},
		{"gemini", turns(`{"parts":[{"text":"go"}]}`, `{"role":"model","parts":[{"functionCall":{"name":"f"}}]}`), "Please ensure that the number of function response parts"},
		{"gemini", turns(`{"parts":[{"functionResponse":{"name":"f","response":{}}}]}`), "Please ensure that function response turn comes immediately after"},
		{"gemini", turns(`{"parts":[{"text":"go"}]}`, `{"role":"model","parts":[{"functionCall":{"name":""}}]}`), "function_call.name: Name cannot be empty."},
	} {
		s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{apis[c.api].model: 500}})
		status, body := send(t, s, c.api, c.body)
		require.Equal(t, c.text == "", status == http.StatusOK, "%s: %s", c.body, body)
		require.Contains(t, strings.ReplaceAll(string(body), `\"`, `"`), strings.ReplaceAll(c.text, `\"`, `"`), c.body)
		require.Equal(t, c.text == "", len(s.Refused()) == 0)
	}
}

// Thinking is bound to what is before it: an edit in front of it is refused, or the thinking dropped if the caller wants it.
func TestThinkingOfMessages(t *testing.T) {
	t.Parallel()
	loop := fakeprovider.ToolLoop{Tool: "read", Calls: 20}.Responder()
	s := start(t, loop, fakeprovider.Options{Models: map[string]int{"claude": 20_000}, Bound: true})
	var request map[string]any
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, apis["messages"].first, "go"), &request))
	ask := func(beta ...string) (status int, got []byte) {
		body, err := json.Marshal(request)
		require.NoError(t, err)
		return send(t, s, "messages", string(body), beta...)
	}
	messages, _ := request["messages"].([]any)
	result := map[string]any{"type": "tool_result", "content": "a line"}
	for i := range 3 {
		_, got := ask()
		var answer struct {
			Content []any `json:"content"`
		}
		require.NoError(t, json.Unmarshal(got, &answer))
		next := maps.Clone(result)
		next["tool_use_id"] = fmt.Sprintf("step_%d", i+1)
		messages = append(messages, map[string]any{"role": "assistant", "content": answer.Content}, map[string]any{"role": "user", "content": []any{next}})
		request["messages"] = messages
	}
	result["content"], result["tool_use_id"] = "[cleared]", "step_1"
	messages[2] = map[string]any{"role": "user", "content": []any{result}}
	status, got := ask()
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, string(got), "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.")

	request["thinking"] = map[string]any{"type": "adaptive", "block_binding": map[string]any{"prefix_mismatch_behavior": "drop_block"}}
	status, got = ask("thinking-binding-controls-2026-08-01")
	require.Equal(t, http.StatusOK, status, "%s", got)
	var answer struct {
		Dropped []struct {
			Path string `json:"path"`
		} `json:"input_transformations"`
	}
	require.NoError(t, json.Unmarshal(got, &answer))
	require.Len(t, answer.Dropped, 2)
	require.Equal(t, "messages.3.content.0", answer.Dropped[0].Path)
}

// Gemini wants the signatures of the newest turn, and none before it.
func TestSignaturesOfGemini(t *testing.T) {
	t.Parallel()
	loop := fakeprovider.ToolLoop{Tool: "read", Calls: 1}.Responder()
	s := start(t, loop, fakeprovider.Options{Models: map[string]int{"gem": 500}, Bound: true})
	first := fmt.Sprintf(apis["gemini"].first, "go")
	_, got := send(t, s, "gemini", first)
	var answer struct {
		Candidates []struct {
			Content json.RawMessage `json:"content"`
		} `json:"candidates"`
	}
	require.NoError(t, json.Unmarshal(got, &answer))
	signed := string(answer.Candidates[0].Content)
	require.Contains(t, signed, "thoughtSignature")
	bare := strings.Replace(signed, "thoughtSignature", "other", 1)
	const result, question = `{"parts":[{"functionResponse":{"name":"read","response":{}}}]}`, `{"parts":[{"text":"and?"}]}`
	for _, c := range []struct{ turns, why string }{
		{signed + "," + result, ""},
		{bare + "," + result, "Function call `read` in the 3. content block is missing a `thought_signature`."},
		{bare + "," + result + "," + question, ""},
		{strings.Replace(signed, `thoughtSignature":"`, `thoughtSignature":"AAAA`, 1) + "," + result, "Invalid `signature`"},
	} {
		status, body := send(t, s, "gemini", strings.Replace(first, `]}]}`, `]},`+c.turns+`]}`, 1))
		require.Equal(t, c.why == "", status == http.StatusOK, "%s: %s", c.turns, body)
		require.Contains(t, string(body), c.why)
	}
}
