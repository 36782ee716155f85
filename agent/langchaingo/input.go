package langchaingo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// read returns the arguments that an input means.
func (p *parameters) read(input string) (string, error) {
	text := unquoted(unfenced(p.unwrapped(strings.TrimSpace(input))))
	plain := p.plain()
	switch {
	case strings.HasPrefix(text, "{"): // the tool says what is wrong with it
		return text, nil
	case text == "" || p.none():
		return "{}", nil
	case plain == nil:
		return "", fmt.Errorf("the input %s is no JSON object, want %s", brief(text), p.object(p.required))
	}
	arguments, err := json.Marshal(map[string]json.RawMessage{plain.name: plain.value(text)})
	return string(arguments), err
}

// unwrapped returns what the agents for functions have put an input into. They
// take off a wrapping around a text themselves, and leave one around an object.
func (p *parameters) unwrapped(text string) string {
	var fields map[string]json.RawMessage
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	value, ok := fields[argument]
	isOurs := func(one parameter) bool { return one.name == argument }
	if !ok || len(fields) > 1 || slices.ContainsFunc(slices.Concat(p.required, p.optional), isOurs) {
		return text
	}
	return strings.TrimSpace(string(value))
}

// unfenced returns the JSON object that stands in a code fence.
func unfenced(text string) string {
	const fence = "```"
	inner, begins := strings.CutPrefix(text, fence)
	inner, ends := strings.CutSuffix(inner, fence)
	inner = strings.TrimSpace(strings.TrimPrefix(inner, "json"))
	if begins && ends && isObject(inner) {
		return inner
	}
	return text
}

// unquoted returns what stands in quotes: a JSON string, or a text between two
// marks of which it has none itself.
func unquoted(text string) string {
	var inner string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		return strings.TrimSpace(inner)
	}
	for _, mark := range []string{"'", "`"} {
		inner, begins := strings.CutPrefix(text, mark)
		inner, ends := strings.CutSuffix(inner, mark)
		if begins && ends && !strings.Contains(inner, mark) {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// value returns a text as JSON: as it stands, if that is a value and the parameter
// is for others than strings, else as a string.
func (p parameter) value(text string) json.RawMessage {
	var schema struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(p.schema, &schema) == nil && json.Valid([]byte(text)) {
		if types := typesIn(schema.Type); len(types) > 0 && !slices.Contains(types, "string") {
			return json.RawMessage(text)
		}
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // strings can always be encoded
	}
	return quoted
}

// brief quotes a text, cut off where it gets long.
func brief(text string) string {
	const shown = 40
	if runes := []rune(text); len(runes) > shown {
		return fmt.Sprintf("%q…", string(runes[:shown]))
	}
	return fmt.Sprintf("%q", text)
}
