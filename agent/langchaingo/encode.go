package langchaingo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Export returns a conversation as messages of langchaingo, to be sent to a
// model. The slice is the caller's. A tool message with results of several calls
// becomes one message for each call. A result of several texts, and a message of texts
// alone, has one text, joined by newlines.
//
// Left out is what a model would not be sent anyway: times, usage and hints ([Model] and
// [Options.Wrap] make cache marks of the hint Breakpoint, for Anthropic); thinking
// without a signature, and signed thinking of earlier turns; the mark of a failed result,
// whose text describes the failure; the MIME type of an image that is given by its URL.
// Other content that a message of langchaingo cannot hold is an error of kind Invalid,
// which names the part and the message: names of speakers and files, media in
// results or with URLs of other than images, opaque parts, and signed thinking of the
// newest turn, without which Anthropic would reject the request.
func Export(msgs []message.Message) ([]llms.MessageContent, error) {
	return export(msgs, false)
}

// export makes a message of each part of an answer for Anthropic, whose client sends only one, and
// sets the marks for its cache.
func export(msgs []message.Message, forAnthropic bool) ([]llms.MessageContent, error) {
	turn := len(msgs) - 1 // where the newest turn begins
	for turn > 0 && msgs[turn].Role != message.RoleUser {
		turn--
	}
	out := make([]llms.MessageContent, 0, len(msgs))
	for i := range msgs {
		var err error
		m := msgs[i]
		if m.Role != message.RoleTool { // its parts become messages of their own
			m = within.JoinTexts(m)
		}
		m.Parts, err = sendable(&m, i < turn)
		if err != nil {
			return nil, invalid(fmt.Errorf("message %d: %w", i, err))
		}
		if len(m.Parts) == 0 && len(msgs[i].Parts) > 0 {
			continue
		}
		for _, m.Parts = range pieces(msgs, i, m.Parts, forAnthropic) {
			f, err := newMessage(&m)
			if err != nil {
				return nil, invalid(fmt.Errorf("message %d: %w", i, err))
			}
			out = append(out, f)
		}
		if forAnthropic && m.Hints.Breakpoint {
			mark(out)
		}
	}
	return out, nil
}

// pieces divides the parts of message i into those of a message of langchaingo each.
func pieces(msgs []message.Message, i int, parts []message.Part, forAnthropic bool) [][]message.Part {
	role := msgs[i].Role
	switch {
	case len(parts) == 0:
	case role == message.RoleTool && len(parts) > 1:
		return byCall(msgs, i)
	case forAnthropic && role != message.RoleUser:
		return slices.Collect(slices.Chunk(parts, 1))
	}
	return [][]message.Part{parts}
}

// mark sets the mark of Anthropic's cache on the last message of a user, on a copy: the client sends marks of no others.
func mark(msgs []llms.MessageContent) {
	for i := len(msgs) - 1; i >= 0; i-- {
		last := len(msgs[i].Parts) - 1
		if msgs[i].Role != llms.ChatMessageTypeHuman || last < 0 {
			continue
		}
		switch p := msgs[i].Parts[last].(type) {
		case llms.CachedContent:
			return
		case llms.TextContent, llms.BinaryContent:
			msgs[i].Parts = slices.Clone(msgs[i].Parts)
			msgs[i].Parts[last] = llms.WithCacheControl(p, anthropic.EphemeralCache())
			return
		}
	}
}

// sendable returns the parts without thinking that need not be sent.
func sendable(m *message.Message, earlier bool) ([]message.Part, error) {
	var parts []message.Part
	for i, p := range m.Parts {
		t, ok := p.(message.Thinking)
		if ok && m.Role == message.RoleAssistant && (earlier || t.Signature == "") {
			continue
		}
		if err := unsupported(p); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// byCall splits the parts of a tool message into those that answer one call each,
// with texts joined. Calls of one message may have the same ID.
func byCall(msgs []message.Message, i int) [][]message.Part {
	type result struct {
		id   string
		call int
	}
	calls := within.CallsOf(msgs, i)
	var all [][]message.Part
	at := map[result]int{}
	for n, p := range msgs[i].Parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			all = append(all, []message.Part{p})
			continue
		}
		of := result{r.CallID, calls[n]}
		k, known := at[of]
		if known {
			r.Text = all[k][0].(message.ToolResult).Text + "\n" + r.Text //nolint:forcetypeassert,errcheck // as at has it
			all[k][0] = r
			continue
		}
		at[of] = len(all)
		all = append(all, []message.Part{r})
	}
	return all
}

func typeOf(r message.Role) (llms.ChatMessageType, error) {
	switch r {
	case message.RoleSystem:
		return llms.ChatMessageTypeSystem, nil
	case message.RoleUser:
		return llms.ChatMessageTypeHuman, nil
	case message.RoleAssistant:
		return llms.ChatMessageTypeAI, nil
	case message.RoleTool:
		return llms.ChatMessageTypeTool, nil
	}
	return "", fmt.Errorf("role %q, want system, user, assistant or tool", r)
}

// newMessage returns a message that has no origin in the conversation.
func newMessage(m *message.Message) (llms.MessageContent, error) {
	role, err := typeOf(m.Role)
	if err != nil {
		return llms.MessageContent{}, err
	}
	if m.Name != "" {
		err = fmt.Errorf("the speaker's name %q has no place in a message of langchaingo: put it into the text", m.Name)
		return llms.MessageContent{}, err
	}
	f := llms.MessageContent{Role: role, Parts: make([]llms.ContentPart, 0, len(m.Parts))}
	for i, p := range m.Parts {
		f.Parts, err = appendNew(f.Parts, p)
		if err != nil {
			return llms.MessageContent{}, fmt.Errorf("part %d: %w", i, err)
		}
	}
	if len(f.Parts) == 0 {
		return llms.MessageContent{}, errors.New("there is no part that langchaingo can send")
	}
	return f, nil
}

// appendNew appends a part that has no origin in the conversation. Thinking that is not
// signed is left out: no provider wants it back.
func appendNew(parts []llms.ContentPart, p message.Part) ([]llms.ContentPart, error) {
	if t, ok := p.(message.Thinking); ok && t.Signature == "" {
		return parts, nil
	}
	if err := unsupported(p); err != nil {
		return parts, err
	}
	var f llms.ContentPart
	switch p := p.(type) {
	case message.Text:
		f = llms.TextContent{Text: p.Text}
	case message.Media:
		f = llms.BinaryContent{MIMEType: p.Type, Data: []byte(p.Data)}
		if p.URL != "" {
			f = llms.ImageURLContent{URL: p.URL}
		}
	case message.ToolCall:
		f = newCall(p)
	case message.ToolResult:
		f = llms.ToolCallResponse{ToolCallID: p.CallID, Name: p.Name, Content: p.Text}
	case message.Thinking, message.Opaque: // unsupported
	}
	return append(parts, f), nil
}

func newCall(c message.ToolCall) llms.ToolCall {
	return llms.ToolCall{ID: c.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Arguments}}
}

// unsupported returns an error if a message of langchaingo cannot hold a part.
func unsupported(p message.Part) error {
	switch p := p.(type) {
	case message.Text, message.ToolCall:
		return nil
	case message.Media:
		return unsupportedMedia(p)
	case message.ToolResult:
		if p.Content != nil {
			return fmt.Errorf("the result of call %q holds a %T, and langchaingo carries text alone: let the tool return text",
				p.CallID, p.Content)
		}
		return nil
	case message.Thinking:
		return errors.New("signed thinking has no place in a message of langchaingo: with tools, use a model that does not think")
	case message.Opaque:
		return fmt.Errorf("opaque content of kind %q has no place in a message of langchaingo", p.Kind)
	case nil:
		return errors.New("is nil, want some content")
	}
	return fmt.Errorf("of type %T, want one of the types of parts", p)
}

func unsupportedMedia(p message.Media) error {
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

// newResponse returns a response for an answer that no model gave.
func newResponse(resp *middleware.Response) (*llms.ContentResponse, error) {
	c := &llms.ContentChoice{StopReason: reasonOf(resp.Stop)}
	if err := setMessage(c, resp.Message); err != nil {
		return nil, err
	}
	if u := resp.Usage; u != (message.Usage{}) {
		c.GenerationInfo = map[string]any{
			"PromptTokens": u.Input, "CompletionTokens": u.Output, "TotalTokens": u.Input + u.Output,
			"PromptCachedTokens": u.CacheRead, "ReasoningTokens": u.Thinking, "CompletionReasoningTokens": u.Thinking,
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}, nil
}

// setMessage puts a message into a choice, in place of its own.
func setMessage(c *llms.ContentChoice, m message.Message) error {
	c.Content = m.Text()
	c.ReasoningContent = ""
	c.ToolCalls = nil
	c.FuncCall = nil
	c.GenerationInfo = maps.Clone(c.GenerationInfo)
	delete(c.GenerationInfo, keyThinking)
	delete(c.GenerationInfo, keySignature)
	for i, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
		case message.Thinking:
			c.ReasoningContent += p.Text
			if p.Signature != "" {
				if c.GenerationInfo == nil {
					c.GenerationInfo = map[string]any{}
				}
				c.GenerationInfo[keyThinking], c.GenerationInfo[keySignature] = p.Text, p.Signature
			}
		case message.ToolCall:
			call := newCall(p)
			c.ToolCalls = append(c.ToolCalls, call)
			if c.FuncCall == nil {
				c.FuncCall = call.FunctionCall
			}
		case nil, message.Media, message.ToolResult, message.Opaque:
			return invalid(fmt.Errorf("answer: part %d: a %T has no place in an answer of langchaingo", i, p))
		}
	}
	return nil
}

// reasonOf returns the reason of OpenAI for a stop reason, or that itself.
func reasonOf(stop string) string {
	switch stop {
	case middleware.StopEnd:
		return "stop"
	case middleware.StopTools:
		return "tool_calls"
	case middleware.StopLength:
		return "length"
	case middleware.StopFilter:
		return "content_filter"
	}
	return stop
}
