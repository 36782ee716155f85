package fakeprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/testkit/bonds"
)

// Request is a request as the server has decoded it. The record and the responder share it: it must not be changed.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []Tool
	Stream       bool
	IncludeUsage bool // of stream_options
	MaxTokens    int  // max_tokens or max_completion_tokens; 0: not given
	Cut          int  // messages that Ollama has left out, without an error, since the window is full

	marks       []int         // numbers of first messages that end with a mark of a prefix to be cached
	auto        bool          // prefixes are cached without marks
	dropBroken  bool          // void reasoning is left out instead of refused
	dropped     []int         // messages whose reasoning was left out
	compact     bool          // for a compaction on demand
	compactBeta bool          // the header allows that
	wanted      string        // the instructions for it
	standsFor   *bonds.Digest // of the messages that the compaction at the beginning replaces; nil: it has no compaction

	window int // of Ollama, as the request sets it

	omitThinking bool     // the answer has the signatures of its thinking only
	paths        []string // of the messages in the body; nil: messages[i]

	forms        []json.RawMessage // of the messages, and
	toolSet      []string          // of the tools: see compare
	declarations string            // compact JSON of tools and response_format, which the model reads before the messages
}

// Message is one message of a request.
type Message struct {
	Role      string
	Name      string
	Parts     []Part // content, refusal and audio, in this order; a string is one text part
	Calls     []Call
	CallID    string // of a tool message
	Reasoning string // reasoning_content
}

// Part is one piece of a message's content.
type Part struct {
	Type string // text, refusal, image_url, input_audio, file or audio
	Text string // of text and refusal
	Data string // of the others: the JSON of their object
}

// Call is a call of a tool, in a request or in a reply.
type Call struct {
	ID        string // in a reply, "": the server gives it a new one
	Name      string
	Arguments string // a JSON object
}

// Tool is the declaration of a tool.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON schema; nil or null: the tool has no parameters
}

// Text returns the text parts, joined.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Tool returns the declaration of a tool, or nil.
func (r *Request) Tool(name string) *Tool {
	for i := range r.Tools {
		if r.Tools[i].Name == name {
			return &r.Tools[i]
		}
	}
	return nil
}

// CountText returns the tokens of a text: its bytes divided by four, rounded up.
func CountText(s string) int { return (len(s) + 3) / 4 }

// Tokens returns the length of a request by the server's own count: 3, the tokens of each message, and the compact JSON
// of tools and response_format. Names of fields, sampling options and metadata are not counted.
func (r *Request) Tokens() int {
	messages, declarations := r.count()
	return messages + declarations
}

func (r *Request) count() (messages, declarations int) {
	messages = 3
	for _, m := range r.Messages {
		messages += m.Tokens()
	}
	return messages, CountText(r.declarations)
}

// Tokens counts one message: 4, 1,600 for each image, and a token for each four bytes of role, name, texts,
// reasoning, audio and files, calls (ID, name, arguments) and the call ID of a result.
func (m Message) Tokens() int {
	n := len(m.Role) + len(m.Name) + len(m.CallID) + len(m.Reasoning)
	images := 0
	for _, p := range m.Parts {
		if p.Type == "image_url" {
			images++
			continue
		}
		n += len(p.Text) + len(p.Data)
	}
	for _, c := range m.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return 4 + 1600*images + (n+3)/4
}

// Parse decodes the body of a request. Its error is an [*Error] of status 400 about invalid JSON, an unknown or
// missing field or a wrong value. [Request.Check] checks how the messages fit together.
func Parse(body []byte) (*Request, error) {
	fields, err := checkFormat(body)
	if err == nil {
		err = checkTogether(fields)
	}
	if err != nil {
		return nil, err
	}
	var wire struct {
		Model    string    `json:"model"`
		Messages []Message `json:"messages"`
		Tools    []struct {
			Function Tool `json:"function"`
		} `json:"tools"`
		Stream              bool            `json:"stream"`
		StreamOptions       map[string]bool `json:"stream_options"`
		MaxTokens           int             `json:"max_tokens"`
		MaxCompletionTokens int             `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, unreadable(err)
	}
	r := &Request{
		Model: wire.Model, Messages: wire.Messages, Stream: wire.Stream, IncludeUsage: wire.StreamOptions["include_usage"],
		MaxTokens: max(wire.MaxTokens, wire.MaxCompletionTokens), auto: true,
	}
	var declarations bytes.Buffer
	for _, name := range []string{"tools", "response_format"} {
		if given(fields[name]) {
			_ = json.Compact(&declarations, fields[name]) // it is valid JSON
		}
	}
	r.declarations = declarations.String()
	if err := r.compare(fields); err != nil {
		return nil, err
	}
	for i, t := range wire.Tools {
		if err := r.declare(t.Function, fmt.Sprintf("tools[%d].function", i)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkTogether reports fields that exclude or need one another.
func checkTogether(fields map[string]json.RawMessage) error {
	if given(fields["max_tokens"]) && given(fields["max_completion_tokens"]) {
		return invalid("invalid_parameter_combination", "max_tokens",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	if given(fields["stream_options"]) && string(fields["stream"]) != "true" {
		return invalid("", "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	for _, name := range []string{"tool_choice", "parallel_tool_calls"} {
		if given(fields[name]) && !given(fields["tools"]) {
			return invalid("", name, "Invalid value for '%s': '%s' is only allowed when 'tools' are specified.", name, name)
		}
	}
	return nil
}

// declare adds a tool, and checks its name and its schema.
func (r *Request) declare(t Tool, path string) error {
	if r.Tool(t.Name) != nil {
		return invalid("invalid_value", path+".name", "Tool names must be unique: '%s' is declared more than once.", t.Name)
	}
	if why := badParameters(t.Parameters); given(t.Parameters) && why != "" {
		return invalid("invalid_function_parameters", path+".parameters",
			"Invalid schema for function '%s': %s", t.Name, why)
	}
	r.Tools = append(r.Tools, t)
	return nil
}

// badParameters returns what is wrong with the schema of a tool's parameters, or "". The schemas of the properties
// are not checked.
func badParameters(raw json.RawMessage) string {
	if kindOf(raw) != "an object" {
		return "schema must be an object, not " + kindOf(raw) + "."
	}
	var schema struct {
		Type       any            `json:"type"`
		Properties map[string]any `json:"properties"`
	}
	err := json.Unmarshal(raw, &schema)
	switch {
	case schema.Type != "object":
		return "schema must be a JSON Schema of 'type: \"object\"'."
	case err != nil:
		return "In context=(), 'properties' must be an object."
	case schema.Properties == nil:
		return "In context=(), object schema missing properties."
	}
	return ""
}

// unmarshal decodes a field unless it is missing.
func unmarshal(raw json.RawMessage, dst any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, dst)
}

// UnmarshalJSON decodes a message in the format of the provider.
func (m *Message) UnmarshalJSON(b []byte) error {
	var wire struct {
		Role      string          `json:"role"`
		Name      string          `json:"name"`
		Refusal   *string         `json:"refusal"`
		Audio     json.RawMessage `json:"audio"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"tool_call_id"`
		Reasoning string          `json:"reasoning_content"`
		Calls     []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	*m = Message{Role: wire.Role, Name: wire.Name, CallID: wire.CallID, Reasoning: wire.Reasoning}
	for _, c := range wire.Calls {
		m.Calls = append(m.Calls, Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if kindOf(wire.Content) == "a string" {
		wire.Content = fmt.Appendf(nil, `[{"type": "text", "text": %s}]`, wire.Content)
	}
	err := unmarshal(wire.Content, &m.Parts)
	if wire.Refusal != nil {
		m.Parts = append(m.Parts, Part{Type: "refusal", Text: *wire.Refusal})
	}
	if given(wire.Audio) {
		m.Parts = append(m.Parts, Part{Type: "audio", Data: string(wire.Audio)})
	}
	return err
}

// UnmarshalJSON decodes an element of a content in the format of the provider.
func (p *Part) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	err := unmarshal(fields["type"], &p.Type)
	if body := fields[p.Type]; p.Type == "text" || p.Type == "refusal" {
		err = errors.Join(err, unmarshal(body, &p.Text))
	} else {
		p.Data = string(body)
	}
	return err
}
