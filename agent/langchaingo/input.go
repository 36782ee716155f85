package langchaingo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// parameters are those of a tool. They describe its input to a model, and read the input,
// where both are one text.
type parameters struct {
	required, optional []parameter
	odd                string // the whole schema if it has more than the parameters, else ""
}

// parameter is one parameter of a tool.
type parameter struct {
	name   string
	schema json.RawMessage
}

// parametersOf returns the parameters that a tool declares.
func parametersOf(def message.ToolDef) (*parameters, error) {
	if def.Parameters == "" {
		return &parameters{}, nil
	}
	if _, err := newFunction(def); err != nil {
		return nil, err
	}
	// A schema with other fields is odd.
	var schema struct {
		Schema      string          `json:"$schema"`
		Type        string          `json:"type"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Properties  json.RawMessage `json:"properties"`
		Required    []string        `json:"required"`
		Additional  any             `json:"additionalProperties"` //nolint:tagliatelle // JSON Schema names it so
	}
	dec := json.NewDecoder(strings.NewReader(def.Parameters))
	dec.DisallowUnknownFields()
	unknown := dec.Decode(&schema)
	if unknown != nil {
		if err := json.Unmarshal([]byte(def.Parameters), &schema); err != nil {
			return nil, invalid(fmt.Errorf("tool %q: parameters: %w", def.Name, err))
		}
	}
	if schema.Type != "" && schema.Type != "object" {
		return nil, invalid(fmt.Errorf("tool %q: parameters are of type %q, want object", def.Name, schema.Type))
	}
	all, err := properties(schema.Properties)
	if err != nil {
		return nil, invalid(fmt.Errorf("tool %q: parameters: %w", def.Name, err))
	}
	p := &parameters{}
	for _, one := range all {
		if slices.Contains(schema.Required, one.name) {
			p.required = append(p.required, one)
		} else {
			p.optional = append(p.optional, one)
		}
	}
	if unknown != nil || len(p.required) != len(schema.Required) || schema.Additional != nil && schema.Additional != false {
		p.odd = compact(json.RawMessage(def.Parameters))
	}
	return p, nil
}

// properties returns the properties of a schema in their order.
func properties(object json.RawMessage) ([]parameter, error) {
	if len(object) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return nil, fmt.Errorf("properties are %s, want an object", object)
	}
	var all []parameter
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		one := parameter{name: fmt.Sprint(key)}
		if err := dec.Decode(&one.schema); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// plain returns the parameter that gets a text other than a JSON object, or nil.
func (p *parameters) plain() *parameter {
	switch {
	case len(p.required) == 1:
		return &p.required[0]
	case len(p.required) == 0 && len(p.optional) == 1:
		return &p.optional[0]
	}
	return nil
}

// none reports whether the tool has no parameters.
func (p *parameters) none() bool {
	return len(p.required) == 0 && len(p.optional) == 0 && p.odd == ""
}

// wanted describes the input to a model.
func (p *parameters) wanted() string {
	plain := p.plain()
	switch {
	case p.none():
		return "{}"
	case plain == nil:
		return p.object(p.required)
	case p.odd != "":
		return fmt.Sprintf("%q, as plain text; or %s", plain.name, p.object(nil))
	case len(p.required) == 0:
		return fmt.Sprintf("%s, as plain text; or {}", plain)
	case len(p.optional) == 0:
		return fmt.Sprintf("%s, as plain text", plain)
	}
	return fmt.Sprintf("%s, as plain text; or a JSON object with it and any of %s", plain, list(p.optional))
}

// object describes the input as a JSON object.
func (p *parameters) object(required []parameter) string {
	switch {
	case p.odd != "":
		return "a JSON object that fits the schema " + p.odd
	case len(required) == 0:
		return "a JSON object with any of " + list(p.optional)
	case len(p.optional) == 0:
		return "a JSON object with " + list(required)
	}
	return "a JSON object with " + list(required) + " and any of " + list(p.optional)
}

func list(all []parameter) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.String()
	}
	return strings.Join(texts, ", ")
}

// String describes a parameter: "page" (integer: from 1). A schema with more than a type
// and a description is given whole.
func (p parameter) String() string {
	var plain struct {
		Type        any    `json:"type"`
		Description string `json:"description"`
		Items       *struct {
			Type any `json:"type"`
		} `json:"items"`
	}
	dec := json.NewDecoder(bytes.NewReader(p.schema))
	dec.DisallowUnknownFields()
	if dec.Decode(&plain) != nil && string(p.schema) != "true" {
		return fmt.Sprintf("%q (%s)", p.name, compact(p.schema))
	}
	text := strings.Join(typesIn(plain.Type), " or ")
	if plain.Items != nil {
		if of := strings.Join(typesIn(plain.Items.Type), " or "); of != "" {
			text += " of " + of
		}
	}
	if plain.Description != "" {
		text = strings.TrimPrefix(text+": "+plain.Description, ": ")
	}
	if text == "" {
		return strconv.Quote(p.name)
	}
	return fmt.Sprintf("%q (%s)", p.name, text)
}

// typesIn returns the types in the field "type" of a schema, without null: instead, the
// parameter is left out.
func typesIn(named any) []string {
	switch named := named.(type) {
	case string:
		return []string{named}
	case []any:
		var all []string
		for _, one := range named {
			if name, ok := one.(string); ok && name != "null" {
				all = append(all, name)
			}
		}
		return all
	}
	return nil
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// read returns the arguments for an input.
func (p *parameters) read(input string) (string, error) {
	text := unquoted(unfenced(p.unwrapped(strings.TrimSpace(input))))
	plain := p.plain()
	switch {
	case strings.HasPrefix(text, "{"): // the tool validates it
		return text, nil
	case text == "" || p.none():
		return "{}", nil
	case plain == nil:
		return "", fmt.Errorf("the input %s is no JSON object, want %s", brief(text), p.object(p.required))
	}
	arguments, err := json.Marshal(map[string]json.RawMessage{plain.name: plain.value(text)})
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
	isOurs := func(one parameter) bool { return one.name == argument }
	if !ok || len(fields) > 1 || slices.ContainsFunc(slices.Concat(p.required, p.optional), isOurs) {
		return text
	}
	return strings.TrimSpace(string(value))
}

// unfenced removes a code fence around a JSON object.
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

// unquoted removes quotes: of a JSON string, or two marks around a text without such a
// mark.
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

// value returns a text as JSON: unchanged if it is JSON and the parameter does not allow
// strings, else as a string.
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

// brief quotes a text, cut after 40 characters.
func brief(text string) string {
	const shown = 40
	if runes := []rune(text); len(runes) > shown {
		return fmt.Sprintf("%q…", string(runes[:shown]))
	}
	return fmt.Sprintf("%q", text)
}
