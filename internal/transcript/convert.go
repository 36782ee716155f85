package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/message"
)

// carried returns the members of a request that have the same name and meaning in both formats.
func carried(from, to *codec.Format) []string {
	switch {
	case from == codec.Gemini || to == codec.Gemini:
		return nil
	case from == codec.Ollama || to == codec.Ollama:
		return []string{"stream"}
	}
	return []string{"stream", "temperature", "top_p"}
}

// Convert returns the conversation as a request of another format: its messages, tools, model, longest answer and the
// members that both formats have. It fails with the JSON path of what the other format does not have, or what is not part
// of a conversation.
func (t *Transcript) Convert(to *codec.Format) (string, error) {
	from, req := t.Body.Format, t.Body.Request()
	same, err := from.Write(t.Body.Model, req.Messages, t.Body.Tools)
	if err != nil {
		return "", err
	}
	var was, is map[string]any
	if err := errors.Join(json.Unmarshal([]byte(t.text), &was), json.Unmarshal([]byte(same), &is)); err != nil {
		return "", err
	}
	takeLimit(was, from.Limits())
	raw := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(t.text), &raw) // it was read above
	for _, name := range carried(from, to) {
		delete(was, name)
	}
	if path := lost("", was, is); path != "" {
		return "", fmt.Errorf("%s would be lost: it is not a part of the conversation that can be written in another format; "+
			"remove it first", path)
	}
	if c, found := brokenCall(req.Messages); found && to != codec.Chat && to != codec.Responses { // which have them as texts
		return "", fmt.Errorf("the arguments of the call %s/%s are not a JSON object, which %s must have; laconic apply repairs them, "+
			"with {use: fit, rules: [portable]} in its chain", c.Name, c.ID, to.Name)
	}
	out, err := to.Write(t.Body.Model, req.Messages, t.Body.Tools)
	if err != nil {
		return "", err
	}
	again, err := to.Decode([]byte(out))
	if err != nil {
		return "", fmt.Errorf("convert to %s: %w", to.Name, err)
	}
	if i := firstDifference(req.Messages, again.Request().Messages); i >= 0 {
		return "", fmt.Errorf("message %d, counted from 0, would not be the same in the format %s", i, to.Name)
	}
	if t.Body.MaxTokens > 0 {
		out = to.WithMaxTokens(out, t.Body.MaxTokens)
	}
	for _, name := range carried(from, to) {
		if value := raw[name]; value != nil {
			out, err = With(out, name, string(value))
			if err != nil {
				return "", err
			}
		}
	}
	return out, nil
}

// brokenCall returns the first call whose arguments are not a JSON object.
func brokenCall(msgs []message.Message) (c message.ToolCall, found bool) {
	for i := range msgs {
		for c := range msgs[i].Calls() {
			v, _ := normal(c.Arguments)
			if _, object := v.(map[string]any); !object {
				return c, true
			}
		}
	}
	return c, false
}

// takeLimit removes the longest answer from a request.
func takeLimit(request map[string]any, limits []string) {
	for _, path := range limits {
		name, inner, nested := strings.Cut(path, ".")
		config, ok := request[name].(map[string]any)
		if nested && ok {
			delete(config, inner)
		}
		if !nested || len(config) == 0 {
			delete(request, name)
		}
	}
}

// firstDifference returns the position of the first message that differs, or -1. The names of results, which only some
// formats have, are not compared.
func firstDifference(was, is []message.Message) int {
	for i := range min(len(was), len(is)) {
		if !nameless(was[i]).Equal(nameless(is[i])) {
			return i
		}
	}
	if len(was) != len(is) {
		return min(len(was), len(is))
	}
	return -1
}

// nameless returns a message without the names of its results, and with the white space of arguments normalised.
func nameless(m message.Message) message.Message {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolResult:
			p.Name = ""
			m.Parts[i] = p
		case message.ToolCall:
			if v, err := normal(p.Arguments); err == nil {
				p.Arguments = fmt.Sprint(v)
			}
			m.Parts[i] = p
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
	}
	return m
}

func normal(text string) (any, error) {
	var v any
	err := json.Unmarshal([]byte(text), &v)
	return v, err
}

// lost returns the path of the first value that another value does not have; "" if there is none.
func lost(path string, was, is any) string {
	if same(was, is) {
		return ""
	}
	switch was := was.(type) {
	case map[string]any:
		if now, ok := is.(map[string]any); ok {
			return lostOf(path, was, now)
		}
	case []any:
		now, ok := is.([]any)
		for i := 0; ok && i < len(was); i++ {
			at := fmt.Sprintf("%s[%d]", path, i)
			if i >= len(now) {
				return at
			}
			if p := lost(at, was[i], now[i]); p != "" {
				return p
			}
		}
		if ok {
			return ""
		}
	}
	return path
}

// lostOf is lost for the members of objects.
func lostOf(path string, was, is map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if was[name] == nil || name == "type" && was[name] == "message" && is[name] == nil {
			continue
		}
		if p := lost(strings.TrimPrefix(path+"."+name, "."), was[name], is[name]); p != "" {
			return p
		}
	}
	return ""
}

// same reports whether two values mean the same: a text may be a list of one part, the role developer is system, and JSON in
// a text may have other white space.
func same(was, is any) bool {
	switch was := was.(type) {
	case []any:
		part, _ := first(was).(map[string]any)
		text, ok := is.(string)
		return ok && len(was) == 1 && len(part) == 2 && part["text"] == text
	case string:
		parts, _ := is.([]any)
		if part, ok := first(parts).(map[string]any); ok {
			return len(parts) == 1 && part["text"] == was
		}
		return was == "developer" && is == "system" || sameJSON(was, is)
	case map[string]any:
		return false
	}
	return was == is
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// sameJSON reports whether two texts are the same JSON, such as arguments of a call.
func sameJSON(was string, is any) bool {
	now, ok := is.(string)
	if !ok || now == was {
		return ok
	}
	a, err := normal(was)
	b, also := normal(now)
	return err == nil && also == nil && reflect.DeepEqual(a, b)
}
