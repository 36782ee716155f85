package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// argumentsError describes why the arguments of a call do not fit a tool, in words
// that a model can act on.
type argumentsError struct {
	// Problems has an entry for each field that is wrong, at least one, such as
	// "path" is missing, want string
	Problems []string
}

// Error names the first problems and counts the others.
func (e *argumentsError) Error() string {
	const shown = 8
	text := "invalid arguments: " + strings.Join(e.Problems[:min(shown, len(e.Problems))], "; ")
	if more := len(e.Problems) - shown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// validate checks arguments against a schema. The validator decides, but it stops at
// the first problem it meets, in no fixed order. So explain lists the problems.
func validate(schema *jsonschema.Resolved, arguments string) error {
	var v any
	if err := json.Unmarshal([]byte(arguments), &v); err != nil {
		return &argumentsError{Problems: []string{fmt.Sprintf("not valid JSON (%v), want a JSON object", err)}}
	}
	err := schema.Validate(v)
	if err == nil {
		return nil
	}
	problems := explain(schema.Schema(), v, "")
	if len(problems) == 0 {
		problems = []string{err.Error()}
	}
	return &argumentsError{Problems: problems}
}

// explain returns the problems of the value at path, in the order of the schema: fields
// that are missing, unknown, of the wrong type or out of range.
func explain(s *jsonschema.Schema, v any, path string) []string {
	if want := typeName(s); want != "" && !hasType(s, v) {
		return []string{fmt.Sprintf("%s is %s, want %s", fieldName(path), brief(v), want)}
	}
	switch v := v.(type) {
	case map[string]any:
		return explainObject(s, v, path)
	case []any:
		var found []string
		for i, item := range v {
			if s.Items != nil {
				found = append(found, explain(s.Items, item, path+"["+strconv.Itoa(i)+"]")...)
			}
		}
		return found
	case float64:
		switch {
		case s.Minimum != nil && v < *s.Minimum:
			return []string{fmt.Sprintf("%s is %s, want at least %s", fieldName(path), brief(v), brief(*s.Minimum))}
		case s.Maximum != nil && v > *s.Maximum:
			return []string{fmt.Sprintf("%s is %s, want at most %s", fieldName(path), brief(v), brief(*s.Maximum))}
		}
	}
	return nil
}

func explainObject(s *jsonschema.Schema, object map[string]any, path string) []string {
	var found []string
	names := s.PropertyOrder
	for _, name := range names {
		field := join(path, name)
		if v, ok := object[name]; ok {
			found = append(found, explain(s.Properties[name], v, field)...)
		} else if slices.Contains(s.Required, name) {
			want := cmp.Or(typeName(s.Properties[name]), "any value")
			found = append(found, fmt.Sprintf("%s is missing, want %s", fieldName(field), want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field := join(path, name)
		switch {
		case slices.Contains(names, name), s.AdditionalProperties == nil:
		case s.AdditionalProperties.Not == nil: // a map, whose values have a schema
			found = append(found, explain(s.AdditionalProperties, object[name], field)...)
		case len(names) == 0:
			found = append(found, fieldName(field)+" is unknown, want no fields")
		default:
			found = append(found, fmt.Sprintf("%s is unknown, want %s", fieldName(field), quoted(names)))
		}
	}
	return found
}

// typeName returns the types that a schema allows, as "array of string or null"; ""
// if it allows all.
func typeName(s *jsonschema.Schema) string {
	var names []string
	for _, t := range types(s) {
		if t == "array" && s.Items != nil && typeName(s.Items) != "" {
			t += " of " + typeName(s.Items)
		}
		names = append(names, t)
	}
	return strings.Join(names, " or ")
}

// types returns the types that a schema allows, null last; empty if it allows all.
func types(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	all := slices.Clone(s.Types)
	if i := slices.Index(all, "null"); i >= 0 {
		all = append(slices.Delete(all, i, i+1), "null")
	}
	return all
}

func hasType(s *jsonschema.Schema, v any) bool {
	return slices.ContainsFunc(types(s), func(t string) bool {
		switch v := v.(type) {
		case nil:
			return t == "null"
		case bool:
			return t == "boolean"
		case string:
			return t == "string"
		case float64:
			return t == "number" || t == "integer" && v == math.Trunc(v)
		case []any:
			return t == "array"
		}
		return t == "object"
	})
}

// brief returns a value as JSON, cut after 60 bytes.
func brief(v any) string {
	const limit = 60
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("of type %T", v)
	}
	if len(b) <= limit {
		return string(b)
	}
	end := limit
	for !utf8.RuneStart(b[end]) {
		end--
	}
	return string(b[:end]) + "…"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func fieldName(path string) string {
	if path == "" {
		return "the value"
	}
	return strconv.Quote(path)
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = strconv.Quote(name)
	}
	return strings.Join(q, ", ")
}
