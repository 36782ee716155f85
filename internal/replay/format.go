package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// conversations returns the conversations of a JSON value: one, a list of its messages, or a list of several.
func conversations(value []byte) (all []*Conversation, err error) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		c, err := conversation(value)
		if err != nil {
			return nil, err
		}
		return []*Conversation{c}, nil
	}
	if len(list) == 0 {
		return nil, errors.New("is an empty list: want a conversation")
	}
	var first struct {
		Messages json.RawMessage `json:"messages"`
	}
	if _ = json.Unmarshal(list[0], &first); first.Messages == nil {
		c, err := conversation([]byte(`{"messages":` + string(value) + `}`))
		if err != nil {
			return nil, err
		}
		return []*Conversation{c}, nil
	}
	var errs []error
	for i, v := range list {
		c, err := conversation(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("conversation %d of the list: %w", i, err))
			continue
		}
		if c.ID == "" && len(list) > 1 {
			c.ID = fmt.Sprintf("conversation %d of the list", i)
		}
		all = append(all, c)
	}
	return all, errors.Join(errs...)
}

// body is a conversation, of which only what the formats differ in is read.
type body struct {
	ID       string            `json:"id"`
	System   json.RawMessage   `json:"system"` // Anthropic
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

// head is a message, of which only what the formats differ in is read.
type head struct {
	Role      string            `json:"role"`
	Content   json.RawMessage   `json:"content"`
	Calls     []json.RawMessage `json:"tool_calls"`
	Timestamp *time.Time        `json:"timestamp"`
}

// otherFormats are formats that cannot be read, by a field of theirs.
var otherFormats = []struct{ field, name string }{
	{"sessionId", "a line of a session of Claude Code"},
	{"conversations", "a conversation in the format of ShareGPT"},
	{"input", "a request of OpenAI's Responses"},
	{"contents", "a request of Gemini"},
	{"choices", "an answer of chat completions without its request"},
}

// otherFormat returns what a value without messages is.
func otherFormat(value []byte) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(value, &fields) // of a value that is no object there are none
	for _, f := range otherFormats {
		if _, ok := fields[f.field]; ok {
			return "is " + f.name + ", which is not read here"
		}
	}
	return "is no conversation"
}

// conversation reads a conversation.
func conversation(value []byte) (*Conversation, error) {
	var b body
	if err := json.Unmarshal(value, &b); err != nil {
		return nil, fmt.Errorf("is no conversation: %w", jsonReason(err))
	}
	if b.Messages == nil {
		return nil, fmt.Errorf(`%s: want {"messages": […]} as in OpenAI's chat completions or Anthropic's Messages`, otherFormat(value))
	}
	heads := make([]head, len(b.Messages))
	anthropic := b.System != nil
	for i, m := range b.Messages {
		if err := json.Unmarshal(m, &heads[i]); err != nil {
			return nil, fmt.Errorf("messages[%d] is no message: %w", i, jsonReason(err))
		}
		anthropic = anthropic || hasBlocks(heads[i].Content)
	}
	anthropic = anthropic || slices.ContainsFunc(b.Tools, isAnthropicTool)
	c := &Conversation{ID: b.ID}
	var err error
	if anthropic {
		c.Messages, c.Tools, err = b.anthropic(heads)
	} else {
		c.Messages, c.Tools, err = b.openai(heads)
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(c.Messages, func(m message.Message) bool { return m.Role == message.RoleAssistant }) {
		return nil, errors.New("has no message of the assistant, so there is no call to replay")
	}
	return c, nil
}

// openai reads the format of chat completions, in which calls may be without the level function.
func (b *body) openai(heads []head) ([]message.Message, []message.ToolDef, error) {
	raw := slices.Clone(b.Messages)
	for i, h := range heads {
		if !slices.ContainsFunc(h.Calls, isFlat) {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(raw[i], &fields); err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", i, jsonReason(err))
		}
		nested := make([]any, len(h.Calls))
		for k, c := range h.Calls {
			var id struct {
				ID json.RawMessage `json:"id"`
			}
			if nested[k] = c; isFlat(c) && json.Unmarshal(c, &id) == nil {
				nested[k] = map[string]any{"id": id.ID, "type": "function", "function": c}
			}
		}
		fields["tool_calls"] = nested
		text, err := json.Marshal(fields)
		if err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		raw[i] = text
	}
	text, err := json.Marshal(map[string]any{"messages": raw, "tools": b.Tools})
	if err != nil {
		return nil, nil, err
	}
	conv, err := openai.Parse(text)
	if err != nil {
		return nil, nil, errors.New(strings.TrimPrefix(err.Error(), "openai: "))
	}
	msgs := conv.History()
	for i, h := range heads {
		if h.Timestamp != nil {
			msgs[i].Time = *h.Timestamp
		}
	}
	return msgs, conv.Tools, nil
}

func isFlat(call json.RawMessage) bool {
	var f struct {
		Name     json.RawMessage `json:"name"`
		Function json.RawMessage `json:"function"`
	}
	return json.Unmarshal(call, &f) == nil && f.Name != nil && f.Function == nil
}

// block is a content block of Anthropic.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
	Source    struct {
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

func hasBlocks(content json.RawMessage) bool {
	var blocks []struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(content, &blocks) // what is no list has no blocks
	for _, b := range blocks {
		if slices.Contains([]string{"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}, b.Type) {
			return true
		}
	}
	return false
}

func isAnthropicTool(tool json.RawMessage) bool {
	var t struct {
		Schema json.RawMessage `json:"input_schema"`
	}
	return json.Unmarshal(tool, &t) == nil && t.Schema != nil
}

// anthropic reads the format of Anthropic's Messages.
func (b *body) anthropic(heads []head) (msgs []message.Message, tools []message.ToolDef, err error) {
	system, err := parts(b.System)
	if err != nil {
		return nil, nil, fmt.Errorf("system: %w", err)
	}
	if len(system) > 0 {
		msgs = append(msgs, message.Message{Role: message.RoleSystem, Parts: system})
	}
	names := map[string]string{}
	for i, h := range heads {
		all, err := parts(h.Content)
		if err != nil {
			return nil, nil, fmt.Errorf("messages[%d].content: %w", i, err)
		}
		role := message.Role(h.Role)
		if role != message.RoleUser && role != message.RoleAssistant && role != message.RoleSystem {
			return nil, nil, fmt.Errorf("messages[%d].role is %q, want user or assistant", i, h.Role)
		}
		m := message.Message{Role: role, Parts: all}
		if h.Timestamp != nil {
			m.Time = *h.Timestamp
		}
		msgs = appendSplit(msgs, m, names)
	}
	for i, raw := range b.Tools {
		var t struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, nil, fmt.Errorf("tools[%d]: %w", i, jsonReason(err))
		}
		tools = append(tools, message.ToolDef{Name: t.Name, Description: t.Description, Parameters: string(t.Schema)})
	}
	return msgs, tools, nil
}

// appendSplit appends a message, and before it the results in it as messages of their own, with the names of their tools.
func appendSplit(msgs []message.Message, m message.Message, names map[string]string) []message.Message {
	var own []message.Part
	last := "" // ID of the call whose result is the last message
	for _, p := range m.Parts {
		r, ok := p.(message.ToolResult)
		if c, isCall := p.(message.ToolCall); isCall {
			names[c.ID] = c.Name
		}
		if !ok {
			own = append(own, p)
			continue
		}
		r.Name = names[r.CallID]
		if r.CallID != last || last == "" {
			msgs = append(msgs, message.Message{Role: message.RoleTool, Time: m.Time})
		}
		result := &msgs[len(msgs)-1]
		result.Parts = append(result.Parts, r)
		last = r.CallID
	}
	if len(own) == 0 && len(m.Parts) > 0 {
		return msgs
	}
	m.Parts = own
	return append(msgs, m)
}

// parts reads content: a text, or a list of blocks.
func parts(content json.RawMessage) (all []message.Part, err error) {
	if content == nil || string(content) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []message.Part{message.Text{Text: text}}, nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, errors.New("want a text or a list of blocks")
	}
	for i, raw := range blocks {
		var b block
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, jsonReason(err))
		}
		switch b.Type {
		case "text":
			all = append(all, message.Text{Text: b.Text})
		case "thinking":
			all = append(all, message.Thinking{Text: b.Thinking, Signature: b.Signature})
		case "image", "document":
			all = append(all, message.Media{Type: b.Source.MediaType, URL: b.Source.URL, Data: string(b.Source.Data)})
		case "tool_use":
			all = append(all, message.ToolCall{ID: b.ID, Name: b.Name, Arguments: strings.TrimSpace(string(b.Input))})
		case "tool_result":
			results, err := result(&b)
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", i, err)
			}
			all = append(all, results...)
		default:
			all = append(all, message.Opaque{Kind: b.Type, Data: string(raw)})
		}
	}
	return all, nil
}

// result returns the pieces of a result.
func result(b *block) (all []message.Part, err error) {
	inner, err := parts(b.Content)
	if err != nil {
		return nil, err
	}
	for _, p := range inner {
		r := message.ToolResult{CallID: b.ToolUseID, Error: b.IsError}
		if t, ok := p.(message.Text); ok {
			r.Text = t.Text
		} else {
			r.Content = p
		}
		all = append(all, r)
	}
	if all == nil {
		all = append(all, message.ToolResult{CallID: b.ToolUseID, Error: b.IsError})
	}
	return all, nil
}
