package fakeprovider

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parse decodes a request. It stops at the first rule that a single field breaks.
func parse(body []byte) (*Request, *Error) {
	if !utf8.Valid(body) {
		return nil, unreadable(errors.New("it is not UTF-8"))
	}
	var first *Error
	o := object{value: value{first: &first, raw: body}}
	o.unmarshal(&o.fields)
	if o.fields == nil {
		o.report(unreadable(errors.New("it is null")))
	}
	if !o.get("model").given() {
		o.failf("", "you must provide a model parameter")
	}
	o.need("messages")
	o.params()
	r := &Request{
		Model: o.get("model").text(), Fields: o.fields,
		Stream: isTrue(o.get("stream")), Legacy: o.get("functions").given(),
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if limit := o.get(name); limit.given() {
			limit.unmarshal(&r.MaxTokens)
		}
	}
	for _, v := range o.get("messages").list(math.MaxInt) {
		r.Messages = append(r.Messages, v.message())
	}
	r.parseTools(o)
	r.parseChoice(o)
	if v := o.get("stream_options"); v.given() {
		so := v.object("include_usage", "include_obfuscation")
		for name := range so.fields {
			if option := so.get(name); option.given() {
				option.is("a boolean")
			}
		}
		r.IncludeUsage = isTrue(so.get("include_usage"))
	}
	if first != nil {
		return nil, first
	}
	return r, nil
}

func isTrue(v value) bool { return string(v.raw) == "true" }

// params are the known top-level fields by their kinds, from the reference of the provider's endpoint and from
// what go-openai and langchaingo send. All but model and messages may be null.
var params = map[string][]string{
	"a boolean": {"logprobs", "parallel_tool_calls", "store", "stream"},
	"a string": {
		"model", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "safety_identifier", "service_tier", "user", "verbosity",
	},
	"an array": {"functions", "messages", "modalities", "tools"},
	"an object": {
		"audio", "logit_bias", "metadata", "prediction", "response_format", "stream_options", "web_search_options",
	},
	"an integer":              {"max_completion_tokens", "max_tokens", "n", "seed", "top_logprobs"},
	"a decimal or an integer": {"frequency_penalty", "presence_penalty", "temperature", "top_p"},
	"a string or an array":    {"stop"},
	"a string or an object":   {"function_call", "tool_choice"},
}

// kindsOf holds the kinds of each field of params.
var kindsOf = func() map[string][]string {
	kinds := map[string][]string{}
	for kind, names := range params {
		for _, name := range names {
			kinds[name] = strings.Split(kind, " or ")
		}
	}
	return kinds
}()

// ranges holds the smallest and the largest value of numbers; seed has none.
var ranges = map[string][2]float64{
	"frequency_penalty": {-2, 2}, "presence_penalty": {-2, 2}, "temperature": {0, 2}, "top_p": {0, 1}, "top_logprobs": {0, 20}, "n": {1, 1},
	"max_tokens": {1, math.MaxInt32}, "max_completion_tokens": {1, math.MaxInt32}, "seed": {math.Inf(-1), math.Inf(1)},
}

// params reports the first field, by name, that is unknown, of a wrong type or out of range, and then fields that
// exclude one another.
func (o object) params() {
	o.only(slices.Collect(maps.Keys(kindsOf))...)
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		v := o.get(name)
		if !v.given() || !v.is(kindsOf[name]...) {
			continue
		}
		if bounds, ok := ranges[name]; ok {
			v.inRange(bounds)
		}
	}
	given := func(name string) bool { return o.get(name).given() }
	report := func(name, code, text string) { o.get(name).failf(code, "%s", text) }
	if given("max_tokens") && given("max_completion_tokens") {
		report("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	if given("stream_options") && !isTrue(o.get("stream")) {
		report("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if given("functions") && given("tools") {
		report("functions", "invalid_parameter_combination", "'functions' and 'tools' cannot be given at the same time.")
	}
	for _, pair := range [][2]string{{"tool_choice", "tools"}, {"function_call", "functions"}, {"parallel_tool_calls", "tools"}} {
		if name, needs := pair[0], pair[1]; given(name) && !given(needs) {
			report(name, "", "Invalid value for '"+name+"': '"+name+"' is only allowed when '"+needs+"' are specified.")
		}
	}
}

func (v value) inRange(bounds [2]float64) {
	x, err := strconv.ParseFloat(strings.TrimSpace(string(v.raw)), 64)
	_, kind, _ := strings.Cut(kindsOf[v.path][0], " ")
	switch {
	case err != nil:
		v.failf("invalid_type", "Invalid type for '%s': expected %s, but got a number that is too large instead.",
			v.path, strings.Join(kindsOf[v.path], " or "))
	case x < bounds[0]:
		v.failf(kind+"_below_min_value",
			"Invalid '%s': %s below minimum value. Expected a value >= %v, but got %s instead.", v.path, kind, bounds[0], v.raw)
	case x > bounds[1]:
		v.failf(kind+"_above_max_value",
			"Invalid '%s': %s above maximum value. Expected a value <= %v, but got %s instead.", v.path, kind, bounds[1], v.raw)
	}
}

var (
	messageName = regexp.MustCompile(`^[^\s<|\\/>]+$`)
	imageURL    = regexp.MustCompile(`^(https?://|data:image/)`)
	toolName    = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

const (
	longestName   = 64
	longestCallID = 40
	mostTools     = 128
)

// messageFields holds the fields of a message by its role. reasoning_content is not the provider's: clients of
// providers that send it also send it back.
var messageFields = map[string][]string{
	"system":    {"role", "content", "name"},
	"developer": {"role", "content", "name"},
	"user":      {"role", "content", "name"},
	"assistant": {"role", "content", "name", "tool_calls", "function_call", "refusal", "audio", "annotations", "reasoning_content"},
	"tool":      {"role", "content", "name", "tool_call_id"},
	"function":  {"role", "content", "name"},
}

// allMessageFields holds the fields of messages of any role.
var allMessageFields = append(slices.Clone(messageFields["assistant"]), "tool_call_id")

func (v value) message() Message {
	o := v.object(allMessageFields...)
	m := Message{Role: o.need("role").word("system", "assistant", "user", "function", "tool", "developer")}
	o.only(messageFields[m.Role]...)
	m.Reasoning = o.get("reasoning_content").text()
	if m.Role == "tool" {
		m.CallID = o.need("tool_call_id").text()
	}
	if m.Role == "function" {
		o.need("name")
	}
	o.get("name").filled()
	m.Name = o.get("name").name(messageName, longestName)
	m.Parts = o.parts(m.Role)
	for _, c := range o.get("tool_calls").list(math.MaxInt) {
		m.Calls = append(m.Calls, c.call())
	}
	if f := o.get("function_call"); f.given() {
		if len(m.Calls) > 0 {
			f.failf("invalid_parameter_combination", "'function_call' and 'tool_calls' cannot be given in one message.")
		}
		m.Legacy, m.Calls = true, []Call{f.function()}
	}
	return m
}

// call reads one of the tool_calls. It accepts the index that clients of streams send back.
func (v value) call() Call {
	o := v.object("id", "type", "function", "index")
	id := o.need("id")
	id.filled()
	id.name(nil, longestCallID)
	o.need("type").word("function")
	c := o.need("function").function()
	c.ID = id.text()
	return c
}

func (v value) function() Call {
	o := v.object("name", "arguments")
	return Call{Name: o.need("name").name(toolName, math.MaxInt), Arguments: o.need("arguments").text()}
}

// parts reads the content of a message, and the refusal or audio that an assistant may have in its place.
func (o object) parts(role string) (parts []Part) {
	if v := o.get("refusal"); v.given() {
		parts = append(parts, Part{Type: "refusal", Text: v.text()})
	}
	if v := o.get("audio"); v.given() {
		parts = append(parts, Part{Type: "audio", Data: string(v.raw)})
	}
	content := o.get("content")
	if !content.given() || !content.is("a string", "an array") {
		return parts
	}
	if kindOf(content.raw) == "a string" {
		return append(parts, Part{Type: "text", Text: content.text()})
	}
	for _, v := range content.list(math.MaxInt) {
		parts = append(parts, v.part(role))
	}
	return parts
}

var (
	partTypes = []string{"text", "image_url", "input_audio", "refusal", "file"}
	// partTypesOf holds the types of parts by the role of the message; other roles have text only.
	partTypesOf = map[string][]string{"user": {"text", "image_url", "input_audio", "file"}, "assistant": {"text", "refusal"}}
)

// part reads one element of a content.
func (v value) part(role string) Part {
	o := v.object("type", "text", "image_url", "input_audio", "refusal", "file")
	p := Part{Type: o.need("type").word(partTypes...)}
	allowed, ok := partTypesOf[role]
	if !ok {
		allowed = partTypes[:1]
	}
	if !slices.Contains(allowed, p.Type) {
		v.failf("invalid_value", "Invalid content part: '%s' is not allowed in messages with role '%s'.", p.Type, role)
	}
	o.only("type", p.Type)
	body := o.need(p.Type)
	switch p.Type {
	case "text", "refusal":
		p.Text = body.filled()
		return p
	case "image_url":
		image := body.object("url", "detail")
		if url := image.need("url"); !imageURL.MatchString(url.text()) {
			url.failf("invalid_image_url", "Invalid image URL: expected a URL of http, https or image data.")
		}
		image.get("detail").word("auto", "low", "high")
	default:
		body.is("an object")
	}
	p.Data = string(body.raw)
	return p
}

// parseTools reads tools, or functions in their place.
func (r *Request) parseTools(o object) {
	for _, name := range []string{"tools", "functions"} {
		for _, v := range o.get(name).list(mostTools) {
			if name == "tools" {
				tool := v.object("type", "function")
				tool.need("type").word("function")
				v = tool.need("function")
			}
			r.declare(v.object("name", "description", "parameters", "strict"))
		}
	}
}

func (r *Request) declare(o object) {
	name, parameters := o.need("name"), o.get("parameters")
	t := Tool{Name: name.name(toolName, longestName), Description: o.get("description").text(), Parameters: parameters.raw}
	if r.Tool(t.Name) != nil {
		name.failf("invalid_value", "Tool names must be unique: '%s' is declared more than once.", t.Name)
	}
	if why := badParameters(t.Parameters); parameters.given() && why != "" {
		parameters.failf("invalid_function_parameters", "Invalid schema for function '%s': %s", t.Name, why)
	}
	r.Tools = append(r.Tools, t)
}

// badParameters returns what is wrong with the schema of a tool's parameters, or "".
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

// badSchema checks type, items, required and properties of a schema, and of those in it. Other keywords are ignored.
func badSchema(raw json.RawMessage, context string) string {
	at := "In context=" + context + ", "
	if kindOf(raw) == "a boolean" { // a schema that accepts every value, or none
		return ""
	}
	var s map[string]json.RawMessage
	if kindOf(raw) != "an object" || json.Unmarshal(raw, &s) != nil {
		return at + kindOf(raw) + " is not a schema."
	}
	types, valid := schemaTypes(s["type"])
	if !valid {
		return at + string(s["type"]) + " is not a type."
	}
	items, hasItems := s["items"]
	if !hasItems && slices.Contains(types, "array") {
		return at + "array schema missing items."
	}
	var required []string
	if raw, ok := s["required"]; ok && (kindOf(raw) != "an array" || json.Unmarshal(raw, &required) != nil) {
		return at + "'required' must be an array of strings."
	}
	if hasItems {
		if why := badSchema(items, context+".items"); why != "" {
			return why
		}
	}
	var properties map[string]json.RawMessage
	if raw, ok := s["properties"]; ok && (kindOf(raw) != "an object" || json.Unmarshal(raw, &properties) != nil) {
		return at + "'properties' must be an object."
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if why := badSchema(properties[name], context+"."+name); why != "" {
			return why
		}
	}
	return ""
}

// schemaTypes returns the types of a schema: none, one or several.
func schemaTypes(raw json.RawMessage) (types []string, valid bool) {
	var one string
	switch {
	case raw == nil:
		return nil, true
	case json.Unmarshal(raw, &one) == nil:
		types = []string{one}
	case json.Unmarshal(raw, &types) != nil:
		return nil, false
	}
	known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	return types, !slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(known, t) })
}

// parseChoice reads tool_choice, or function_call in its place.
func (r *Request) parseChoice(o object) {
	for _, name := range []string{"tool_choice", "function_call"} {
		v := o.get(name)
		switch {
		case !v.given():
		case kindOf(v.raw) == "a string":
			r.Choice = v.word("none", "auto", "required")
			if r.Choice == "required" && name == "function_call" {
				v.failf("invalid_value", "Invalid value: 'required'. Supported values are: 'none' and 'auto'.")
			}
		case name == "function_call":
			r.choose(v.object("name"), name)
		default:
			r.parseToolChoice(v.object("type", "function", "allowed_tools"))
		}
	}
}

func (r *Request) parseToolChoice(o object) {
	if o.need("type").word("function", "allowed_tools") == "function" {
		r.choose(o.need("function").object("name", "arguments"), "tool_choice")
		return
	}
	allowed := o.need("allowed_tools").object("mode", "tools")
	mode := allowed.need("mode").word("auto", "required")
	for _, v := range allowed.get("tools").list(math.MaxInt) {
		r.choose(v.object("type", "function").need("function").object("name"), "tool_choice")
	}
	r.Choice = mode
}

// choose takes the name of a tool, which must be declared.
func (r *Request) choose(f object, param string) {
	r.Choice = f.need("name").text()
	if r.Tool(r.Choice) == nil {
		declared := map[bool]string{false: "tools", true: "functions"}[r.Legacy]
		f.report(invalid("", param, "Invalid value for '%s': no function named '%s' was specified in the '%s' parameter.",
			param, r.Choice, declared))
	}
}
