package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// provider is a server of Messages, Responses or generateContent that checks requests as strictly as the provider does,
// with its own code. It asks for calls, two at a time, until there are enough, and then says "done".
type provider struct {
	window int // tokens of four bytes
	calls  int

	mu      sync.Mutex
	refused []string
	asked   int
	cleared int // requests that have fewer bytes than all results
	broken  map[int]int
	sent    []string // bodies
}

// object is a JSON object.
type object map[string]any

func (o object) text(name string) string { s, _ := o[name].(string); return s }

func objects(v any) (all []object) {
	list, _ := v.([]any)
	for _, x := range list {
		if o, ok := x.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

// fault is a refused request.
type fault string

func refuse(format string, args ...any) { panic(fault(fmt.Sprintf(format, args...))) }

// ServeHTTP implements [http.Handler].
func (p *provider) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	data, _ := io.ReadAll(req.Body)
	var body object
	if json.Unmarshal(data, &body) != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.asked++
	p.sent = append(p.sent, string(data))
	status := p.broken[p.asked]
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if status != 0 {
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"try again"}}`)
		return
	}
	defer func() {
		why, ok := recover().(fault)
		if !ok {
			return
		}
		p.mu.Lock()
		p.refused = append(p.refused, string(why))
		p.mu.Unlock()
		w.WriteHeader(http.StatusBadRequest)
		e := object{"type": "invalid_request_error", "message": string(why), "code": 400}
		_ = json.NewEncoder(w).Encode(object{"type": "error", "error": e})
	}()
	if n := len(data) / 4; n > p.window {
		refuse("prompt is too long: %d tokens > %d maximum", n, p.window)
	}
	out := &frames{w: w, tokens: len(data) / 4}
	switch path := req.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		p.messages(body, out)
	case strings.HasSuffix(path, "/responses"):
		p.responses(body, out)
	default:
		p.gemini(body, out, strings.Contains(path, "stream"))
	}
}

// left returns how many calls come next after so many results.
func (p *provider) left(results int) int { return min(2, max(0, p.calls-results)) }

// frames writes answers.
type frames struct {
	w      http.ResponseWriter
	tokens int
}

func (f *frames) whole(v object) { _ = json.NewEncoder(f.w).Encode(v) }

func (f *frames) event(kind string, v object) {
	f.w.Header().Set("Content-Type", "text/event-stream")
	if kind != "" {
		v["type"] = kind
		_, _ = fmt.Fprintf(f.w, "event: %s\n", kind)
	}
	data, _ := json.Marshal(v)
	_, _ = fmt.Fprintf(f.w, "data: %s\n\n", data)
	f.w.(http.Flusher).Flush() //nolint:forcetypeassert // of net/http
}

// messages is Anthropic's Messages with thinking that is bound to what stands before it.
func (p *provider) messages(body object, out *frames) {
	list := objects(body["messages"])
	if body["max_tokens"] == nil || len(list) == 0 || list[0].text("role") != "user" {
		refuse("messages: first message must use the user role")
	}
	var before bytes.Buffer
	head, _ := json.Marshal([]any{body["system"], body["tools"]})
	before.Write(head)
	last, results, marks := "", 0, strings.Count(string(head), "cache_control")
	var pending []string
	for i, m := range list {
		blocks := objects(m["content"])
		if s, ok := m["content"].(string); ok {
			blocks = []object{{"type": "text", "text": s}}
		}
		if len(blocks) == 0 {
			refuse("messages.%d: all messages must have non-empty content", i)
		}
		var calls []string
		var kept []any
		for k, b := range blocks {
			switch b.text("type") {
			case "text":
				if strings.TrimSpace(b.text("text")) == "" {
					refuse("messages.%d.content.%d: text content blocks must be non-empty", i, k)
				}
			case "thinking":
				if sum := sign(before.Bytes(), last); b.text("signature") != sum {
					refuse("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation.", i, k)
				}
				last = b.text("signature")
				continue
			case "tool_use":
				calls = append(calls, b.text("id"))
			case "tool_result":
				results++
				if len(pending) == 0 || pending[0] != b.text("tool_use_id") {
					refuse("messages.%d.content.%d: unexpected `tool_use_id`: %s", i, k, b.text("tool_use_id"))
				}
				pending = pending[1:]
			}
			if b["cache_control"] != nil {
				marks++
				delete(b, "cache_control")
			}
			kept = append(kept, b)
		}
		if len(pending) > 0 {
			refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, pending)
		}
		pending = calls
		data, _ := json.Marshal([]any{m["role"], kept})
		before.Write(data)
	}
	if marks > 4 {
		refuse("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	if list[len(list)-1].text("role") != "user" || len(pending) > 0 {
		refuse("The conversation must end with a user message.")
	}
	content := []object{{"type": "thinking", "thinking": "I go on.", "signature": sign(before.Bytes(), last)}}
	first := idsIn(before.String(), `"toolu_`)
	stop := "end_turn"
	for n := range p.left(first) {
		stop = "tool_use"
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%03d", first+n), "name": "read", "input": object{"n": first + n}})
	}
	if stop == "end_turn" {
		content = append(content, object{"type": "text", "text": "done"})
	}
	answer := object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": out.tokens - 10, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0, "output_tokens": 9},
	}
	if body["stream"] != true {
		out.whole(answer)
		return
	}
	answer["content"], answer["stop_reason"] = []any{}, nil
	out.event("message_start", object{"message": answer})
	for i, c := range content {
		start := object{"type": c["type"], "id": c["id"], "name": c["name"], "text": "", "thinking": "", "signature": "", "input": object{}}
		out.event("content_block_start", object{"index": i, "content_block": start})
		switch c["type"] {
		case "text":
			out.event("content_block_delta", object{"index": i, "delta": object{"type": "text_delta", "text": c["text"]}})
		case "thinking":
			out.event("content_block_delta", object{"index": i, "delta": object{"type": "thinking_delta", "thinking": c["thinking"]}})
			out.event("content_block_delta", object{"index": i, "delta": object{"type": "signature_delta", "signature": c["signature"]}})
		default:
			in, _ := json.Marshal(c["input"])
			out.event("content_block_delta", object{"index": i, "delta": object{"type": "input_json_delta", "partial_json": string(in)}})
		}
		out.event("content_block_stop", object{"index": i})
	}
	out.event("message_delta", object{"delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 9}})
	out.event("message_stop", object{})
}

// sign returns a signature of what stands before thinking.
func sign(before []byte, last string) string {
	sum := sha256.Sum256(append(append([]byte{}, before...), last...))
	return hex.EncodeToString(sum[:8])
}

// idsIn returns the number after the highest number of IDs with a prefix: results may be gone.
func idsIn(text, prefix string) (next int) {
	for part := range strings.SplitSeq(text, prefix) {
		var n int
		if _, err := fmt.Sscanf(part, "%03d", &n); err == nil {
			next = max(next, n+1)
		}
	}
	return next
}

// responses is OpenAI Responses without a state.
func (p *provider) responses(body object, out *frames) {
	list := objects(body["input"])
	all, _ := json.Marshal(body["input"])
	pending := map[string]bool{}
	for i, item := range list {
		next := object{}
		if i+1 < len(list) {
			next = list[i+1]
		}
		switch item.text("type") {
		case "reasoning":
			if item.text("encrypted_content") == "" {
				refuse("Item with id '%s' not found. Items are not persisted when `store` is set to false.", item.text("id"))
			}
			if t := next.text("type"); t != "function_call" && t != "message" {
				refuse("Item '%s' of type 'reasoning' was provided without its required following item.", item.text("id"))
			}
		case "function_call":
			if first := strings.HasSuffix(item.text("call_id"), "0"); first && (i == 0 || list[i-1].text("type") != "reasoning") {
				refuse("Item '%s' of type 'function_call' was provided without its required 'reasoning' item", item.text("id"))
			}
			pending[item.text("call_id")] = true
		case "function_call_output":
			if !pending[item.text("call_id")] {
				refuse("No tool call found for function call output with call_id %s.", item.text("call_id"))
			}
			delete(pending, item.text("call_id"))
		}
	}
	if len(pending) > 0 {
		refuse("No tool output found for function call %v.", pending)
	}
	first := idsIn(string(all), `"call_`)
	output := []object{}
	for n := range p.left(first) {
		if n == 0 {
			output = append(output, object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", first), "summary": []any{}, "encrypted_content": "secret"})
		}
		args, _ := json.Marshal(object{"n": first + n})
		output = append(output, object{
			"type": "function_call", "id": fmt.Sprintf("fc_%d", first+n), "call_id": fmt.Sprintf("call_%03d%d", first+n, n),
			"name": "read", "arguments": string(args), "status": "completed",
		})
	}
	if len(output) == 0 {
		text := object{"type": "output_text", "text": "done", "annotations": []any{}}
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{text}})
	}
	answer := object{
		"id": "resp_1", "object": "response", "status": "completed", "model": body["model"], "output": output, "error": nil, "incomplete_details": nil,
		"usage": object{"input_tokens": out.tokens, "input_tokens_details": object{"cached_tokens": 10}, "output_tokens": 9, "total_tokens": out.tokens + 9},
	}
	if body["stream"] != true {
		out.whole(answer)
		return
	}
	out.event("response.created", object{"response": object{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}}})
	for i, item := range output {
		out.event("response.output_item.done", object{"output_index": i, "item": item})
	}
	out.event("response.completed", object{"response": answer})
}

// gemini is generateContent of Gemini 3.
func (p *provider) gemini(body object, out *frames, stream bool) {
	list := objects(body["contents"])
	all, _ := json.Marshal(list)
	turn := 0
	for i, c := range list {
		if parts := objects(c["parts"]); c.text("role") == "user" && parts[0]["functionResponse"] == nil {
			turn = i
		}
	}
	var pending []string
	for i, c := range list {
		parts := objects(c["parts"])
		if len(parts) == 0 {
			refuse("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		var calls []string
		for k, part := range parts {
			if call, ok := part["functionCall"].(map[string]any); ok {
				if i > turn && len(calls) == 0 && part["thoughtSignature"] != "c2ln" {
					refuse("Function call is missing a thought_signature in functionCall parts. content.parts[%d]", k)
				}
				if n, ok := call["args"].(map[string]any)["n"].(float64); !ok || i > turn && fmt.Sprintf("f%03d", int(n)) != call["name"] {
					refuse("the call %v of the current turn was edited", call)
				}
				calls = append(calls, fmt.Sprint(call["name"]))
			}
			if r, ok := part["functionResponse"].(map[string]any); ok {
				if len(pending) == 0 || pending[0] != r["name"] {
					refuse("Please ensure that the number of function response parts is equal to the number of function call parts: %v", r["name"])
				}
				pending = pending[1:]
			}
		}
		if len(pending) > 0 {
			refuse("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		pending = calls
	}
	first := idsIn(string(all), `"f`)
	var parts []object
	for n := range p.left(first) {
		part := object{"functionCall": object{"name": fmt.Sprintf("f%03d", first+n), "args": object{"n": first + n}}}
		if n == 0 {
			part["thoughtSignature"] = "c2ln"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []object{{"text": "done"}}
	}
	answer := func(parts []object, reason any) object {
		c := object{"content": object{"role": "model", "parts": parts}}
		if reason != nil {
			c["finishReason"] = reason
		}
		return object{
			"candidates":    []any{c},
			"usageMetadata": object{"promptTokenCount": out.tokens, "candidatesTokenCount": 9, "totalTokenCount": out.tokens + 9},
		}
	}
	if !stream {
		out.whole(answer(parts, "STOP"))
		return
	}
	for _, part := range parts[:len(parts)-1] {
		out.event("", answer([]object{part}, nil))
	}
	out.event("", answer(parts[len(parts)-1:], "STOP"))
}
