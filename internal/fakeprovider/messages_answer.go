package fakeprovider

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"
)

func (messages) failure(e *Error, inStream bool) []byte {
	kind := map[int]string{
		401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
		500: "api_error", 529: "overloaded_error",
	}[e.status()]
	b := encode(fields{"type": "error", "error": fields{"type": cmp.Or(kind, "invalid_request_error"), "message": e.Message}})
	if inStream {
		return frame("error", b)
	}
	return b
}

// content returns the blocks of an answer.
func (messages) content(a answer) []fields {
	var content []fields
	if text := a.reply.Reasoning; text != "" {
		shown := text
		if a.request.omitThinking {
			shown = ""
		}
		signature := base64.StdEncoding.EncodeToString([]byte(text))
		content = append(content, fields{"type": "thinking", "thinking": shown, "signature": signature})
	}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		content = append(content, fields{"type": "text", "text": a.reply.Text})
	}
	for _, c := range a.reply.Calls {
		content = append(content, fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments)})
	}
	return content
}

// message returns an answer with this content.
func (p messages) message(a answer, content []fields, stop any, written int) fields {
	m := fields{
		"id": "msg_" + strconv.FormatInt(a.number, 10), "type": "message", "role": "assistant", "model": a.request.Model,
		"content": append([]fields{}, content...), "stop_reason": stop, "stop_sequence": nil,
		"usage": fields{
			"input_tokens": a.usage.Prompt - a.usage.Cached - a.usage.Written, "cache_read_input_tokens": a.usage.Cached,
			"cache_creation_input_tokens": a.usage.Written, "output_tokens": written,
		},
	}
	var dropped []fields
	for _, i := range a.request.dropped {
		dropped = append(dropped, fields{"type": "thinking_dropped", "path": a.request.paths[i], "reason": "prefix_binding_mismatch"})
	}
	if dropped != nil {
		m["input_transformations"] = dropped
	}
	return m
}

func (messages) stop(a answer) string {
	if len(a.reply.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (p messages) whole(a answer) []byte {
	return encode(p.message(a, p.content(a), p.stop(a), a.usage.Completion))
}

func (p messages) frames(a answer) [][]byte {
	var all [][]byte
	send := func(name string, f fields) {
		f["type"] = name
		all = append(all, frame(name, encode(f)))
	}
	send("message_start", fields{"message": p.message(a, nil, nil, 1)})
	send("ping", fields{})
	for i, b := range p.content(a) {
		start, deltas := p.deltas(b)
		send("content_block_start", fields{"index": i, "content_block": start})
		for _, d := range deltas {
			send("content_block_delta", fields{"index": i, "delta": d})
		}
		send("content_block_stop", fields{"index": i})
	}
	send("message_delta", fields{
		"delta": fields{"stop_reason": p.stop(a), "stop_sequence": nil}, "usage": fields{"output_tokens": a.usage.Completion},
	})
	send("message_stop", fields{})
	return all
}

// deltas returns a block as it is begun in a stream, and what is added to it.
func (messages) deltas(b fields) (start fields, deltas []fields) {
	add := func(kind, member, text string) {
		for _, piece := range pieces(text) {
			deltas = append(deltas, fields{"type": kind, member: piece})
		}
	}
	start = maps.Clone(b)
	switch text := func(name string) string { s, _ := b[name].(string); return s }; b["type"] {
	case "thinking":
		start["thinking"], start["signature"] = "", ""
		add("thinking_delta", "thinking", text("thinking"))
		deltas = append(deltas, fields{"type": "signature_delta", "signature": text("signature")})
	case "text":
		start["text"] = ""
		add("text_delta", "text", text("text"))
	case "tool_use":
		start["input"] = fields{}
		arguments, _ := b["input"].(json.RawMessage)
		add("input_json_delta", "partial_json", string(arguments))
	}
	return start, deltas
}
