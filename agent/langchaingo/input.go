package langchaingo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// parameters are those of a tool. They describe its input to a model, and read the input,
// where both are one text.
type parameters struct {
	schema string   // of all; "": there are none
	names  []string // of the properties
	plain  string   // the one that gets a text other than a JSON object; "": none does
	isText bool     // it can be a string
}

// parametersOf returns the parameters that a tool declares.
func parametersOf(def message.ToolDef) (*parameters, error) {
	if _, err := newFunction(def); err != nil || def.Parameters == "" {
		return &parameters{}, err
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal([]byte(def.Parameters), &schema); err != nil {
		return nil, invalid(fmt.Errorf("tool %q: parameters: %w", def.Name, err))
	}
	if schema.Type != "" && schema.Type != "object" {
		return nil, invalid(fmt.Errorf("tool %q: parameters are of type %q, want object", def.Name, schema.Type))
	}
	p := &parameters{}
	for name := range schema.Properties {
		p.names = append(p.names, name)
	}
	if len(p.names) == 0 {
		return p, nil
	}
	var text bytes.Buffer
	if err := json.Compact(&text, []byte(def.Parameters)); err != nil {
		return nil, invalid(fmt.Errorf("tool %q: parameters: %w", def.Name, err))
	}
	p.schema = text.String()
	switch {
	case len(schema.Required) == 1:
		p.plain = schema.Required[0]
	case len(schema.Required) == 0 && len(p.names) == 1:
		p.plain = p.names[0]
	}
	p.isText = isText(schema.Properties[p.plain])
	return p, nil
}

// isText reports whether a schema allows strings.
func isText(schema json.RawMessage) bool {
	var types struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &types) != nil {
		return true
	}
	switch t := types.Type.(type) {
	case string:
		return t == "string"
	case []any:
		return slices.Contains(t, any("string"))
	}
	return true
}

// wanted describes the input to a model.
func (p *parameters) wanted() string {
	object := "a JSON object that fits the schema " + p.schema
	switch {
	case p.schema == "":
		return "{}"
	case p.plain == "":
		return object
	}
	return fmt.Sprintf("%q, as plain text; or %s", p.plain, object)
}

// read returns the arguments for an input.
func (p *parameters) read(input string) (string, error) {
	text := unquoted(unfenced(p.unwrapped(strings.TrimSpace(input))))
	switch {
	case strings.HasPrefix(text, "{"): // the tool validates it
		return text, nil
	case text == "" || p.schema == "":
		return "{}", nil
	case p.plain == "":
		return "", fmt.Errorf("the input is %s, want %s", brief(text), p.wanted())
	}
	var value any = text
	if !p.isText && json.Valid([]byte(text)) {
		value = json.RawMessage(text)
	}
	arguments, err := json.Marshal(map[string]any{p.plain: value})
	return string(arguments), err
}

// unwrapped removes the wrapping of the agents for functions. They remove it themselves
// around a text, but not around an object.
func (p *parameters) unwrapped(text string) string {
	var fields map[string]json.RawMessage
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	value, ok := fields[argument]
	if !ok || len(fields) > 1 || slices.Contains(p.names, argument) {
		return text
	}
	return strings.TrimSpace(string(value))
}

// unfenced removes a code fence around a JSON object.
func unfenced(text string) string {
	inner, ok := between(text, "```")
	inner = strings.TrimSpace(strings.TrimPrefix(inner, "json"))
	if ok && isObject(inner) {
		return inner
	}
	return text
}

// unquoted removes quotes: of a JSON string, or two marks around a text without such a
// mark.
func unquoted(text string) string {
	var inner string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		return strings.TrimSpace(inner)
	}
	for _, mark := range []string{"'", "`"} {
		if inner, ok := between(text, mark); ok && !strings.Contains(inner, mark) {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// between returns the text between two marks.
func between(text, mark string) (inner string, ok bool) {
	inner, begins := strings.CutPrefix(text, mark)
	inner, ends := strings.CutSuffix(inner, mark)
	return inner, begins && ends
}

// brief quotes a text, cut after 40 characters.
func brief(text string) string {
	const shown = 40
	if runes := []rune(text); len(runes) > shown {
		return fmt.Sprintf("%q…", string(runes[:shown]))
	}
	return fmt.Sprintf("%q", text)
}
