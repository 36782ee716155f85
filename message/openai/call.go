package openai

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// The types of tools and calls.
const (
	functionType = "function"
	customType   = "custom"
)

// isCall reports whether an opaque part is a call of an unknown type.
func isCall(p message.Opaque) bool { return strings.HasPrefix(p.Kind, callField) }

// readTyped returns the type of a tool or call, and the object under the name of its
// type if the type is known.
func readTyped(raw string) (kind string, body object, err error) {
	if raw[0] != '{' {
		return "", body, faultf("", "is %s, want an object", kindOf(raw))
	}
	o := parseObject(raw)
	if kind, err = o.text("type", false); err != nil {
		return "", body, err
	}
	if kind == "" && !absent(o.get(functionType)) {
		kind = functionType // some servers omit it
	}
	switch kind {
	case "":
		return "", body, faultf("type", "is missing, want %s or %s", functionType, customType)
	case functionType, customType:
		body, err = o.object(kind)
	}
	return kind, body, err
}

// readCall returns a call. The input of a custom tool is a text, which becomes an
// argument. A call of an unknown type is opaque.
func readCall(raw string) (message.Part, error) {
	kind, body, err := readTyped(raw)
	if err != nil {
		return nil, err
	}
	if body.raw == "" {
		return message.Opaque{Kind: callField + kind, Data: raw}, nil
	}
	var c message.ToolCall
	if c.ID, err = parseObject(raw).text("id", true); err != nil {
		return nil, err
	}
	if c.Name, err = body.text("name", true); err != nil {
		return nil, in(kind, err)
	}
	if kind == customType {
		if _, err = body.text("input", true); err != nil {
			return nil, in(kind, err)
		}
		c.Arguments = `{"input":` + body.get("input") + `}`
		return c, nil
	}
	if c.Arguments, err = body.text("arguments", true); err != nil {
		return nil, in(kind, err)
	}
	return c, nil
}

// editCalls returns a message with other calls.
func editCalls(o object, old, now []message.Part) (object, error) {
	if len(now) == 0 {
		return o.remove("tool_calls"), nil
	}
	l := list{raw: "[]"}
	if raw := o.get("tool_calls"); !absent(raw) {
		l = parseList(raw)
	}
	items, err := align(l, old, now, editCall)
	if err != nil {
		return o, err
	}
	return o.set("tool_calls", l.with(items)), nil
}

// editCall returns the JSON of a call.
func editCall(raw string, old, now message.Part) (string, error) {
	call, ok := now.(message.ToolCall)
	if !ok {
		opaque, ok := now.(message.Opaque)
		if !ok || !json.Valid([]byte(opaque.Data)) {
			return "", faultf("", "is opaque and not JSON, want a call of this format")
		}
		return opaque.Data, nil
	}
	was, ok := old.(message.ToolCall)
	if !ok {
		raw = `{"id":"","type":"function","function":{"name":"","arguments":""}}`
	}
	o := parseObject(raw)
	kind, body, err := readTyped(raw)
	if err != nil {
		return "", err
	}
	if was.ID != call.ID {
		if o, err = o.setText("id", call.ID); err != nil {
			return "", err
		}
	}
	if was.Name != call.Name {
		if body, err = body.setText("name", call.Name); err != nil {
			return "", in(kind, err)
		}
	}
	switch {
	case was.Arguments == call.Arguments:
	case kind == customType:
		body, err = setInput(body, call.Arguments)
	default:
		body, err = body.setText("arguments", call.Arguments)
	}
	if err != nil {
		return "", in(kind, err)
	}
	return o.set(kind, body.raw).raw, nil
}

// setInput sets the input of a custom call from its arguments.
func setInput(body object, arguments string) (object, error) {
	var args map[string]json.RawMessage
	err := json.Unmarshal([]byte(arguments), &args)
	input, ok := args["input"]
	if !ok {
		input = json.RawMessage(`""`)
	}
	if err != nil || ok && input[0] != '"' || len(args) > 1 || len(args) == 1 && !ok {
		return body, faultf("arguments", `is %s, want {"input": "…"} or {}, since the tool takes a text`, arguments)
	}
	return body.set("input", string(input)), nil
}
