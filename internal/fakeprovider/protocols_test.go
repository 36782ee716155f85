package fakeprovider_test

import (
	"bufio"
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

// api is what a client of one of the APIs does in a loop of tools, on the bytes of the wire.
type api struct {
	path  string // of an answer in one piece
	model string
	// first is a request with one question; tools and the text are filled in.
	first string
	// then adds an answer and the results of its calls to a request.
	then func(request map[string]any, answer map[string]any)
	// calls returns the number of calls in an answer, and its text.
	calls func(answer map[string]any) (int, string)
	// whole puts an answer together from the events of a stream.
	whole func(events []map[string]any) map[string]any
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

var apis = map[string]api{
	"messages": {
		path: "/v1/messages", model: "claude",
		first: `{"model":"claude","max_tokens":100,"system":"Be brief.","tools":[{"name":"read","input_schema":{"type":"object"}}],` +
			`"messages":[{"role":"user","content":[{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}]}]}`,
		then: func(request, answer map[string]any) {
			var results []any
			for _, b := range list(answer["content"]) {
				if b := object(b); b["type"] == "tool_use" {
					results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": strings.Repeat("line ", 40)})
				}
			}
			request["messages"] = append(list(request["messages"]), map[string]any{"role": "assistant", "content": answer["content"]},
				map[string]any{"role": "user", "content": results})
		},
		calls: func(answer map[string]any) (n int, text string) {
			for _, b := range list(answer["content"]) {
				switch b := object(b); b["type"] {
				case "tool_use":
					n++
				case "text":
					text = b["text"].(string)
				}
			}
			return n, text
		},
		whole: func(events []map[string]any) map[string]any {
			var content []any
			for _, e := range events {
				switch e["type"] {
				case "content_block_start":
					content = append(content, e["content_block"])
				case "content_block_delta":
					b, d := object(content[len(content)-1]), object(e["delta"])
					for name, member := range map[string]string{"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "input"} {
						if piece, ok := d[name].(string); ok {
							was, _ := b[member].(string)
							b[member] = was + piece
						}
					}
				case "content_block_stop":
					b := object(content[len(content)-1])
					if text, ok := b["input"].(string); ok {
						b["input"] = json.RawMessage(text)
					}
				}
			}
			return map[string]any{"content": content}
		},
	},
	"responses": {
		path: "/v1/responses", model: "gpt",
		first: `{"model":"gpt","instructions":"Be brief.","tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{}}}],` +
			`"store":false,"input":[{"role":"user","content":%q}]}`,
		then: func(request, answer map[string]any) {
			input := append(list(request["input"]), list(answer["output"])...)
			for _, it := range list(answer["output"]) {
				if it := object(it); it["type"] == "function_call" {
					input = append(input, map[string]any{"type": "function_call_output", "call_id": it["call_id"], "output": strings.Repeat("line ", 40)})
				}
			}
			request["input"] = input
		},
		calls: func(answer map[string]any) (n int, text string) {
			for _, it := range list(answer["output"]) {
				switch it := object(it); it["type"] {
				case "function_call":
					n++
				case "message":
					text = object(list(it["content"])[0])["text"].(string)
				}
			}
			return n, text
		},
		whole: func(events []map[string]any) map[string]any { return object(events[len(events)-1]["response"]) },
	},
	"gemini": {
		path: "/v1beta/models/gem:generateContent", model: "gem",
		first: `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"read"}]}],` +
			`"contents":[{"role":"user","parts":[{"text":%q}]}]}`,
		then: func(request, answer map[string]any) {
			content := object(object(list(answer["candidates"])[0])["content"])
			var results []any
			for _, p := range list(content["parts"]) {
				if call := object(object(p)["functionCall"]); call != nil {
					results = append(results, map[string]any{"functionResponse": map[string]any{
						"id": call["id"], "name": call["name"], "response": map[string]any{"output": strings.Repeat("line ", 40)},
					}})
				}
			}
			request["contents"] = append(list(request["contents"]), content, map[string]any{"role": "user", "parts": results})
		},
		calls: func(answer map[string]any) (n int, text string) {
			for _, p := range list(object(object(list(answer["candidates"])[0])["content"])["parts"]) {
				if object(p)["functionCall"] != nil {
					n++
				}
				if s, ok := object(p)["text"].(string); ok {
					text += s
				}
			}
			return n, text
		},
		whole: func(events []map[string]any) map[string]any {
			var parts []any
			for _, e := range events {
				parts = append(parts, list(object(object(list(e["candidates"])[0])["content"])["parts"])...)
			}
			return map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}}}}
		},
	},
	// JSON lines as its stream, and no IDs that must be sent.
	"ollama": {
		path: "/api/chat", model: "qwen",
		first: `{"model":"qwen","options":{"num_ctx":30000},"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{}}}}],` +
			`"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%q}]}`,
		then: func(request, answer map[string]any) {
			messages := append(list(request["messages"]), answer["message"])
			for range list(object(answer["message"])["tool_calls"]) {
				messages = append(messages, map[string]any{"role": "tool", "tool_name": "read", "content": strings.Repeat("line ", 40)})
			}
			request["messages"] = messages
		},
		calls: func(answer map[string]any) (int, string) {
			m := object(answer["message"])
			return len(list(m["tool_calls"])), m["content"].(string)
		},
		whole: func(events []map[string]any) map[string]any {
			text, thinking, calls := "", "", []any{}
			for _, e := range events {
				m := object(e["message"])
				piece, _ := m["content"].(string)
				thought, _ := m["thinking"].(string)
				text, thinking, calls = text+piece, thinking+thought, append(calls, list(m["tool_calls"])...)
			}
			return map[string]any{"message": map[string]any{"role": "assistant", "content": text, "thinking": thinking, "tool_calls": calls}}
		},
	},
}

// send posts a body and returns status and answer, put together if it is a stream.
func (a api) send(t *testing.T, s *fakeprovider.Server, request map[string]any, stream bool) (int, map[string]any) {
	t.Helper()
	path := a.path
	if stream && strings.HasSuffix(path, ":generateContent") {
		path = strings.Replace(path, ":generateContent", ":streamGenerateContent?alt=sse", 1)
	} else {
		request["stream"] = stream
	}
	if strings.HasSuffix(path, "Content") || strings.HasSuffix(path, "alt=sse") {
		delete(request, "stream")
	}
	body, err := json.Marshal(request)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Root+path, strings.NewReader(string(body)))
	require.NoError(t, err)
	resp, err := client(t).Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if kind != "text/event-stream" && kind != "application/x-ndjson" {
		var answer map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
		return resp.StatusCode, answer
	}
	var events []map[string]any
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok || kind == "application/x-ndjson" {
			var e map[string]any
			require.NoError(t, json.Unmarshal([]byte(data), &e), data)
			events = append(events, e)
		}
	}
	require.NoError(t, lines.Err())
	return resp.StatusCode, a.whole(events)
}

// Each API tells in its own words that a request is too long, which is what clients and libraries look for.
func TestTooLongInEachAPI(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"messages":  "prompt is too long: 1019 tokens > 500 maximum",
		"responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
		"gemini":    "The input token count (1019) exceeds the maximum number of tokens allowed (500).",
	}
	for name, a := range apis {
		if name == "ollama" {
			continue // it says nothing
		}
		s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{a.model: 500}})
		var request map[string]any
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, a.first, strings.Repeat("long", 990)), &request))
		status, answer := a.send(t, s, request, false)
		require.Equal(t, http.StatusBadRequest, status)
		require.Equal(t, texts[name], object(answer["error"])["message"])
	}
	a := apis["responses"]
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{a.model: 500}, RefuseInStream: true})
	var request map[string]any
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, a.first, strings.Repeat("long", 990)), &request))
	status, answer := a.send(t, s, request, true)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "failed", answer["status"])
	require.Equal(t, "context_length_exceeded", object(answer["error"])["code"])
}

// Ollama leaves out the oldest messages of a prompt that is too long, and says nothing, unless it must not.
func TestOllamaCutsPrompts(t *testing.T) {
	t.Parallel()
	s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{"qwen": 9000}})
	var messages []any
	for i := range 5 {
		messages = append(messages, map[string]any{"role": []string{"system", "user"}[min(i, 1)], "content": strings.Repeat("long", 1200)})
	}
	for _, c := range []struct {
		more      map[string]any
		cut       int
		used      float64
		forbidden bool
	}{
		{nil, 2, 3628, false}, // 4,096
		{map[string]any{"options": map[string]any{"num_ctx": 2500}}, 3, 2420, false},
		{map[string]any{"options": map[string]any{"num_ctx": 9000}}, 0, 6044, false},
		{map[string]any{"options": map[string]any{"num_ctx": 900}}, 3, 2420, false}, // the system message and the last one stay
		{map[string]any{"truncate": false}, 0, 0, true},
	} {
		request := map[string]any{"model": "qwen", "messages": messages}
		maps.Copy(request, c.more)
		status, answer := apis["ollama"].send(t, s, request, false)
		if c.forbidden {
			require.Equal(t, http.StatusBadRequest, status)
			require.Equal(t, "the input length exceeds the context length", answer["error"])
			continue
		}
		require.Equal(t, http.StatusOK, status)
		all := s.Requests()
		require.Equal(t, c.cut, all[len(all)-1].Request.Cut, "%v", c.more)
		require.InDelta(t, c.used, answer["prompt_eval_count"], 30)
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
		a := apis[c.api]
		s := start(t, fakeprovider.Text("ok"), fakeprovider.Options{Models: map[string]int{a.model: 500}})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Root+a.path, strings.NewReader(c.body))
		require.NoError(t, err)
		resp, err := client(t).Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, c.text == "", resp.StatusCode == http.StatusOK, "%s: %s", c.body, body)
		require.Contains(t, strings.ReplaceAll(string(body), `\"`, `"`), strings.ReplaceAll(c.text, `\"`, `"`), c.body)
		require.Equal(t, c.text == "", len(s.Refused()) == 0)
	}
}

// Thinking is bound to what is before it: an edit in front of it is refused, or the thinking dropped if the caller wants it.
func TestThinkingOfMessages(t *testing.T) {
	t.Parallel()
	for _, drop := range []bool{false, true} {
		a := apis["messages"]
		loop := fakeprovider.ToolLoop{Tool: "read", Calls: 20}.Responder()
		s := start(t, loop, fakeprovider.Options{Models: map[string]int{a.model: 20_000}, Reasoning: fakeprovider.Bound})
		var request map[string]any
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, a.first, "go"), &request))
		for range 3 {
			_, answer := a.send(t, s, request, false)
			a.then(request, answer)
		}
		result := object(list(object(list(request["messages"])[2])["content"])[0])
		result["content"] = "[cleared]"
		request["thinking"] = map[string]any{"type": "adaptive", "display": "omitted"}
		header := ""
		if drop {
			header = "thinking-binding-controls-2026-08-01"
			request["thinking"] = map[string]any{"type": "adaptive", "block_binding": map[string]any{"prefix_mismatch_behavior": "drop_block"}}
		}
		body, err := json.Marshal(request)
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Root+a.path, strings.NewReader(string(body)))
		require.NoError(t, err)
		req.Header.Set("Anthropic-Beta", header)
		resp, err := client(t).Do(req)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		if !drop {
			require.Equal(t, http.StatusBadRequest, resp.StatusCode)
			require.Contains(t, string(got), "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.")
			continue
		}
		require.Equal(t, http.StatusOK, resp.StatusCode, "%s", got)
		var answer struct {
			Dropped []struct {
				Path string `json:"path"`
			} `json:"input_transformations"`
		}
		require.NoError(t, json.Unmarshal(got, &answer))
		require.Len(t, answer.Dropped, 2)
		require.Equal(t, "messages.3.content.0", answer.Dropped[0].Path)
	}
}
