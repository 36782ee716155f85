// Package openai reads and writes conversations in the JSON of OpenAI's chat
// completions, which most providers and local servers accept.
//
//	conv, err := openai.Parse(data) // {"messages": […], "tools": […]}, or a list of messages
//	if err != nil { … }
//	req := &middleware.Request{Messages: conv.History(), Tools: conv.Tools, Model: conv.Model}
//	…                                               // a chain shortens it
//	data, err = conv.Body(req.Messages, req.Tools)  // the same JSON with the edits
//
// A message or tool that is not edited is written with the bytes that were read. In an edited
// message only the fields of the edited content change: unknown fields, the order of
// fields, white space and the form of numbers are kept.
//
// # Conversion
//
//	role system, developer        a system message
//	content, a text or its parts  Text, Media; anything else becomes Opaque
//	reasoning_content             Thinking
//	refusal, audio                Opaque, after the content
//	tool_calls                    ToolCall; a custom call has the arguments {"input": …}; others are Opaque
//	role tool                     ToolResult, one for each part of the content
//
// Fields of other names are kept without being checked. Reading is strict about known
// fields: a wrong type, a key that occurs twice in an object, and text that is not
// UTF-8 are errors that name the position. function_call and the role function, which
// tool_calls replaced, are errors too.
package openai

import (
	"fmt"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// Conversation is the body of a request, of which only messages, tools and model are
// read, or a list of messages. It is read-only and safe for concurrent use.
type Conversation struct {
	Messages []Message
	Tools    []message.ToolDef
	Model    string // "": none is named

	before, raw, after string // white space, JSON, white space
}

// Parse reads a conversation. Errors have the position, such as messages[3].content[0],
// and what is expected there.
func Parse(data []byte) (*Conversation, error) {
	var c Conversation
	var err error
	c.before, c.raw, c.after, err = jsonedit.Check(data)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return &c, nil
}

func (c *Conversation) read() error {
	msgs := c.raw
	switch c.raw[0] {
	case '{':
		o := jsonedit.ParseObject(c.raw)
		for _, legacy := range []string{"functions", "function_call"} {
			if v := o.Get(legacy); !jsonedit.Absent(v) {
				return jsonedit.Faultf(legacy, "is the form before tools, want tools and tool_choice")
			}
		}
		var err error
		c.Model, err = o.Text("model", false)
		if err != nil {
			return err
		}
		if err := o.Each("tools", "tools", func(raw string) error {
			def, err := readTool(raw)
			c.Tools = append(c.Tools, def)
			return err
		}); err != nil {
			return err
		}
		msgs = o.Get("messages")
		if msgs == "" || msgs[0] != '[' {
			return jsonedit.Faultf("messages", "is %s, want a list of messages", jsonedit.KindOf(msgs))
		}
	case '[':
	default:
		return jsonedit.Faultf("", `the conversation is %s, want {"messages": […]} or a list of messages`, jsonedit.KindOf(c.raw))
	}
	return jsonedit.EachItem("messages", msgs, func(raw string) error {
		m, err := parseMessage(raw)
		c.Messages = append(c.Messages, m)
		return err
	})
}

// schemas are the fields of [message.ToolDef.Parameters], by the type of a tool.
var schemas = map[string]string{functionType: "parameters", customType: "format"}

func readTool(raw string) (message.ToolDef, error) {
	var def message.ToolDef
	_, kind, body, err := readTyped(raw)
	if err != nil {
		return def, err
	}
	if body.Raw == "" {
		return def, jsonedit.Faultf("type", "is %q, want %s or %s", kind, functionType, customType)
	}
	def.Name, err = body.Text("name", true)
	if err != nil {
		return def, jsonedit.In(kind, err)
	}
	def.Description, err = body.Text("description", false)
	if err != nil {
		return def, jsonedit.In(kind, err)
	}
	if s := body.Get(schemas[kind]); !jsonedit.Absent(s) {
		def.Parameters = s
	}
	return def, nil
}

// History returns the content of the messages. The caller may change the slice; the
// parts are shared and read-only.
func (c *Conversation) History() []message.Message {
	msgs := make([]message.Message, len(c.Messages))
	for i, m := range c.Messages {
		msgs[i] = m.content
	}
	return msgs
}

// JSON returns the conversation with the given messages instead of its own. Everything else is unchanged: with the messages
// that were read, the result equals the input byte for byte, and a list of messages stays a list. A zero Message is an error.
func (c *Conversation) JSON(msgs []Message) ([]byte, error) {
	items := make([]string, len(msgs))
	for i, m := range msgs {
		if m.raw == "" {
			err := jsonedit.Faultf(jsonedit.Place("messages", i), "is the zero Message, want one from Parse or New")
			return nil, fmt.Errorf("openai: %w", err)
		}
		items[i] = m.raw
	}
	raw := c.raw
	if raw[0] == '[' {
		raw = jsonedit.ParseList(raw).With(items)
	} else {
		o := jsonedit.ParseObject(raw)
		raw = o.Set("messages", jsonedit.ParseList(o.Get("messages")).With(items)).Raw
	}
	return []byte(c.before + raw + c.after), nil
}
