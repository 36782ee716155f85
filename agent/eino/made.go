package eino

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/message"
)

// made returns a new message of eino that says m.
func made(m message.Message) (*schema.Message, error) {
	f := &schema.Message{Role: schema.RoleType(m.Role), Name: m.Name}
	if _, ok := roleOf(f.Role); !ok {
		return nil, fmt.Errorf("role %q, want one of package message", m.Role)
	}
	if m.Usage != nil {
		f.ResponseMeta = &schema.ResponseMeta{Usage: fromUsage(*m.Usage)}
	}
	said, err := calls(f, m.Parts)
	if err != nil {
		return nil, err
	}
	if m.Role == message.RoleTool {
		if said, err = result(f, said); err != nil {
			return nil, err
		}
	}
	if err := say(f, said); err != nil {
		return nil, err
	}
	return f, comesBack(f, m)
}

// calls puts the tool calls of parts into f and returns the parts before them.
func calls(f *schema.Message, parts []message.Part) ([]message.Part, error) {
	said := len(parts)
	for i, p := range parts {
		c, ok := p.(message.ToolCall)
		switch {
		case ok:
			said = min(said, i)
			f.ToolCalls = append(f.ToolCalls, newCall(c))
		case i > said:
			return nil, fmt.Errorf("part %d: %s behind a tool call: in a message of eino the calls are the last", i, describe(p))
		}
	}
	return parts[:said], nil
}

func newCall(c message.ToolCall) schema.ToolCall {
	return schema.ToolCall{ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Arguments}}
}

// result puts into f which call the parts answer, and returns what they say.
func result(f *schema.Message, parts []message.Part) ([]message.Part, error) {
	said, first, err := content(parts)
	if err != nil {
		return nil, err
	}
	f.ToolCallID, f.ToolName = first.CallID, first.Name
	if first.Error {
		f.Extra = map[string]any{ErrorKey: true}
	}
	return said, nil
}

// content returns what the pieces of one result say, without the result around
// it, and the first of them.
func content(parts []message.Part) (said []message.Part, first message.ToolResult, err error) {
	if len(parts) == 0 {
		return nil, first, errors.New("a tool message without a result, want one")
	}
	found := false
	for i, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			if _, ok := p.(message.Thinking); ok {
				said = append(said, p)
				continue
			}
			return nil, first, fmt.Errorf("part %d: %s in a tool message, want results", i, describe(p))
		}
		if !found {
			first, found = r, true
		}
		switch {
		case r.CallID != first.CallID || r.Name != first.Name:
			return nil, first, fmt.Errorf("part %d: a result of call %q beside one of call %q: a tool message of eino answers one call",
				i, r.CallID, first.CallID)
		case r.Error != first.Error:
			return nil, first, fmt.Errorf("part %d: a result of call %q is an error in one piece and none in another", i, r.CallID)
		case r.Content != nil && r.Text != "":
			return nil, first, fmt.Errorf("part %d: a result of call %q with both text and content, want one", i, r.CallID)
		case r.Content != nil:
			said = append(said, r.Content)
		default:
			said = append(said, message.Text{Text: r.Text})
		}
	}
	return said, first, nil
}

// say puts into f what parts say: into the plain fields if they do, else into
// the list of its role.
func say(f *schema.Message, parts []message.Part) error {
	list := parts
	if len(list) > 0 {
		if t, ok := list[0].(message.Thinking); ok && t.Text != "" && t.Signature == "" {
			f.ReasoningContent, list = t.Text, list[1:]
		}
	}
	switch t, ok := only[message.Text](list); {
	case len(list) == 0, ok && (t.Text != "" || f.Role == schema.Tool):
		f.Content = t.Text
		return nil
	}
	at, err := listOf(f.Role, list)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := add(f, at, p); err != nil {
			return err
		}
	}
	return nil
}

func only[P message.Part](parts []message.Part) (p P, ok bool) {
	if len(parts) == 1 {
		p, ok = parts[0].(P)
	}
	return p, ok
}

// listOf returns which list of a message can hold all the parts.
func listOf(role schema.RoleType, parts []message.Part) (place, error) {
	at := behindAll
	for i, p := range parts {
		o, ok := p.(message.Opaque)
		if !ok {
			continue
		}
		of, ok := map[string]place{kindMulti: inMulti, kindInput: inInput, kindOutput: inOutput}[o.Kind]
		if !ok || at != behindAll && at != of {
			return 0, fmt.Errorf("part %d: opaque part of kind %q, which has no place in a message of eino", i, o.Kind)
		}
		at = of
	}
	switch {
	case at != behindAll:
		return at, nil
	case role == schema.Assistant:
		return inOutput, nil
	case role == schema.System:
		return 0, fmt.Errorf("%d parts in a system message, want one text", len(parts))
	}
	return inInput, nil
}

// add puts a part at the end of a list of f.
func add(f *schema.Message, at place, p message.Part) error {
	switch at {
	case inMulti:
		el, err := multiPart(p)
		f.MultiContent = append(f.MultiContent, el)
		return err
	case inInput:
		el, err := inputPart(p)
		f.UserInputMultiContent = append(f.UserInputMultiContent, el)
		return err
	case inOutput:
		el, err := outputPart(p)
		f.AssistantGenMultiContent = append(f.AssistantGenMultiContent, el)
		return err
	case inReasoning, inContent, inCalls, behindAll:
	}
	return fmt.Errorf("%s has no place in a message of eino", describe(p))
}

func inputPart(p message.Part) (el schema.MessageInputPart, err error) {
	switch p := p.(type) {
	case message.Text:
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: p.Text}, nil
	case message.Media:
		el.Type = partType(p)
		if p.Name != "" && el.Type != schema.ChatMessagePartTypeFileURL {
			return el, fmt.Errorf("%s named %q: in a message of eino only files have names", describe(p), p.Name)
		}
		switch el.Type { //nolint:exhaustive // partType returns no other
		case schema.ChatMessagePartTypeImageURL:
			el.Image = &schema.MessageInputImage{MessagePartCommon: common(p)}
		case schema.ChatMessagePartTypeAudioURL:
			el.Audio = &schema.MessageInputAudio{MessagePartCommon: common(p)}
		case schema.ChatMessagePartTypeVideoURL:
			el.Video = &schema.MessageInputVideo{MessagePartCommon: common(p)}
		case schema.ChatMessagePartTypeFileURL:
			el.File = &schema.MessageInputFile{MessagePartCommon: common(p), Name: p.Name}
		}
		return el, nil
	case message.Opaque:
		err = unmarshal(p, &el)
		return el, err
	case message.Thinking:
		return el, errors.New("signed thinking, or thinking behind something else: eino carries it in messages of the assistant alone")
	case message.ToolCall, message.ToolResult:
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
		el.Type = partType(p)
		if p.Name != "" || el.Type == schema.ChatMessagePartTypeFileURL {
			return el, fmt.Errorf("%s: an answer in a message of eino has no files and no names", describe(p))
		}
		switch el.Type { //nolint:exhaustive // partType returns no other
		case schema.ChatMessagePartTypeImageURL:
			el.Image = &schema.MessageOutputImage{MessagePartCommon: common(p)}
		case schema.ChatMessagePartTypeAudioURL:
			el.Audio = &schema.MessageOutputAudio{MessagePartCommon: common(p)}
		case schema.ChatMessagePartTypeVideoURL:
			el.Video = &schema.MessageOutputVideo{MessagePartCommon: common(p)}
		}
		return el, nil
	case message.Opaque:
		err = unmarshal(p, &el)
		return el, err
	case message.ToolCall, message.ToolResult:
	}
	return el, fmt.Errorf("%s has no place here in a message of eino", describe(p))
}

//nolint:staticcheck // see multi
func multiPart(p message.Part) (el schema.ChatMessagePart, err error) {
	switch p := p.(type) {
	case message.Text:
		return schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: p.Text}, nil
	case message.Opaque:
		err = unmarshal(p, &el)
		return el, err
	case message.Media, message.Thinking, message.ToolCall, message.ToolResult:
	}
	return el, fmt.Errorf("%s cannot stand beside a part of kind %q", describe(p), kindMulti)
}

func unmarshal(p message.Opaque, to any) error {
	if err := json.Unmarshal([]byte(p.Data), to); err != nil {
		return fmt.Errorf("opaque part of kind %q: %w", p.Kind, err)
	}
	return nil
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

// describe names a part for people.
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
