package langchaingo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/message"
)

// part imports a part. It stands behind some messages, and behind some parts of
// its own message.
func (c codec) part(p llms.ContentPart, before []message.Message, beside []message.Part) (message.Part, error) {
	switch p := p.(type) {
	case llms.TextContent:
		return message.Text{Text: p.Text}, nil
	case llms.ImageURLContent:
		return message.Media{URL: p.URL}, nil
	case llms.BinaryContent:
		return message.Media{Type: p.MIMEType, Data: string(p.Data)}, nil
	case llms.ToolCall:
		if p.FunctionCall == nil {
			return nil, fmt.Errorf("call %q has no function, want its name and arguments", p.ID)
		}
		arguments := c.made.restore(written{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
		return message.ToolCall{ID: p.ID, Name: p.FunctionCall.Name, Arguments: arguments}, nil
	case llms.ToolCallResponse:
		name := p.Name
		if name == "" {
			name = nameOf(p.ToolCallID, before, beside)
		}
		return message.ToolResult{CallID: p.ToolCallID, Name: name, Text: p.Content}, nil
	case llms.CachedContent:
		return c.part(p.ContentPart, before, beside)
	case nil:
		return nil, errors.New("is nil, want some content")
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("of unknown type %T: %w", p, err)
	}
	return message.Opaque{Kind: kindOf(p), Data: string(data)}, nil
}

func kindOf(p llms.ContentPart) string { return fmt.Sprintf("%T", p) }

// nameOf returns the tool of the nearest call that has this id. Where several
// calls of one message have it, as calls without ids do, results are paired
// with them in order.
func nameOf(id string, before []message.Message, beside []message.Part) string {
	results := 0
	for _, p := range beside {
		if r, ok := p.(message.ToolResult); ok && r.CallID == id {
			results++
		}
	}
	for _, m := range slices.Backward(before) {
		name, calls := "", 0
		for c := range m.Calls() {
			if c.ID == id && calls <= results {
				name = c.Name
				calls++
			}
		}
		if calls > 0 {
			return name
		}
		for r := range m.Results() {
			if r.CallID == id {
				results++
			}
		}
	}
	return ""
}

// same reports whether importing p would give m.
func (c codec) same(p llms.ContentPart, m message.Part) bool {
	switch p := p.(type) {
	case llms.TextContent:
		m, ok := m.(message.Text)
		return ok && m.Text == p.Text
	case llms.ImageURLContent:
		m, ok := m.(message.Media)
		return ok && m.URL == p.URL && m.Type == "" && m.Data == ""
	case llms.BinaryContent:
		m, ok := m.(message.Media)
		return ok && m.URL == "" && m.Type == p.MIMEType && m.Data == string(p.Data)
	case llms.ToolCall:
		id, name, arguments, ok := callOf(m)
		return ok && p.FunctionCall != nil && id == p.ID && name == p.FunctionCall.Name &&
			c.made.means(arguments, written{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
	case llms.ToolCallResponse:
		id, name, text, ok := resultOf(m)
		return ok && id == p.ToolCallID && text == p.Content && (name == p.Name || p.Name == "")
	case llms.CachedContent:
		return c.same(p.ContentPart, m)
	case nil:
		return false
	}
	opaque, ok := m.(message.Opaque)
	if !ok {
		return false
	}
	data, err := json.Marshal(p)
	return err == nil && opaque.Data == string(data) && opaque.Kind == kindOf(p)
}

// isMended reports whether importing f has mended it.
func isMended(f llms.ContentPart, p message.Part) bool {
	switch f := f.(type) {
	case llms.ToolCall:
		_, _, arguments, ok := callOf(p)
		return ok && f.FunctionCall.Arguments != arguments
	case llms.ToolCallResponse:
		_, name, _, ok := resultOf(p)
		return ok && f.Name != name
	case llms.CachedContent:
		return isMended(f.ContentPart, p)
	}
	return false
}

// callOf returns what a part says if it is a call. It is asked for every call of
// every conversation, and so copies no more than that.
func callOf(p message.Part) (id, name, arguments string, ok bool) {
	switch p := p.(type) {
	case message.ToolCall:
		return p.ID, p.Name, p.Arguments, true
	case message.Text, message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return "", "", "", false
}

// resultOf does the same for a result.
func resultOf(p message.Part) (callID, name, text string, ok bool) {
	switch p := p.(type) {
	case message.ToolResult:
		return p.CallID, p.Name, p.Text, true
	case message.Text, message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return "", "", "", false
}

// rewritten returns a copy of f that says p, which is of the same type.
func rewritten(f llms.ContentPart, p message.Part) llms.ContentPart {
	switch f := f.(type) {
	case llms.TextContent:
		if p, ok := p.(message.Text); ok {
			f.Text = p.Text
		}
		return f
	case llms.ToolCall:
		if p, ok := p.(message.ToolCall); ok {
			function := *f.FunctionCall
			function.Arguments = p.Arguments
			f.FunctionCall = &function
		}
		return f
	case llms.ToolCallResponse:
		if p, ok := p.(message.ToolResult); ok {
			f.Name, f.Content = p.Name, p.Text
		}
		return f
	case llms.CachedContent:
		f.ContentPart = rewritten(f.ContentPart, p)
		return f
	}
	return f
}

// unsayable says why a part has no place in a message of langchaingo; nil: it
// has.
func unsayable(p message.Part) error {
	switch p := p.(type) {
	case message.Text, message.ToolCall:
		return nil
	case message.Media:
		return unsayableMedia(p)
	case message.ToolResult:
		if p.Content != nil {
			return fmt.Errorf("the result of call %q holds a %T, and langchaingo carries text alone: let the tool return text",
				p.CallID, p.Content)
		}
		return nil
	case message.Thinking:
		return errors.New("signed thinking has no place in a message of langchaingo: switch thinking off while tools are used")
	case message.Opaque:
		return fmt.Errorf("opaque content of kind %q has no place in a message of langchaingo", p.Kind)
	case nil:
		return errors.New("is nil, want some content")
	}
	return fmt.Errorf("of type %T, want one of the types of parts", p)
}

func unsayableMedia(p message.Media) error {
	switch {
	case p.Name != "":
		return fmt.Errorf("the file name %q has no place in a message of langchaingo: put it into the text", p.Name)
	case p.URL == "":
		return nil
	case p.Data != "":
		return errors.New("media has both a URL and data, want one of them")
	case p.Type != "" && !strings.HasPrefix(p.Type, "image/"):
		return fmt.Errorf("media of type %q is given by a URL, and langchaingo carries URLs of images alone: pass the data", p.Type)
	}
	return nil
}

// newPart returns a part that comes from nowhere in the conversation.
func newPart(p message.Part) (llms.ContentPart, error) {
	if err := unsayable(p); err != nil {
		return nil, err
	}
	switch p := p.(type) {
	case message.Media:
		if p.URL != "" {
			return llms.ImageURLContent{URL: p.URL}, nil
		}
		return llms.BinaryContent{MIMEType: p.Type, Data: []byte(p.Data)}, nil
	case message.ToolCall:
		f := &llms.FunctionCall{Name: p.Name, Arguments: p.Arguments}
		return llms.ToolCall{ID: p.ID, Type: "function", FunctionCall: f}, nil
	case message.ToolResult:
		return llms.ToolCallResponse{ToolCallID: p.CallID, Name: p.Name, Content: p.Text}, nil
	case message.Text:
		return llms.TextContent{Text: p.Text}, nil
	case message.Thinking, message.Opaque:
	}
	return nil, fmt.Errorf("of type %T, want one of the types of parts", p)
}
