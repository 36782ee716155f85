package fakeprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// field is what the provider requires of one field of a request, or of the elements of a list.
type field struct {
	path   string         // with [] for the elements of a list
	kinds  string         // kinds of [kindOf], joined by " or "; "": any
	only   string         // roles of the message, or types of the object, that may have the field; "": all
	need   bool           // it must be given, and not null
	filled bool           // a string must not be empty
	words  []string       // the only values of a string; nil: any
	match  *regexp.Regexp // of a string; nil: any
	most   int            // bytes of a string, elements of a list; 0: any number
}

var (
	messageName = regexp.MustCompile(`^[^\s<|\\/>]+$`)
	imageURL    = regexp.MustCompile(`^(https?://|data:image/)`)
	toolName    = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// format and plain hold all fields that a request may have, from the reference of the provider's endpoint and from
// what go-openai and langchaingo send. They lack functions and function_call, the form before tools.
// reasoning_content is not the provider's: clients of providers that send it also send it back, and some send the
// index of a call. An object that has no fields here may have any, such as that of tool_choice.
var format = []field{
	{path: "model", kinds: "a string", need: true},
	{path: "messages", kinds: "an array", need: true},
	{
		path: "messages[].role", kinds: "a string", need: true,
		words: []string{"system", "assistant", "user", "tool", "developer"},
	},
	{path: "messages[].tool_call_id", kinds: "a string", only: "tool", need: true},
	{path: "messages[].name", kinds: "a string", filled: true, match: messageName, most: 64},
	{
		path: "messages[].content[].type", kinds: "a string", need: true,
		words: []string{"text", "image_url", "input_audio", "refusal", "file"},
	},
	{path: "messages[].content[].text", kinds: "a string", only: "text", need: true, filled: true},
	{path: "messages[].content[].refusal", kinds: "a string", only: "refusal", need: true, filled: true},
	{path: "messages[].content[].image_url", kinds: "an object", only: "image_url", need: true},
	{path: "messages[].content[].image_url.url", kinds: "a string", need: true, match: imageURL},
	{path: "messages[].content[].image_url.detail", kinds: "a string", words: []string{"auto", "low", "high"}},
	{path: "messages[].content[].input_audio", kinds: "an object", only: "input_audio", need: true},
	{path: "messages[].content[].file", kinds: "an object", only: "file", need: true},
	{path: "messages[].refusal", kinds: "a string", only: "assistant"},
	{path: "messages[].audio", only: "assistant"},
	{path: "messages[].annotations", only: "assistant"},
	{path: "messages[].reasoning_content", kinds: "a string", only: "assistant"},
	{path: "messages[].tool_calls", kinds: "an array", only: "assistant"},
	{path: "messages[].tool_calls[].id", kinds: "a string", need: true, filled: true, most: 40},
	{path: "messages[].tool_calls[].type", kinds: "a string", need: true, words: []string{"function"}},
	{path: "messages[].tool_calls[].function", kinds: "an object", need: true},
	{path: "messages[].tool_calls[].function.name", kinds: "a string", need: true, match: toolName},
	{path: "messages[].tool_calls[].function.arguments", kinds: "a string", need: true},

	{path: "tools", kinds: "an array", most: 128},
	{path: "tools[].type", kinds: "a string", need: true, words: []string{"function"}},
	{path: "tools[].function", kinds: "an object", need: true},
	{path: "tools[].function.name", kinds: "a string", need: true, match: toolName, most: 64},
	{path: "tool_choice", kinds: "a string or an object", words: []string{"none", "auto", "required"}},
}

// plain holds the fields that have no other rule, by their kinds.
var plain = map[string][]string{
	"": {"messages[].tool_calls[].index", "tools[].function.parameters", "tools[].function.strict"},
	"a boolean": {
		"logprobs", "parallel_tool_calls", "store", "stream", "stream_options.include_obfuscation",
		"stream_options.include_usage",
	},
	"a string": {
		"prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "safety_identifier", "service_tier",
		"tools[].function.description", "user", "verbosity",
	},
	"an array":   {"modalities"},
	"an integer": {"max_completion_tokens", "max_tokens", "n", "seed", "top_logprobs"},
	"an object": {
		"audio", "logit_bias", "messages[]", "messages[].content[]", "messages[].tool_calls[]", "metadata", "prediction",
		"response_format", "stream_options", "tools[]", "web_search_options",
	},
	"a decimal or an integer": {"frequency_penalty", "presence_penalty", "temperature", "top_p"},
	"a string or an array":    {"messages[].content", "stop"},
}

// fieldsOf holds the fields of each object by its path, in the order of the format, and the element of each list by
// the path of the list.
var fieldsOf = func() map[string][]field {
	fields := slices.Clone(format)
	for _, kinds := range slices.Sorted(maps.Keys(plain)) {
		for _, path := range plain[kinds] {
			fields = append(fields, field{path: path, kinds: kinds})
		}
	}
	all := map[string][]field{}
	for _, f := range fields {
		parent, isElement := strings.CutSuffix(f.path, "[]")
		if !isElement {
			parent = f.path[:max(strings.LastIndexByte(f.path, '.'), 0)]
		}
		all[parent] = append(all[parent], f)
	}
	return all
}()

func invalid(code, param, format string, args ...any) *Error {
	return &Error{Status: 400, Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

func unreadable(err error) *Error {
	return invalid("", "", "We could not parse the JSON body of your request. (%v)", err)
}

// checkFormat returns the fields of a request, or the first rule of the format that it breaks.
func checkFormat(body []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(body, &fields)
	switch {
	case !utf8.Valid(body):
		return nil, unreadable(errors.New("it is not UTF-8"))
	case err != nil:
		return nil, unreadable(err)
	case fields == nil:
		return nil, unreadable(errors.New("it is null"))
	case !given(fields["model"]):
		return nil, invalid("", "", "you must provide a model parameter")
	}
	return fields, checkObject(fieldsOf[""], "", fields)
}

// check returns the first rule that a value at a path breaks, or that a value in it breaks.
func (f field) check(path string, raw json.RawMessage) error {
	kind := kindOf(raw)
	if f.kinds != "" && !slices.Contains(strings.Split(f.kinds, " or "), kind) {
		return invalid("invalid_type", path, "Invalid type for '%s': expected %s, but got %s instead.", path, f.kinds, kind)
	}
	switch kind {
	case "a string":
		return f.checkString(path, raw)
	case "an array":
		return f.checkList(path, raw)
	case "an object":
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields) // it is an object
		return checkObject(fieldsOf[f.path], path+".", fields)
	}
	return nil
}

// checkObject checks an object that may have these fields only; nil: any. Names are matched exactly.
func checkObject(known []field, prefix string, fields map[string]json.RawMessage) error {
	if known == nil {
		return nil
	}
	unknown := func(name string) error {
		return invalid("unknown_parameter", prefix+name, "Unknown parameter: '%s'.", prefix+name)
	}
	allowed := map[string]bool{}
	for _, f := range known {
		allowed[f.name()] = true
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !allowed[name] {
			return unknown(name)
		}
	}
	var variant string // the role or the type, which are before the fields that depend on it
	for _, f := range known {
		raw, ok := fields[f.name()]
		applies := f.only == "" || f.only == variant
		switch {
		case ok && !applies:
			return unknown(f.name())
		case !given(raw):
			if f.need && applies {
				return invalid("missing_required_parameter", prefix+f.name(), "Missing required parameter: '%s'.", prefix+f.name())
			}
			continue
		}
		if err := f.check(prefix+f.name(), raw); err != nil {
			return err
		}
		if f.name() == "role" || f.name() == "type" {
			_ = json.Unmarshal(raw, &variant) // check has found a string
		}
	}
	return nil
}

// name returns the last name of the path.
func (f field) name() string { return f.path[strings.LastIndexByte(f.path, '.')+1:] }

func (f field) checkString(path string, raw json.RawMessage) error {
	var s string
	_ = json.Unmarshal(raw, &s) // it is a string
	switch {
	case f.words != nil && !slices.Contains(f.words, s):
		quoted := make([]string, len(f.words))
		for i, word := range f.words {
			quoted[i] = "'" + word + "'"
		}
		return invalid("invalid_value", path, "Invalid value: '%s'. Supported values are: %s.", s, enumerate(quoted, "and"))
	case f.filled && s == "":
		return emptyString(path)
	case f.match == imageURL && !imageURL.MatchString(s):
		return invalid("invalid_image_url", path, "Invalid image URL: expected a URL of http, https or image data.")
	case f.match != nil && !f.match.MatchString(s):
		return invalid("invalid_value", path,
			"Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", path, f.match)
	case f.most > 0 && len(s) > f.most:
		return invalid("string_above_max_length", path,
			"Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
			path, f.most, len(s))
	}
	return nil
}

func emptyString(path string) *Error {
	return invalid("empty_string", path,
		"Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", path)
}

// checkList checks the elements of a list, of which there must be one at least, if they have rules.
func (f field) checkList(path string, raw json.RawMessage) error {
	elements := fieldsOf[f.path]
	if elements == nil {
		return nil
	}
	var all []json.RawMessage
	_ = json.Unmarshal(raw, &all) // it is an array
	if len(all) == 0 {
		return invalid("empty_array", path,
			"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", path)
	}
	if f.most > 0 && len(all) > f.most {
		return invalid("array_above_max_length", path,
			"Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
			path, f.most, len(all))
	}
	for i, element := range all {
		if err := elements[0].check(fmt.Sprintf("%s[%d]", path, i), element); err != nil {
			return err
		}
	}
	return nil
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

// given reports whether a field is there and not null.
func given(raw json.RawMessage) bool { return raw != nil && kindOf(raw) != "null" }

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
