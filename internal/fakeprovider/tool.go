package fakeprovider

import (
	"encoding/json"
	"slices"
)

// Tool is the declaration of a tool.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON schema; nil: none was given, so the tool takes nothing
}

// readTools reads tools, or functions in their place.
func (r *Request) readTools(o object) error {
	for _, name := range []string{"tools", "functions"} {
		all, err := o.list(name)
		if err != nil {
			return err
		}
		if len(all) > mostToolsGiven {
			return longArray(name, mostToolsGiven, len(all))
		}
		for i, raw := range all {
			declare := r.declare
			if name == "tools" {
				declare = r.declareTool
			}
			if err := declare(raw, index(name, i)); err != nil {
				return err
			}
		}
	}
	r.Legacy = o.has("functions")
	return nil
}

// declareTool reads one of the tools, which is a function in a wrapping.
func (r *Request) declareTool(raw json.RawMessage, path string) error {
	t, err := readObject(raw, path, "type", "function")
	if err != nil {
		return err
	}
	kind, err := t.needText("type")
	if err != nil {
		return err
	}
	if kind != "function" {
		return wrongValue(t.at("type"), kind, "'function'")
	}
	if !t.has("function") {
		return missing(t.at("function"))
	}
	return r.declare(t.fields["function"], t.at("function"))
}

func (r *Request) declare(raw json.RawMessage, path string) error {
	o, err := readObject(raw, path, "name", "description", "parameters", "strict")
	if err != nil {
		return err
	}
	var t Tool
	if t.Name, err = o.needText("name"); err != nil {
		return err
	}
	switch {
	case !toolRegexp.MatchString(t.Name):
		return wrongPattern(o.at("name"), toolPattern)
	case len(t.Name) > longestName:
		return longString(o.at("name"), longestName, len(t.Name))
	case r.Tool(t.Name) != nil:
		return invalid("invalid_value", o.at("name"), "Tool names must be unique: '%s' is declared more than once.", t.Name)
	}
	if t.Description, err = o.text("description"); err != nil {
		return err
	}
	if o.has("parameters") {
		t.Parameters = o.fields["parameters"]
		if why := badParameters(t.Parameters); why != "" {
			return invalid("invalid_function_parameters", o.at("parameters"), "Invalid schema for function '%s': %s", t.Name, why)
		}
	}
	r.Tools = append(r.Tools, t)
	return nil
}

// badParameters says what is wrong with the schema of a tool's parameters.
func badParameters(raw json.RawMessage) string {
	var s map[string]json.RawMessage
	if kindOf(raw) != "an object" || json.Unmarshal(raw, &s) != nil {
		return "schema must be an object, not " + kindOf(raw) + "."
	}
	var kind string
	if json.Unmarshal(s["type"], &kind) != nil || kind != "object" {
		return "schema must be a JSON Schema of 'type: \"object\"'."
	}
	if _, ok := s["properties"]; !ok {
		return "In context=(), object schema missing properties."
	}
	return badSchema(raw, "()")
}

// badSchema looks at the words that say what a value is made of. Other words
// of JSON schema are let pass.
func badSchema(raw json.RawMessage, context string) string {
	var s map[string]json.RawMessage
	switch kindOf(raw) {
	case "a boolean": // a schema that takes everything, or nothing
		return ""
	case "an object":
	default:
		return "In context=" + context + ", " + kindOf(raw) + " is not a schema."
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "In context=" + context + ", " + err.Error() + "."
	}
	kinds, ok := schemaTypes(s["type"])
	if !ok {
		return "In context=" + context + ", " + string(s["type"]) + " is not a type."
	}
	if _, ok := s["items"]; !ok && slices.Contains(kinds, "array") {
		return "In context=" + context + ", array schema missing items."
	}
	if req, ok := s["required"]; ok {
		var names []string
		if kindOf(req) != "an array" || json.Unmarshal(req, &names) != nil {
			return "In context=" + context + ", 'required' must be an array of strings."
		}
	}
	if items, ok := s["items"]; ok {
		if why := badSchema(items, context+".items"); why != "" {
			return why
		}
	}
	return badProperties(s["properties"], context)
}

func badProperties(raw json.RawMessage, context string) string {
	if raw == nil {
		return ""
	}
	var props map[string]json.RawMessage
	if kindOf(raw) != "an object" || json.Unmarshal(raw, &props) != nil {
		return "In context=" + context + ", 'properties' must be an object."
	}
	names := make([]string, 0, len(props))
	for name := range props {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if why := badSchema(props[name], context+"."+name); why != "" {
			return why
		}
	}
	return ""
}

// schemaTypes returns the types that a schema names: none, one or several.
func schemaTypes(raw json.RawMessage) (kinds []string, ok bool) {
	if raw == nil {
		return nil, true
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		kinds = []string{one}
	} else if json.Unmarshal(raw, &kinds) != nil {
		return nil, false
	}
	for _, k := range kinds {
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, k) {
			return nil, false
		}
	}
	return kinds, true
}
