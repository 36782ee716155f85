package eino

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Export converts messages to those of eino, so that [Import] returns equal messages
// again, with texts alone joined to one: some servers accept only a string. Times and
// hints are left out, but for the hint Breakpoint, which becomes the mark of eino-ext's model
// for Claude. Signed thinking at the beginning of an answer is written as that model writes it. The
// result shares no memory with the messages but strings. An error is of kind
// [middleware.Invalid] and names the message and the content that eino cannot hold:
//
//   - a part other than a tool call after a tool call;
//   - anything but text in a system message, results of different calls in one
//     tool message, an error and a success in one;
//   - the name of a media part that is not a file; a file in an answer; signed
//     thinking outside of assistant messages; media with both URL and data;
//   - opaque parts that were not made by [Import].
func Export(msgs []message.Message) ([]*schema.Message, error) {
	out := make([]*schema.Message, len(msgs))
	for i := range msgs {
		var err error
		out[i], err = encodeJoined(msgs, i)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func encodeJoined(msgs []message.Message, i int) (*schema.Message, error) {
	m := within.JoinTexts(msgs[i])
	f, err := encode(&m)
	if err != nil {
		return nil, invalid(fmt.Errorf("message %d: %w", i, err))
	}
	return marked(f, &m), nil
}

// breakpointKey is the key in the Extra of a message that marks it, by the value true, for
// Anthropic's cache: that of SetMessageCacheControl in eino-ext/components/model/claude. Other
// models do not read it.
const breakpointKey = "_eino_claude_breakpoint"

// thinkingKey and signatureKey are the keys in Extra from which eino-ext/components/model/claude
// sends the thinking of an answer back: its text and its signature. It does not read
// ReasoningContent, and refuses reasoning in AssistantGenMultiContent. Other models do not read them.
const (
	thinkingKey  = "_eino_claude_thinking"
	signatureKey = "_eino_claude_thinking_signature"
)

// setThinking puts thinking into the plain fields of a message; the zero value removes it, with all
// of its copies in Extra. The message must own its Extra.
func setThinking(f *schema.Message, t message.Thinking) {
	f.ReasoningContent = t.Text
	for _, key := range thinkingKeys {
		delete(f.Extra, key)
	}
	if t.Signature == "" {
		return
	}
	if f.Extra == nil {
		f.Extra = map[string]any{}
	}
	f.Extra[thinkingKey], f.Extra[signatureKey] = t.Text, t.Signature
}

// marked returns f, or a copy with the mark if m has the hint.
func marked(f *schema.Message, m *message.Message) *schema.Message {
	if !m.Hints.Breakpoint {
		return f
	}
	c := *f
	c.Extra = maps.Clone(f.Extra)
	if c.Extra == nil {
		c.Extra = map[string]any{}
	}
	c.Extra[breakpointKey] = true
	return &c
}

// encode returns a new message of eino.
func encode(m *message.Message) (*schema.Message, error) {
	f := &schema.Message{Role: schema.RoleType(m.Role), Name: m.Name}
	if _, ok := roleOf(f.Role); !ok {
		return nil, fmt.Errorf("role %q, want one of package message", m.Role)
	}
	if m.Usage != nil {
		f.ResponseMeta = &schema.ResponseMeta{Usage: fromUsage(*m.Usage)}
	}
	parts, err := encodeCalls(f, m.Parts)
	if err != nil {
		return nil, err
	}
	if m.Role == message.RoleTool {
		var r *message.ToolResult
		parts, r, err = unwrap(parts)
		if err != nil {
			return nil, err
		}
		if r != nil {
			f.ToolCallID, f.ToolName = r.CallID, r.Name
			if r.Error {
				f.Extra = map[string]any{ErrorKey: true}
			}
		}
	}
	if err := encodeContent(f, parts); err != nil {
		return nil, err
	}
	return f, comesBack(f, m)
}

// comesBack returns an error if Import would not return m for f.
func comesBack(f *schema.Message, m *message.Message) error {
	back, err := codec{}.Import(f, nil)
	if err != nil {
		return err
	}
	for i := range m.Parts {
		if i >= len(back.Parts) || back.Parts[i] != m.Parts[i] {
			return fmt.Errorf("part %d: %s cannot be carried by a message of eino without being changed", i, describe(m.Parts[i]))
		}
	}
	if back.Role != m.Role || back.Name != m.Name || !slices.Equal(back.Parts, m.Parts) {
		return errors.New("cannot be carried by a message of eino without being changed")
	}
	return nil
}

// encodeCalls puts the tool calls of parts into f and returns the parts before them.
func encodeCalls(f *schema.Message, parts []message.Part) ([]message.Part, error) {
	before := len(parts)
	for i, p := range parts {
		c, ok := p.(message.ToolCall)
		switch {
		case ok:
			before = min(before, i)
			f.ToolCalls = append(f.ToolCalls, newCall(c.ID, c.Name, c.Arguments))
		case i > before:
			return nil, fmt.Errorf("part %d: %s after a tool call: in a message of eino the calls are the last", i, describe(p))
		}
	}
	return parts[:before], nil
}

func newCall(id, name, arguments string) schema.ToolCall {
	return schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: arguments}}
}

// unwrap returns the contents of the pieces of one result, and the first piece; nil: there is only thinking.
func unwrap(parts []message.Part) (contents []message.Part, first *message.ToolResult, err error) {
	if len(parts) == 0 {
		return nil, nil, errors.New("a tool message without a result, want one")
	}
	for i, p := range parts {
		if _, thinks := p.(message.Thinking); thinks {
			contents = append(contents, p)
			continue
		}
		r, ok := p.(message.ToolResult)
		if ok && first == nil {
			first = &r
		}
		switch {
		case !ok:
			return nil, nil, fmt.Errorf("part %d: %s in a tool message, want results", i, describe(p))
		case r.CallID != first.CallID || r.Name != first.Name:
			return nil, nil, fmt.Errorf("part %d: results of the calls %q and %q: a tool message of eino answers one call",
				i, first.CallID, r.CallID)
		case r.Error != first.Error:
			return nil, nil, fmt.Errorf("part %d: one piece of the result of call %q is an error and another is not", i, r.CallID)
		case r.Content != nil && r.Text != "":
			return nil, nil, fmt.Errorf("part %d: a result of call %q with both text and content, want one", i, r.CallID)
		case r.Content != nil:
			contents = append(contents, r.Content)
		default:
			contents = append(contents, message.Text{Text: r.Text})
		}
	}
	return contents, first, nil
}

// encodeContent puts parts into the plain fields of f if they fit there, else into the
// list of its role.
func encodeContent(f *schema.Message, parts []message.Part) error {
	if len(parts) > 0 {
		t, ok := parts[0].(message.Thinking)
		if ok && (t.Signature != "" && f.Role == schema.Assistant || t.Signature == "" && t.Text != "") {
			setThinking(f, t)
			parts = parts[1:]
		}
	}
	if len(parts) == 0 {
		return nil
	}
	if t, ok := parts[0].(message.Text); ok && len(parts) == 1 && (t.Text != "" || f.Role == schema.Tool) {
		f.Content = t.Text
		return nil
	}
	at, err := listOf(f.Role, parts)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := add(f, at, p); err != nil {
			return err
		}
	}
	return nil
}

// listOf returns the list of a message that can hold all the parts.
func listOf(role schema.RoleType, parts []message.Part) (field, error) {
	at := nowhere
	for i, p := range parts {
		o, ok := p.(message.Opaque)
		if !ok {
			continue
		}
		of, ok := map[string]field{kindMulti: multi, kindInput: input, kindOutput: output}[o.Kind]
		if !ok || at != nowhere && at != of {
			return 0, fmt.Errorf("part %d: opaque part of kind %q, which has no place in a message of eino", i, o.Kind)
		}
		at = of
	}
	switch {
	case at != nowhere:
		return at, nil
	case role == schema.Assistant:
		return output, nil
	case role == schema.System:
		return 0, fmt.Errorf("%d parts in a system message, want one text", len(parts))
	}
	return input, nil
}

// add puts a part at the end of a list of f.
func add(f *schema.Message, at field, p message.Part) error {
	switch at {
	case multi:
		return addTo(&f.MultiContent, p, multiPart)
	case input:
		return addTo(&f.UserInputMultiContent, p, inputPart)
	case output:
		return addTo(&f.AssistantGenMultiContent, p, outputPart)
	case reasoning, content, calls, nowhere:
	}
	return fmt.Errorf("%s has no place in a message of eino", describe(p))
}

// addTo appends a part to a list. An opaque part has the JSON of its element.
func addTo[E any](list *[]E, p message.Part, encode func(message.Part) (E, error)) (err error) {
	var el E
	if o, ok := p.(message.Opaque); !ok {
		el, err = encode(p)
	} else if failed := json.Unmarshal([]byte(o.Data), &el); failed != nil {
		err = fmt.Errorf("opaque part of kind %q: %w", o.Kind, failed)
	}
	*list = append(*list, el)
	return err
}

func inputPart(p message.Part) (el schema.MessageInputPart, err error) {
	switch p := p.(type) {
	case message.Text:
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: p.Text}, nil
	case message.Media:
		common, sort, _ := describeMedia(p)
		switch sort {
		case "image":
			el.Type, el.Image = schema.ChatMessagePartTypeImageURL, &schema.MessageInputImage{MessagePartCommon: common}
		case "audio":
			el.Type, el.Audio = schema.ChatMessagePartTypeAudioURL, &schema.MessageInputAudio{MessagePartCommon: common}
		case "video":
			el.Type, el.Video = schema.ChatMessagePartTypeVideoURL, &schema.MessageInputVideo{MessagePartCommon: common}
		default:
			el.Type, el.File = schema.ChatMessagePartTypeFileURL, &schema.MessageInputFile{MessagePartCommon: common, Name: p.Name}
			return el, nil
		}
		if p.Name != "" {
			err = fmt.Errorf("%s named %q: in a message of eino only files have names", describe(p), p.Name)
		}
		return el, err
	case message.Thinking:
		return el, errors.New("signed thinking, or thinking after another part: eino carries it in messages of the assistant alone")
	case message.ToolCall, message.ToolResult, message.Opaque:
	}
	return el, fmt.Errorf("%s has no place here in a message of eino", describe(p))
}

func outputPart(p message.Part) (el schema.MessageOutputPart, err error) {
	switch p := p.(type) {
	case message.Text:
		return schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: p.Text}, nil
	case message.Thinking:
		return schema.MessageOutputPart{
			Type:      schema.ChatMessagePartTypeReasoning,
			Reasoning: &schema.MessageOutputReasoning{Text: p.Text, Signature: p.Signature},
		}, nil
	case message.Media:
		common, sort, ok := describeMedia(p)
		switch sort {
		case "image":
			el.Type, el.Image = schema.ChatMessagePartTypeImageURL, &schema.MessageOutputImage{MessagePartCommon: common}
		case "audio":
			el.Type, el.Audio = schema.ChatMessagePartTypeAudioURL, &schema.MessageOutputAudio{MessagePartCommon: common}
		case "video":
			el.Type, el.Video = schema.ChatMessagePartTypeVideoURL, &schema.MessageOutputVideo{MessagePartCommon: common}
		}
		if p.Name != "" || !ok {
			err = fmt.Errorf("%s: an answer in a message of eino has no files and no names", describe(p))
		}
		return el, err
	case message.ToolCall, message.ToolResult, message.Opaque:
	}
	return el, fmt.Errorf("%s has no place here in a message of eino", describe(p))
}

//nolint:staticcheck // see fromMulti
func multiPart(p message.Part) (el schema.ChatMessagePart, err error) {
	switch p := p.(type) {
	case message.Text:
		return schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: p.Text}, nil
	case message.Media, message.Thinking, message.ToolCall, message.ToolResult, message.Opaque:
	}
	return el, fmt.Errorf("%s cannot be in one message with a part of kind %q", describe(p), kindMulti)
}

// describeMedia returns the fields that all media of eino have, and whether it is an
// image, audio or video. A wildcard type is left out.
func describeMedia(m message.Media) (c schema.MessagePartCommon, sort string, ok bool) {
	sort, sub, _ := strings.Cut(m.Type, "/")
	ok = sort == "image" || sort == "audio" || sort == "video"
	if !ok || sub != "*" {
		c.MIMEType = m.Type
	}
	if m.URL != "" {
		c.URL = &m.URL
	}
	if m.Data != "" {
		data := base64.StdEncoding.EncodeToString([]byte(m.Data))
		c.Base64Data = &data
	}
	return c, sort, ok
}

func fromUsage(u message.Usage) *schema.TokenUsage {
	return &schema.TokenUsage{
		PromptTokens:            u.Input,
		PromptTokenDetails:      schema.PromptTokenDetails{CachedTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite},
		CompletionTokens:        u.Output,
		CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: u.Thinking},
		TotalTokens:             u.Input + u.Output,
	}
}

// describe returns a part as named in errors.
func describe(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return "text"
	case message.Thinking:
		return "thinking"
	case message.Media:
		return fmt.Sprintf("media of type %q", p.Type)
	case message.ToolCall:
		return fmt.Sprintf("tool call %q", p.ID)
	case message.ToolResult:
		return fmt.Sprintf("result of call %q", p.CallID)
	case message.Opaque:
		return fmt.Sprintf("opaque part of kind %q", p.Kind)
	}
	return fmt.Sprintf("%T", p)
}
