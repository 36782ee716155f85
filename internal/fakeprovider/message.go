package fakeprovider

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Message is one message of a request.
type Message struct {
	Role      string
	Name      string
	Parts     []Part // a content that is a string is one text part; null has none
	Calls     []Call // tool_calls; or function_call, as one call without an id
	Legacy    bool   // the call is a function_call
	CallID    string // of a tool message
	Reasoning string // reasoning_content
}

// Text returns the text parts, one after the other.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Call is a call of a tool, in a request or in a reply.
type Call struct {
	ID        string // in a reply, "": the server gives one that it never gave before
	Name      string
	Arguments string // a JSON object
}

const (
	longestCallID  = 40
	roles          = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
	namePattern    = `^[^\s<|\\/>]+$`
	toolPattern    = `^[a-zA-Z0-9_-]+$`
	longestName    = 64
	mostToolsGiven = 128
)

var (
	nameRegexp = regexp.MustCompile(namePattern)
	toolRegexp = regexp.MustCompile(toolPattern)
)

// messageFields says which fields a message of a role may have. The provider
// takes reasoning_content for what it is not: it is here because clients of
// providers that send it send it back.
var messageFields = map[string][]string{
	"system":    {"role", "content", "name"},
	"developer": {"role", "content", "name"},
	"user":      {"role", "content", "name"},
	"assistant": {"role", "content", "name", "tool_calls", "function_call", "refusal", "audio", "annotations", "reasoning_content"},
	"tool":      {"role", "content", "name", "tool_call_id"},
	"function":  {"role", "content", "name"},
}

func readMessage(raw json.RawMessage, path string) (m Message, err error) {
	var o object
	if o, err = readObject(raw, path, slices.Concat(messageFields["assistant"], messageFields["tool"])...); err != nil {
		return m, err
	}
	if m.Role, err = o.needText("role"); err != nil {
		return m, err
	}
	allowed, ok := messageFields[m.Role]
	if !ok {
		return m, wrongValue(o.at("role"), m.Role, roles)
	}
	if err := o.only(allowed...); err != nil {
		return m, err
	}
	if m.Reasoning, err = o.text("reasoning_content"); err != nil {
		return m, err
	}
	for _, read := range []func(*Message, object) error{readName, readContent, readCalls, readFunctionCall} {
		if err := read(&m, o); err != nil {
			return m, err
		}
	}
	return m, nil
}

func readName(m *Message, o object) (err error) {
	if m.Role == "tool" {
		if m.CallID, err = o.needText("tool_call_id"); err != nil {
			return err
		}
	}
	if m.Role == "function" && !o.has("name") {
		return missing(o.at("name"))
	}
	if m.Name, err = o.text("name"); err != nil {
		return err
	}
	switch {
	case m.Name == "" && o.has("name"):
		return emptyString(o.at("name"))
	case m.Name != "" && !nameRegexp.MatchString(m.Name):
		return wrongPattern(o.at("name"), namePattern)
	case len(m.Name) > longestName:
		return longString(o.at("name"), longestName, len(m.Name))
	}
	return nil
}

func readCalls(m *Message, o object) error {
	all, err := o.list("tool_calls")
	if err != nil {
		return err
	}
	for i, raw := range all {
		c, err := readCall(raw, index(o.at("tool_calls"), i))
		if err != nil {
			return err
		}
		m.Calls = append(m.Calls, c)
	}
	return nil
}

// readCall reads one of the tool_calls. Clients that were streamed a call send
// its index back, which is let pass.
func readCall(raw json.RawMessage, path string) (c Call, err error) {
	o, err := readObject(raw, path, "id", "type", "function", "index")
	if err != nil {
		return c, err
	}
	if c.ID, err = o.needText("id"); err != nil {
		return c, err
	}
	switch {
	case c.ID == "":
		return c, emptyString(o.at("id"))
	case len(c.ID) > longestCallID:
		return c, longString(o.at("id"), longestCallID, len(c.ID))
	}
	kind, err := o.needText("type")
	if err != nil {
		return c, err
	}
	if kind != "function" {
		return c, wrongValue(o.at("type"), kind, "'function'")
	}
	if !o.has("function") {
		return c, missing(o.at("function"))
	}
	c.Name, c.Arguments, err = readFunction(o.fields["function"], o.at("function"))
	return c, err
}

func readFunction(raw json.RawMessage, path string) (name, arguments string, err error) {
	o, err := readObject(raw, path, "name", "arguments")
	if err != nil {
		return "", "", err
	}
	if name, err = o.needText("name"); err != nil {
		return "", "", err
	}
	if !toolRegexp.MatchString(name) {
		return "", "", wrongPattern(o.at("name"), toolPattern)
	}
	arguments, err = o.needText("arguments")
	return name, arguments, err
}

func readFunctionCall(m *Message, o object) error {
	if !o.has("function_call") {
		return nil
	}
	if len(m.Calls) > 0 {
		return invalid("invalid_parameter_combination", o.at("function_call"),
			"'function_call' and 'tool_calls' cannot be given in one message.")
	}
	name, arguments, err := readFunction(o.fields["function_call"], o.at("function_call"))
	m.Legacy, m.Calls = true, []Call{{Name: name, Arguments: arguments}}
	return err
}
