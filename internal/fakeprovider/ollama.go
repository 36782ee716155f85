package fakeprovider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// ollama is the protocol of Ollama's chat. A stream, which is the default, has a line of JSON for each event. A prompt that is
// longer than the window is cut without an error.
type ollama struct{}

// ollamaWindow is the window of a request that sets none.
const ollamaWindow = 4096

type ollamaMessage struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking"`
	Images   []string `json:"images"`
	ToolName string   `json:"tool_name"`
	CallID   string   `json:"tool_call_id"`
	Calls    []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (ollama) parse(_ *http.Request, body []byte) (*Request, error) {
	var wire struct {
		Model    string          `json:"model"`
		Messages []ollamaMessage `json:"messages"`
		Tools    []struct {
			Type     string `json:"type"`
			Function Tool   `json:"function"`
		} `json:"tools"`
		Stream  *bool `json:"stream"`
		Options struct {
			Window int `json:"num_ctx"`
			Most   int `json:"num_predict"`
		} `json:"options"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, invalid("", "", "%v", err)
	}
	if wire.Model == "" {
		return nil, invalid("", "", "model is required")
	}
	r := &Request{
		Model: wire.Model, Stream: wire.Stream == nil || *wire.Stream, MaxTokens: max(wire.Options.Most, 0), auto: true,
		window: cmp.Or(wire.Options.Window, ollamaWindow),
	}
	for i, t := range wire.Tools {
		if err := r.declare(t.Function, fmt.Sprintf("tools[%d].function", i)); err != nil {
			return nil, err
		}
	}
	keep(r, r.Tools)
	for i, m := range wire.Messages {
		if err := r.addOllama(m, fmt.Sprintf("messages[%d]", i)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// addOllama checks a message and adds it.
func (r *Request) addOllama(m ollamaMessage, path string) error {
	if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
		return invalid("", "", "%s.role: invalid role: %s", path, m.Role)
	}
	out := Message{Role: m.Role, Name: m.ToolName, CallID: m.CallID, Reasoning: m.Thinking}
	if m.Content != "" || m.Role == "tool" {
		out.Parts = append(out.Parts, Part{Type: "text", Text: m.Content})
	}
	for _, image := range m.Images {
		out.Parts = append(out.Parts, Part{Type: "image_url", Data: image})
	}
	for k, c := range m.Calls {
		if kindOf(c.Function.Arguments) != "an object" {
			return invalid("", "", "%s.tool_calls[%d].function.arguments: cannot unmarshal %s into an object",
				path, k, kindOf(c.Function.Arguments))
		}
		out.Calls = append(out.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: string(c.Function.Arguments)})
	}
	r.add(out, encode(m), path)
	return nil
}

func (ollama) check(r *Request, opts Options) error {
	most, ok := opts.models()[r.Model]
	if !ok {
		return &Error{Status: http.StatusNotFound, Message: "model '" + r.Model + "' not found"}
	}
	window := min(r.window, most)
	for r.Tokens() > window {
		oldest := slices.IndexFunc(r.Messages, func(m Message) bool { return m.Role != "system" })
		if oldest < 0 || oldest == len(r.Messages)-1 {
			break
		}
		r.Messages, r.Cut = slices.Delete(slices.Clone(r.Messages), oldest, oldest+1), r.Cut+1
		r.forms, r.paths = slices.Delete(r.forms, oldest, oldest+1), slices.Delete(r.paths, oldest, oldest+1)
	}
	return nil
}

func (ollama) failure(e *Error, inStream bool) []byte {
	b := encode(fields{"error": e.Message})
	if inStream {
		b = append(b, '\n')
	}
	return b
}

// event returns a line of a stream, or the answer in one piece.
func (ollama) event(a answer, message fields, last bool) json.RawMessage {
	message["role"] = "assistant"
	if message["content"] == nil {
		message["content"] = ""
	}
	event := fields{"model": a.request.Model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": last}
	if last {
		event["done_reason"] = "stop"
		event["prompt_eval_count"], event["eval_count"] = a.usage.Prompt, a.usage.Completion
		event["total_duration"] = 1
	}
	return encode(event)
}

func (ollama) calls(a answer) (calls []fields) {
	for i, c := range a.reply.Calls {
		function := fields{"index": i, "name": c.Name, "arguments": json.RawMessage(c.Arguments)}
		calls = append(calls, fields{"id": c.ID, "function": function})
	}
	return calls
}

func (p ollama) whole(a answer) []byte {
	message := fields{"content": a.reply.Text}
	if a.reply.Reasoning != "" {
		message["thinking"] = a.reply.Reasoning
	}
	if calls := p.calls(a); calls != nil {
		message["tool_calls"] = calls
	}
	return p.event(a, message, true)
}

func (p ollama) frames(a answer) [][]byte {
	var all [][]byte
	add := func(message fields, last bool) { all = append(all, append(p.event(a, message, last), '\n')) }
	for _, t := range pieces(a.reply.Reasoning) {
		add(fields{"thinking": t}, false)
	}
	for _, t := range pieces(a.reply.Text) {
		add(fields{"content": t}, false)
	}
	for _, c := range p.calls(a) {
		add(fields{"tool_calls": []fields{c}}, false)
	}
	add(fields{}, true)
	return all
}
