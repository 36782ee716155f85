package fakeprovider

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// chat is the protocol of OpenAI's chat completions.
type chat struct{}

func (chat) parse(_ *http.Request, body []byte) (*Request, error) { return Parse(body) }

func (chat) check(r *Request, opts Options) error { return r.Check(opts) }

// frame returns an event of a stream; the name may be "".
func frame(name string, data []byte) []byte {
	event := "data: " + string(data) + "\n\n"
	if name != "" {
		event = "event: " + name + "\n" + event
	}
	return []byte(event)
}

// failure is {"error": {"message", "type", "param", "code"}}.
func (chat) failure(e *Error, inStream bool) []byte {
	kind := "invalid_request_error"
	if e.Status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	b := encode(fields{"error": fields{"message": e.Message, "type": kind, "param": null(e.Param), "code": null(e.Code)}})
	if inStream {
		return frame("", b)
	}
	return b
}

// body returns the answer, or one event of a stream. Usage is left out if it is nil.
func (a answer) body(object string, usage any, choices ...fields) json.RawMessage {
	body := fields{
		"id": "chatcmpl-" + strconv.FormatInt(a.number, 10), "object": object,
		"created": a.created, "model": a.request.Model, "system_fingerprint": "fp_fake",
		"choices": append([]fields{}, choices...),
	}
	if usage != nil {
		body["usage"] = usage
	}
	return encode(body)
}

func (u Usage) wire() fields {
	return fields{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details": fields{"cached_tokens": u.Cached},
	}
}

func (a answer) finish() string {
	if len(a.reply.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// message returns the message of an answer in one piece.
func (a answer) message() fields {
	m := fields{"role": "assistant", "content": nil, "refusal": nil}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		m["content"] = a.reply.Text
	}
	if a.reply.Reasoning != "" {
		m["reasoning_content"] = a.reply.Reasoning
	}
	var calls []fields
	for _, c := range a.reply.Calls {
		function := fields{"name": c.Name, "arguments": c.Arguments}
		calls = append(calls, fields{"id": c.ID, "type": "function", "function": function})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

func (chat) whole(a answer) []byte {
	choice := fields{"index": 0, "message": a.message(), "logprobs": nil, "finish_reason": a.finish()}
	return a.body("chat.completion", a.usage.wire(), choice)
}

// frames returns the events of a stream. If the request asks for usage, the last event before [DONE]
// has it, and it is null in the others.
func (chat) frames(a answer) [][]byte {
	const object = "chat.completion.chunk"
	var usage any
	if a.request.IncludeUsage {
		usage = json.RawMessage("null")
	}
	var all [][]byte
	for _, d := range a.deltas() {
		all = append(all, frame("", a.body(object, usage, fields{"index": 0, "delta": d, "logprobs": nil, "finish_reason": nil})))
	}
	last := fields{"index": 0, "delta": fields{}, "logprobs": nil, "finish_reason": a.finish()}
	all = append(all, frame("", a.body(object, usage, last)))
	if a.request.IncludeUsage {
		all = append(all, frame("", a.body(object, a.usage.wire())))
	}
	return append(all, frame("", []byte("[DONE]")))
}

// deltas returns the message in the order of the provider: role; reasoning; text; then each call, first its name
// and then its arguments in fragments.
func (a answer) deltas() []fields {
	all := []fields{{"role": "assistant", "content": ""}}
	for _, p := range pieces(a.reply.Reasoning) {
		all = append(all, fields{"reasoning_content": p})
	}
	for _, p := range pieces(a.reply.Text) {
		all = append(all, fields{"content": p})
	}
	for i, c := range a.reply.Calls {
		call, function := fields{"index": i, "id": c.ID, "type": "function"}, fields{"name": c.Name, "arguments": ""}
		for _, p := range append([]string{""}, pieces(c.Arguments)...) {
			function["arguments"] = p
			call["function"] = function
			all = append(all, fields{"tool_calls": []fields{call}})
			call, function = fields{"index": i}, fields{} // the other events have arguments only
		}
	}
	return all
}
