package fakeprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// value is a JSON value of a request, with its path for errors. The first error of a request is kept; what is
// read after it is discarded, so readers need not check for it.
type value struct {
	first **Error
	path  string          // as messages[0].content; "" for the request itself
	raw   json.RawMessage // nil if a field is missing or null
}

// object is a JSON object of a request. Its names are matched exactly, unlike those of encoding/json.
type object struct {
	value

	fields map[string]json.RawMessage
}

func (v value) report(e *Error) {
	if *v.first == nil {
		*v.first = e
	}
}

// failf reports an error of status 400 at this value.
func (v value) failf(code, format string, args ...any) {
	v.report(invalid(code, v.path, format, args...))
}

func invalid(code, param, format string, args ...any) *Error {
	return &Error{Status: 400, Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

// given reports whether the field is there and not null.
func (v value) given() bool { return v.raw != nil }

// is reports a value of another kind than these, and returns whether it is of one of them.
func (v value) is(kinds ...string) bool {
	got := kindOf(v.raw)
	if slices.Contains(kinds, got) {
		return true
	}
	v.failf("invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", v.path, strings.Join(kinds, " or "), got)
	return false
}

// object reads an object that has no other fields than these.
func (v value) object(allowed ...string) object {
	o := object{value: v}
	if v.is("an object") {
		v.unmarshal(&o.fields)
	}
	o.only(allowed...)
	return o
}

// only reports the first field, by name, that is not among these.
func (o object) only(allowed ...string) {
	var other []string
	for name := range o.fields {
		if !slices.Contains(allowed, name) {
			other = append(other, name)
		}
	}
	if len(other) > 0 {
		v := o.get(slices.Min(other))
		v.failf("unknown_parameter", "Unknown parameter: '%s'.", v.path)
	}
}

// get returns a field that may be missing.
func (o object) get(name string) value {
	v := value{first: o.first, path: strings.TrimPrefix(o.path+"."+name, "."), raw: o.fields[name]}
	if kindOf(v.raw) == "null" {
		v.raw = nil
	}
	return v
}

// need returns a field, and reports an error if it is missing.
func (o object) need(name string) value {
	v := o.get(name)
	if !v.given() {
		v.failf("missing_required_parameter", "Missing required parameter: '%s'.", v.path)
	}
	return v
}

// list returns the elements of an array, which must have one at least and limit at most; nil if the field is missing.
func (v value) list(limit int) []value {
	var raws []json.RawMessage
	if !v.given() || !v.is("an array") {
		return nil
	}
	v.unmarshal(&raws)
	if len(raws) == 0 {
		v.failf("empty_array",
			"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", v.path)
	}
	if len(raws) > limit {
		v.failf("array_above_max_length",
			"Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
			v.path, limit, len(raws))
	}
	all := make([]value, len(raws))
	for i, raw := range raws {
		all[i] = value{first: v.first, path: fmt.Sprintf("%s[%d]", v.path, i), raw: raw}
	}
	return all
}

// text returns a string; "" if the field is missing.
func (v value) text() (s string) {
	if v.given() && v.is("a string") {
		v.unmarshal(&s)
	}
	return s
}

// filled returns a string that must not be empty.
func (v value) filled() string {
	s := v.text()
	if s == "" && v.given() {
		v.failf("empty_string",
			"Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", v.path)
	}
	return s
}

// word returns a string that must be one of these.
func (v value) word(words ...string) string {
	s := v.text()
	if v.given() && !slices.Contains(words, s) {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = "'" + w + "'"
		}
		v.failf("invalid_value", "Invalid value: '%s'. Supported values are: %s.", s, enumerate(quoted, "and"))
	}
	return s
}

// name returns a string of at most limit bytes that must match a pattern; nil: any.
func (v value) name(pattern *regexp.Regexp, limit int) string {
	s := v.text()
	switch {
	case !v.given():
	case pattern != nil && !pattern.MatchString(s):
		v.failf("invalid_value",
			"Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", v.path, pattern)
	case len(s) > limit:
		v.failf("string_above_max_length",
			"Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
			v.path, limit, len(s))
	}
	return s
}

// enumerate joins words for a sentence: "a", "a and b", "a, b, and c".
func enumerate(words []string, conjunction string) string {
	last := len(words) - 1
	switch last {
	case 0:
		return words[0]
	case 1:
		return words[0] + " " + conjunction + " " + words[1]
	}
	return strings.Join(words[:last], ", ") + ", " + conjunction + " " + words[last]
}

func (v value) unmarshal(dst any) {
	if err := json.Unmarshal(v.raw, dst); err != nil {
		v.report(unreadable(err))
	}
}

func unreadable(err error) *Error {
	return invalid("", "", "We could not parse the JSON body of your request. (%v)", err)
}

// kindOf returns the kind of a JSON value with its article, as the provider's error texts have it.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(raw, ".eE") {
		return "a decimal"
	}
	return "an integer"
}
