package openai

import (
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Message is the JSON of a message, with its content. It is immutable and safe for
// concurrent use. The zero value is not a message.
type Message struct {
	raw     string
	content message.Message
}

// New returns the JSON of a message. Content that the format does not have is an
// error: results of two calls in one message, encrypted thinking, text after a tool
// call. The tool name and the error flag of a result are left out: the format has no
// fields for them. Time, usage and hints are not content. Several texts become one string,
// on separate lines.
func New(m message.Message) (Message, error) {
	raw, err := write(within.JoinTexts(m))
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", jsonedit.In("message", err))
	}
	return parseMessage(raw)
}

// ParseMessage reads one message. The text must be valid JSON without white space around it, such as a [json.RawMessage],
// in which no object has a key twice.
func ParseMessage(raw string) (Message, error) {
	if raw == "" {
		return Message{}, errors.New("openai: the message is empty")
	}
	m, err := parseMessage(raw)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", err)
	}
	return m, nil
}

// Message returns the content. Its parts are shared and read-only.
func (m Message) Message() message.Message { return m.content }

// String returns the JSON without the white space around it. For a message that was
// read it is the same byte for byte.
func (m Message) String() string { return m.raw }

// MarshalJSON returns the JSON. [encoding/json] removes white space from it, so use
// [Message.String] if every byte matters.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.raw == "" {
		return nil, errors.New("openai: the zero Message is not a message")
	}
	return []byte(m.raw), nil
}

// With returns the message with other content: the same JSON, except for the fields
// whose content differs. The role must be the same. Errors are those of [New].
func (m Message) With(content message.Message) (Message, error) {
	if m.content.Equal(content) {
		return m, nil
	}
	raw, err := m.edit(content)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", jsonedit.In("message", err))
	}
	return parseMessage(raw)
}

func parseMessage(raw string) (Message, error) {
	if raw[0] != '{' {
		return Message{}, jsonedit.Faultf("", "is %s, want an object", jsonedit.KindOf(raw))
	}
	content, err := readMessage(jsonedit.ParseObject(raw))
	return Message{raw: raw, content: content}, err
}

// readMessage returns the content of a message.
func readMessage(o jsonedit.Object) (message.Message, error) {
	var m message.Message
	role, err := o.Word("role", true)
	if err != nil {
		return m, err
	}
	switch role {
	case "system", "developer":
		m.Role = message.RoleSystem
	case "user":
		m.Role = message.RoleUser
	case "assistant":
		m.Role = message.RoleAssistant
	case "tool":
		m.Role = message.RoleTool
	case "function":
		return m, jsonedit.Faultf("role", "is function, the form before tool calls: want role tool with the tool_call_id of its call")
	default:
		return m, jsonedit.Faultf("role", "is %q, want system, developer, user, assistant or tool", role)
	}
	if !jsonedit.Absent(o.Get("function_call")) {
		return m, jsonedit.Faultf("function_call", "is the form before tool calls: want tool_calls, with an id for each call")
	}
	if !jsonedit.Absent(o.Get("tool_calls")) && m.Role != message.RoleAssistant {
		return m, jsonedit.Faultf("tool_calls", "is in a message of role %s, want them in messages of role assistant", role)
	}
	m.Name, err = o.Text("name", false)
	if err != nil {
		return m, err
	}
	switch m.Role {
	case message.RoleAssistant:
		m.Parts, err = readAnswer(o)
	case message.RoleTool:
		m.Parts, err = readResult(o, m.Name)
		m.Name = "" // it is the name of the tool
	default:
		m.Parts, err = readContent(o.Get("content"))
	}
	return m, err
}

// readAnswer returns the parts of an assistant message, in the order of [fieldsOf].
func readAnswer(o jsonedit.Object) ([]message.Part, error) {
	var parts []message.Part
	thinking, err := o.Text("reasoning_content", false)
	if err != nil {
		return nil, err
	}
	if !jsonedit.Absent(o.Get("reasoning_content")) {
		parts = append(parts, message.Thinking{Text: thinking})
	}
	content, err := readContent(o.Get("content"))
	if err != nil {
		return nil, err
	}
	parts = append(parts, content...)
	refusal, err := o.Text("refusal", false)
	if err != nil {
		return nil, err
	}
	if refusal != "" {
		parts = append(parts, message.Opaque{Kind: refusalField, Data: strings.Clone(o.Get("refusal"))})
	}
	if audio := o.Get("audio"); !jsonedit.Absent(audio) {
		parts = append(parts, message.Opaque{Kind: audioField, Data: strings.Clone(audio)})
	}
	err = o.Each("tool_calls", "calls", func(raw string) error {
		call, err := readCall(raw)
		parts = append(parts, call)
		return err
	})
	return parts, err
}

// readResult returns the pieces of a tool's result, at least one.
func readResult(o jsonedit.Object, tool string) ([]message.Part, error) {
	id, err := o.Text("tool_call_id", true)
	if err != nil {
		return nil, err
	}
	content, err := readContent(o.Get("content"))
	if err != nil {
		return nil, err
	}
	if len(content) == 0 {
		content = []message.Part{message.Text{}}
	}
	for i, p := range content {
		r := message.ToolResult{CallID: id, Name: tool}
		if t, ok := p.(message.Text); ok {
			r.Text = t.Text
		} else {
			r.Content = p
		}
		content[i] = r
	}
	return content, nil
}
