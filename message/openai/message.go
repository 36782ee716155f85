package openai

import (
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
)

// Message is a message as it is written: JSON, and what it says. It is a value
// that never changes, safe for concurrent use. The zero value is no message.
type Message struct {
	raw  string
	says message.Message
}

// ParseMessage reads one message.
func ParseMessage(data []byte) (Message, error) {
	_, raw, _, err := check(data)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", err)
	}
	m, err := parseMessage(raw)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", in("message", err))
	}
	return m, nil
}

// New writes a message anew. What the format cannot say is an error: results
// of two calls in one message, sealed thinking, text behind a tool call. Name
// and failure of a result are left out: the format has no place for them, and
// call and text tell them. Time, usage and hints are not content.
func New(m message.Message) (Message, error) {
	raw, err := write(m)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", in("message", err))
	}
	return parseMessage(raw)
}

// Message returns what the message says. Its parts are shared and read-only.
func (m Message) Message() message.Message { return m.says }

// String returns the JSON, without the space around it; for a message that was
// read, byte for byte as it was.
func (m Message) String() string { return m.raw }

// MarshalJSON returns the JSON. [encoding/json] takes the space out of what it
// is given, so use [Message.String] where each byte counts.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.raw == "" {
		return nil, errors.New("openai: the zero Message is no message")
	}
	return []byte(m.raw), nil
}

// With returns the message with other content: the same JSON, but for the
// fields that say what differs. The role cannot differ. Errors are those of
// [New].
func (m Message) With(content message.Message) (Message, error) {
	if m.says.Equal(content) {
		return m, nil
	}
	raw, err := m.edit(content)
	if err != nil {
		return Message{}, fmt.Errorf("openai: %w", in("message", err))
	}
	return parseMessage(raw)
}

func parseMessage(raw string) (Message, error) {
	if raw[0] != '{' {
		return Message{}, faultf("", "is %s, want an object", kindOf(raw))
	}
	says, err := readMessage(parseObject(raw))
	return Message{raw: raw, says: says}, err
}

// readMessage returns what a message says.
func readMessage(o object) (message.Message, error) {
	var m message.Message
	role, err := o.text("role", true)
	if err != nil {
		return m, err
	}
	switch role {
	case "system", "developer":
		m.Role = message.RoleSystem
	case "user", "assistant", "tool":
		m.Role = message.Role(role)
	case "function":
		return m, faultf("role", "is function, a form that came before tool calls: want role tool with the tool_call_id of its call")
	default:
		return m, faultf("role", "is %q, want system, developer, user, assistant or tool", role)
	}
	if !absent(o.get("function_call")) {
		return m, faultf("function_call", "is a form that came before tool calls: want tool_calls, with an id for each call")
	}
	if !absent(o.get("tool_calls")) && m.Role != message.RoleAssistant {
		return m, faultf("tool_calls", "is in a message of role %s, want them in messages of role assistant", role)
	}
	if m.Name, err = o.text("name", false); err != nil {
		return m, err
	}
	switch m.Role {
	case message.RoleAssistant:
		m.Parts, err = readAnswer(o)
	case message.RoleTool:
		m.Parts, err = readResult(o, m.Name)
		m.Name = "" // it is the tool's
	default:
		m.Parts, err = readContent(o.get("content"))
	}
	return m, err
}

// readAnswer returns what the model said, in the order of [fieldsOf].
func readAnswer(o object) ([]message.Part, error) {
	var parts []message.Part
	thinking, err := o.text("reasoning_content", false)
	if err != nil {
		return nil, err
	}
	if thinking != "" {
		parts = append(parts, message.Thinking{Text: thinking})
	}
	content, err := readContent(o.get("content"))
	if err != nil {
		return nil, err
	}
	parts = append(parts, content...)
	refusal, err := o.text("refusal", false)
	if err != nil {
		return nil, err
	}
	if refusal != "" {
		parts = append(parts, message.Opaque{Kind: refusalField, Data: o.get("refusal")})
	}
	if audio := o.get("audio"); !absent(audio) {
		parts = append(parts, message.Opaque{Kind: audioField, Data: audio})
	}
	calls, err := readCalls(o.get("tool_calls"))
	return append(parts, calls...), err
}

// readResult returns the pieces of a tool's result, of which there is always
// one.
func readResult(o object, tool string) ([]message.Part, error) {
	id, err := o.text("tool_call_id", true)
	if err != nil {
		return nil, err
	}
	content, err := readContent(o.get("content"))
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
