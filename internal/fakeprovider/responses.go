package fakeprovider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// responses is the protocol of OpenAI's Responses, without a memory: each request has the whole conversation.
type responses struct{}

var responsesFields = strings.Fields(`model input instructions tools tool_choice stream stream_options max_output_tokens
	max_tool_calls store reasoning include previous_response_id text truncation temperature top_p top_logprobs
	parallel_tool_calls metadata user prompt_cache_key prompt_cache_retention context_management service_tier background
	conversation safety_identifier prompt client_metadata`)

// item is an element of the input.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
}

func (responses) parse(_ *http.Request, body []byte) (*Request, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil || top == nil {
		return nil, unreadable(err)
	}
	for name := range top {
		if !slices.Contains(responsesFields, name) {
			return nil, invalid("unknown_parameter", name, "Unknown parameter: '%s'.", name)
		}
	}
	var wire struct {
		Model        string          `json:"model"`
		Input        json.RawMessage `json:"input"`
		Instructions string          `json:"instructions"`
		Tools        []struct {
			Type string `json:"type"`
			Tool
		} `json:"tools"`
		Stream   bool   `json:"stream"`
		Most     int    `json:"max_output_tokens"`
		Previous string `json:"previous_response_id"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, unreadable(err)
	}
	switch {
	case wire.Model == "":
		return nil, invalid("missing_required_parameter", "model", "Missing required parameter: 'model'.")
	case !given(wire.Input):
		return nil, invalid("missing_required_parameter", "input", "Missing required parameter: 'input'.")
	case wire.Previous != "":
		return nil, invalid("previous_response_not_found", "previous_response_id",
			"Previous response with id '%s' not found.", wire.Previous)
	}
	r := &Request{Model: wire.Model, Stream: wire.Stream, MaxTokens: wire.Most, auto: true}
	var set []any
	for i, t := range wire.Tools {
		set = append(set, t)
		if t.Type == "function" {
			if err := r.declare(t.Tool, fmt.Sprintf("tools[%d]", i)); err != nil {
				return nil, err
			}
		}
	}
	keep(r, set)
	if wire.Instructions != "" {
		r.add(Message{Role: "system", Parts: []Part{{Type: "text", Text: wire.Instructions}}}, encode(wire.Instructions), "instructions")
	}
	err := r.takeInput(wire.Input)
	return r, err
}

// takeInput adds the items of the input as messages: an answer with its calls is one.
func (r *Request) takeInput(raw json.RawMessage) error {
	if kindOf(raw) == "a string" {
		raw = fmt.Appendf(nil, `[{"role": "user", "content": %s}]`, raw)
	}
	var list []json.RawMessage
	items := []item{}
	if json.Unmarshal(raw, &list) != nil || json.Unmarshal(raw, &items) != nil {
		return invalid("invalid_type", "input", "Invalid type for 'input': expected a string or a list of items.")
	}
	if err := checkItems(items); err != nil {
		return err
	}
	open := false // the last message is an answer to which items are added
	for i, it := range items {
		path := fmt.Sprintf("input[%d]", i)
		answers := it.answers()
		if answers && (!open || it.Type == "reasoning") {
			r.add(Message{Role: "assistant"}, list[i], path)
		}
		open = answers
		if err := r.takeItem(it, list[i], path); err != nil {
			return err
		}
	}
	return nil
}

// takeItem adds an item, if it is of an answer to the newest message.
func (r *Request) takeItem(it item, raw json.RawMessage, path string) error {
	switch it.Type {
	case "function_call":
		m := &r.Messages[len(r.Messages)-1]
		m.Calls = append(m.Calls, Call{ID: it.CallID, Name: it.Name, Arguments: it.Arguments})
	case "reasoning":
		text, _ := base64.StdEncoding.DecodeString(it.Encrypted)
		r.Messages[len(r.Messages)-1].Reasoning = string(text)
	case "function_call_output":
		parts, err := itemParts(path+".output", "tool", it.Output)
		r.add(Message{Role: "tool", CallID: it.CallID, Parts: parts}, raw, path)
		return err
	case "", "message":
		parts, err := itemParts(path+".content", it.Role, it.Content)
		if it.Role != "assistant" {
			r.add(Message{Role: it.Role, Parts: parts}, raw, path)
			return err
		}
		m := &r.Messages[len(r.Messages)-1]
		m.Parts = append(m.Parts, parts...)
		return err
	default: // made by the provider
		r.add(Message{Role: "assistant", Parts: []Part{{Type: it.Type, Data: string(raw)}}}, raw, path)
	}
	return nil
}

// itemParts decodes the content of a message, or the output of a call.
func itemParts(path, role string, raw json.RawMessage) ([]Part, error) {
	var text string
	if given(raw) && json.Unmarshal(raw, &text) == nil {
		return []Part{{Type: "text", Text: text}}, nil
	}
	var wire []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &wire); err != nil || !given(raw) {
		return nil, invalid("invalid_type", path, "Invalid type for '%s': expected a string or a list.", path)
	}
	words := []string{"input_text", "input_image", "input_file"}
	if role == "assistant" {
		words = []string{"output_text", "refusal"}
	}
	var parts []Part
	for i, members := range wire {
		var kind, text string
		_ = unmarshal(members["type"], &kind)
		if !slices.Contains(words, kind) {
			return nil, invalid("invalid_value", fmt.Sprintf("%s[%d].type", path, i), "Invalid value: '%s'. Supported values are: '%s'.",
				kind, strings.Join(words, "', '"))
		}
		p := Part{Type: "text"}
		switch kind {
		case "input_text", "output_text":
			_ = unmarshal(members["text"], &text)
			p.Text = text
		case "refusal":
			_ = unmarshal(members["refusal"], &text)
			p = Part{Type: "refusal", Text: text}
		case "input_image":
			p = Part{Type: "image_url"}
		default:
			p = Part{Type: "file", Data: string(encode(members))}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// checkItems checks how the items fit together.
func checkItems(items []item) error {
	calls, outputs := map[string]bool{}, map[string]bool{}
	for i, it := range items {
		switch it.Type {
		case "", "message":
			if !slices.Contains([]string{"user", "assistant", "system", "developer"}, it.Role) {
				return invalid("invalid_value", fmt.Sprintf("input[%d].role", i),
					"Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", it.Role)
			}
		case "function_call":
			if err := it.checkCall(fmt.Sprintf("input[%d]", i), items[:i]); err != nil {
				return err
			}
			calls[it.CallID] = true
		case "function_call_output":
			if !calls[it.CallID] {
				return invalid("", "input", "No tool call found for function call output with call_id %s.", it.CallID)
			}
			outputs[it.CallID] = true
		case "reasoning":
			if i+1 == len(items) || !items[i+1].answers() {
				return invalid("", "input", "Item '%s' of type 'reasoning' was provided without its required following item.", it.ID)
			}
		}
	}
	for _, it := range items {
		if it.Type == "function_call" && !outputs[it.CallID] {
			return invalid("", "input", "No tool output found for function call %s.", it.CallID)
		}
	}
	return nil
}

// answers reports whether the model has written an item.
func (it item) answers() bool {
	return it.Type == "function_call" || it.Type == "reasoning" || it.Role == "assistant"
}

// checkCall checks a call that follows these items.
func (it item) checkCall(path string, before []item) error {
	switch {
	case it.CallID == "":
		return invalid("missing_required_parameter", path+".call_id", "Missing required parameter: '%s.call_id'.", path)
	case len(it.CallID) > 64:
		return invalid("string_above_max_length", path+".call_id", "Invalid '%s.call_id': string too long. Expected a string with "+
			"maximum length 64, but got a string with length %d instead.", path, len(it.CallID))
	case !toolName.MatchString(it.Name):
		return invalid("invalid_value", path+".name",
			"Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", path, toolName)
	case madeWithReasoning(it.ID) && !behindReasoning(before):
		return invalid("", "input", "Item '%s' of type 'function_call' was provided without its required 'reasoning' item: '%s'.",
			it.ID, strings.Replace(it.ID, "fc_r", "rs_", 1))
	}
	return nil
}

// madeWithReasoning reports whether a call came with reasoning, by its ID.
func madeWithReasoning(id string) bool { return strings.HasPrefix(id, "fc_r") }

// behindReasoning reports whether an answer that ends here began with reasoning.
func behindReasoning(items []item) bool {
	for _, it := range slices.Backward(items) {
		switch {
		case it.Type == "reasoning":
			return true
		case it.Type != "function_call" && it.Role != "assistant":
			return false
		}
	}
	return false
}

func (responses) check(r *Request, opts Options) error {
	window, ok := opts.models()[r.Model]
	switch {
	case !ok:
		return &Error{
			Status: http.StatusBadRequest, Code: "model_not_found", Param: "model",
			Message: "The requested model '" + r.Model + "' does not exist.",
		}
	case r.Tokens()+r.MaxTokens > window:
		return invalid("context_length_exceeded", "input",
			"Your input exceeds the context window of this model. Please adjust your input and try again.")
	}
	return nil
}

func (p responses) failure(e *Error, inStream bool) []byte {
	if !inStream {
		return chat{}.failure(e, false)
	}
	about := fields{"type": "invalid_request_error", "code": e.Code, "message": e.Message, "param": e.Param}
	why := fields{"code": e.Code, "message": e.Message}
	failed := fields{"id": "resp_failed", "object": "response", "status": "failed", "error": why}
	return slices.Concat(
		frame("error", encode(fields{"type": "error", "sequence_number": 1, "error": about})),
		frame("response.failed", encode(fields{"type": "response.failed", "sequence_number": 2, "response": failed})),
	)
}

// output returns the items of an answer.
func (responses) output(a answer) []fields {
	var out []fields
	number, call := strconv.FormatInt(a.number, 10), "fc_"
	if a.reply.Reasoning != "" {
		call = "fc_r"
		out = append(out, fields{
			"type": "reasoning", "id": "rs_" + number + "_0", "summary": []any{},
			"encrypted_content": base64.StdEncoding.EncodeToString([]byte(a.reply.Reasoning)),
		})
	}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		text := fields{"type": "output_text", "text": a.reply.Text, "annotations": []any{}}
		out = append(out, fields{
			"type": "message", "id": "msg_" + number, "role": "assistant", "status": "completed", "content": []fields{text},
		})
	}
	for i, c := range a.reply.Calls {
		out = append(out, fields{
			"type": "function_call", "id": call + number + "_" + strconv.Itoa(i), "call_id": c.ID, "name": c.Name, "arguments": c.Arguments,
			"status": "completed",
		})
	}
	return out
}

// response returns an answer with this output.
func (responses) response(a answer, status string, output []fields, usage any) fields {
	return fields{
		"id": "resp_" + strconv.FormatInt(a.number, 10), "object": "response", "created_at": a.created, "status": status,
		"model": a.request.Model, "output": append([]fields{}, output...), "usage": usage, "error": nil, "incomplete_details": nil,
		"instructions": nil, "metadata": fields{}, "parallel_tool_calls": true, "temperature": 1, "top_p": 1, "tool_choice": "auto",
		"tools": []any{},
	}
}

func (responses) usage(u Usage) fields {
	return fields{
		"input_tokens": u.Prompt, "input_tokens_details": fields{"cached_tokens": u.Cached}, "output_tokens": u.Completion,
		"output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": u.Prompt + u.Completion,
	}
}

func (p responses) whole(a answer) []byte {
	return encode(p.response(a, "completed", p.output(a), p.usage(a.usage)))
}

func (p responses) frames(a answer) [][]byte {
	var all [][]byte
	send := func(name string, f fields) {
		f["type"], f["sequence_number"] = name, len(all)
		all = append(all, frame(name, encode(f)))
	}
	begun := p.response(a, "in_progress", nil, nil)
	send("response.created", fields{"response": begun})
	send("response.in_progress", fields{"response": begun})
	output := p.output(a)
	for i, out := range output {
		added := maps.Clone(out)
		if out["type"] == "function_call" {
			added["arguments"] = "" // as OpenAI: they come in pieces
		}
		send("response.output_item.added", fields{"output_index": i, "item": added})
		switch out["type"] {
		case "message":
			at := fields{"item_id": out["id"], "output_index": i, "content_index": 0}
			with := func(more fields) fields {
				maps.Copy(more, at)
				return more
			}
			send("response.content_part.added", with(fields{"part": fields{"type": "output_text", "text": "", "annotations": []any{}}}))
			for _, piece := range pieces(a.reply.Text) {
				send("response.output_text.delta", with(fields{"delta": piece}))
			}
			send("response.output_text.done", with(fields{"text": a.reply.Text}))
			send("response.content_part.done", with(fields{"part": fields{"type": "output_text", "text": a.reply.Text}}))
		case "function_call":
			arguments, _ := out["arguments"].(string)
			for _, piece := range pieces(arguments) {
				send("response.function_call_arguments.delta", fields{"item_id": out["id"], "output_index": i, "delta": piece})
			}
			send("response.function_call_arguments.done", fields{"item_id": out["id"], "output_index": i, "arguments": arguments})
		}
		send("response.output_item.done", fields{"output_index": i, "item": out})
	}
	send("response.completed", fields{"response": p.response(a, "completed", output, p.usage(a.usage))})
	return all
}
