package openai

import (
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// The types of tools and calls.
const (
	functionType = "function"
	customType   = "custom"
)

// isCall reports whether an opaque part is a call of an unknown type.
func isCall(p message.Opaque) bool { return strings.HasPrefix(p.Kind, callField) }

// readTyped returns a tool or a call, its type, and the object under the name of its type if the type is known.
func readTyped(raw string) (o jsonedit.Object, kind string, body jsonedit.Object, err error) {
	if raw[0] != '{' {
		return o, "", body, jsonedit.Faultf("", "is %s, want an object", jsonedit.KindOf(raw))
	}
	o = jsonedit.ParseObject(raw)
	kind, err = o.Word("type", false)
	if err != nil {
		return o, "", body, err
	}
	if kind == "" && !jsonedit.Absent(o.Get(functionType)) {
		kind = functionType // some servers omit it
	}
	switch kind {
	case "":
		return o, "", body, jsonedit.Faultf("type", "is missing, want %s or %s", functionType, customType)
	case functionType, customType:
		body, err = o.Object(kind)
	}
	return o, kind, body, err
}

// readCall returns a call. The input of a custom tool is a text, which becomes an
// argument. A call of an unknown type is opaque.
func readCall(raw string) (message.Part, error) {
	o, kind, body, err := readTyped(raw)
	if err != nil {
		return nil, err
	}
	if body.Raw == "" {
		return message.Opaque{Kind: callField + kind, Data: strings.Clone(raw)}, nil
	}
	var c message.ToolCall
	c.ID, err = o.Text("id", true)
	if err != nil {
		return nil, err
	}
	c.Name, err = body.Text("name", true)
	if err != nil {
		return nil, jsonedit.In(kind, err)
	}
	if kind == customType {
		_, err = body.Text("input", true)
		if err != nil {
			return nil, jsonedit.In(kind, err)
		}
		c.Arguments = `{"input":` + body.Get("input") + `}`
		return c, nil
	}
	c.Arguments, err = body.Text("arguments", true)
	if err != nil {
		return nil, jsonedit.In(kind, err)
	}
	return c, nil
}

// editCalls returns a message with other calls.
func editCalls(o jsonedit.Object, old, now []message.Part) (jsonedit.Object, error) {
	if len(now) == 0 {
		return o.Remove("tool_calls"), nil
	}
	l := jsonedit.List{Raw: "[]"}
	if raw := o.Get("tool_calls"); !jsonedit.Absent(raw) {
		l = jsonedit.ParseList(raw)
	}
	items, err := align(l, old, now, editCall)
	if err != nil {
		return o, err
	}
	return o.Set("tool_calls", l.With(items)), nil
}

// editCall returns the JSON of a call.
func editCall(raw string, old, now message.Part) (string, error) {
	call, ok := now.(message.ToolCall)
	if !ok {
		opaque, ok := now.(message.Opaque)
		if !ok || !json.Valid([]byte(opaque.Data)) {
			return "", jsonedit.Faultf("", "is opaque and not JSON, want a call of this format")
		}
		return opaque.Data, nil
	}
	was, ok := old.(message.ToolCall)
	if !ok {
		raw = `{"id":"","type":"function","function":{"name":"","arguments":""}}`
	}
	o, kind, body, err := readTyped(raw)
	if err != nil {
		return "", err
	}
	if was.ID != call.ID {
		o, err = o.SetText("id", call.ID)
		if err != nil {
			return "", err
		}
	}
	if was.Name != call.Name {
		body, err = body.SetText("name", call.Name)
		if err != nil {
			return "", jsonedit.In(kind, err)
		}
	}
	switch {
	case was.Arguments == call.Arguments:
	case kind == customType:
		body, err = setInput(body, call.Arguments)
	default:
		body, err = body.SetText("arguments", call.Arguments)
	}
	if err != nil {
		return "", jsonedit.In(kind, err)
	}
	return o.Set(kind, body.Raw).Raw, nil
}

// setInput sets the input of a custom call from its arguments.
func setInput(body jsonedit.Object, arguments string) (jsonedit.Object, error) {
	var args map[string]json.RawMessage
	err := json.Unmarshal([]byte(arguments), &args)
	input, ok := args["input"]
	if !ok {
		input = json.RawMessage(`""`)
	}
	if err != nil || ok && input[0] != '"' || len(args) > 1 || len(args) == 1 && !ok {
		return body, jsonedit.Faultf("arguments", `is %s, want {"input": "…"} or {}, since the tool takes a text`, arguments)
	}
	return body.Set("input", string(input)), nil
}
