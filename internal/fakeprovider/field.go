package fakeprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// object is a JSON object that is being read. Names count exactly, which
// decoding into a struct would not see to.
type object struct {
	path   string // of the object itself: "messages[0]"; "" for the request
	fields map[string]json.RawMessage
}

// readObject reads an object with no other fields than these.
func readObject(raw json.RawMessage, path string, allowed ...string) (object, error) {
	if got := kindOf(raw); got != "an object" {
		return object{}, wrongType(path, "an object", got)
	}
	o := object{path: path}
	if err := json.Unmarshal(raw, &o.fields); err != nil {
		return object{}, unreadable(err)
	}
	return o, o.only(allowed...)
}

// only reports the first field, by name, that is not among these.
func (o object) only(allowed ...string) error {
	var odd []string
	for name := range o.fields {
		if !slices.Contains(allowed, name) {
			odd = append(odd, name)
		}
	}
	if len(odd) == 0 {
		return nil
	}
	return unknown(o.at(slices.Min(odd)))
}

func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// has reports whether a field is there and not null.
func (o object) has(name string) bool {
	raw, ok := o.fields[name]
	return ok && kindOf(raw) != "null"
}

// text returns a field that must be a string if it is there; "" if it is not.
func (o object) text(name string) (string, error) {
	if !o.has(name) {
		return "", nil
	}
	raw := o.fields[name]
	if got := kindOf(raw); got != "a string" {
		return "", wrongType(o.at(name), "a string", got)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", unreadable(err)
	}
	return s, nil
}

// needText returns a field that must be a string and be there.
func (o object) needText(name string) (string, error) {
	if !o.has(name) {
		return "", missing(o.at(name))
	}
	return o.text(name)
}

// list returns the elements of a field that must be an array if it is there,
// and then not an empty one; nil if it is not.
func (o object) list(name string) ([]json.RawMessage, error) {
	if !o.has(name) {
		return nil, nil
	}
	return readList(o.fields[name], o.at(name))
}

func readList(raw json.RawMessage, path string) ([]json.RawMessage, error) {
	if got := kindOf(raw); got != "an array" {
		return nil, wrongType(path, "an array", got)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, unreadable(err)
	}
	if len(all) == 0 {
		return nil, emptyArray(path)
	}
	return all, nil
}

// kindOf names the kind of a JSON value with its article, as error texts want it.
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

func isObject(s string) bool {
	return json.Valid([]byte(s)) && kindOf(json.RawMessage(s)) == "an object"
}

func unreadable(err error) *Error {
	return invalid("", "", "We could not parse the JSON body of your request. (%v)", err)
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
