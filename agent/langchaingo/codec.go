package langchaingo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// codec translates messages one by one.
type codec struct {
	made *made // the calls that the model made
}

// roleOf returns our role. A generic message is one of a user for every
// provider of langchaingo, a function message one of a tool. Roles that nobody
// knows are passed on, and message.Check tells.
func roleOf(t llms.ChatMessageType) message.Role {
	switch t {
	case llms.ChatMessageTypeSystem:
		return message.RoleSystem
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		return message.RoleUser
	case llms.ChatMessageTypeAI:
		return message.RoleAssistant
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		return message.RoleTool
	}
	return message.Role(t)
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

// Import implements [foreign.Codec].
func (c codec) Import(f llms.MessageContent, before []message.Message) (message.Message, error) {
	m := message.Message{Role: roleOf(f.Role), Parts: make([]message.Part, 0, len(f.Parts))}
	for i, p := range f.Parts {
		part, err := c.part(p, before, m.Parts)
		if err != nil {
			return message.Message{}, fmt.Errorf("part %d: %w", i, err)
		}
		m.Parts = append(m.Parts, part)
	}
	return m, nil
}

// Same implements [foreign.Codec]. Mended arguments stay the same as long as
// they mean the same, even when the model's spelling has been forgotten since:
// the beginning of a conversation does not move for that.
func (c codec) Same(f llms.MessageContent, m *message.Message) bool {
	if len(f.Parts) != len(m.Parts) || roleOf(f.Role) != m.Role {
		return false
	}
	for i, p := range f.Parts {
		if !c.same(p, m.Parts[i]) {
			return false
		}
	}
	return true
}

// Export implements [foreign.Codec].
func (c codec) Export(m message.Message, from *foreign.Origin[llms.MessageContent]) (llms.MessageContent, error) {
	switch {
	case from == nil:
		return newMessage(m)
	case !from.Edited && c.Keeps(from.Foreign, &m):
		return from.Foreign, nil
	case !from.Edited:
		return mended(from.Foreign, m), nil
	}
	return edited(m, from)
}

// Keeps implements [foreign.Keeper].
func (c codec) Keeps(f llms.MessageContent, m *message.Message) bool {
	for i, p := range f.Parts {
		if isMended(p, m.Parts[i]) {
			return false
		}
	}
	return true
}

// mended returns a copy of the message that m was imported from, with what had
// to be mended.
func mended(f llms.MessageContent, m message.Message) llms.MessageContent {
	f.Parts = slices.Clone(f.Parts)
	for i, p := range m.Parts {
		if isMended(f.Parts[i], p) {
			f.Parts[i] = rewritten(f.Parts[i], p)
		}
	}
	return f
}

// edited returns a copy of the message that m comes from in which only that
// differs which was edited.
func edited(m message.Message, from *foreign.Origin[llms.MessageContent]) (f llms.MessageContent, err error) {
	f = from.Foreign
	f.Parts = make([]llms.ContentPart, 0, len(m.Parts))
	next := 0
	for i, p := range m.Parts {
		at := origin(p, from.Message.Parts, next)
		if at >= 0 {
			next = at + 1
			if from.Message.Parts[at] == p && !isMended(from.Foreign.Parts[at], p) {
				f.Parts = append(f.Parts, from.Foreign.Parts[at])
			} else {
				f.Parts = append(f.Parts, rewritten(from.Foreign.Parts[at], p))
			}
			continue
		}
		if f.Parts, err = appendNew(f.Parts, p); err != nil {
			return f, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return f, nil
}

// origin returns which of the parts, from next on, p was made of: an equal one,
// else one of which p can be an edit; -1: none.
func origin(p message.Part, parts []message.Part, next int) int {
	for i := next; i < len(parts); i++ {
		if parts[i] == p {
			return i
		}
	}
	for i := next; i < len(parts); i++ {
		if isEdit(p, parts[i]) {
			return i
		}
	}
	return -1
}

// isEdit reports whether one part can be what an edit made of another.
func isEdit(p, of message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		_, ok := of.(message.Text)
		return ok
	case message.ToolCall:
		was, ok := of.(message.ToolCall)
		return ok && p.ID == was.ID && p.Name == was.Name
	case message.ToolResult:
		was, ok := of.(message.ToolResult)
		return ok && p.CallID == was.CallID && p.Content == nil
	case nil, message.Thinking, message.Media, message.Opaque:
	}
	return false
}

// newMessage returns a message that comes from nowhere in the conversation.
func newMessage(m message.Message) (llms.MessageContent, error) {
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
		if f.Parts, err = appendNew(f.Parts, p); err != nil {
			return llms.MessageContent{}, fmt.Errorf("part %d: %w", i, err)
		}
	}
	if len(f.Parts) == 0 {
		return llms.MessageContent{}, errors.New("there is no part that langchaingo can send")
	}
	return f, nil
}

// appendNew appends a part that comes from nowhere. Thinking that is not signed
// is left out: no provider wants it back.
func appendNew(parts []llms.ContentPart, p message.Part) ([]llms.ContentPart, error) {
	if t, ok := p.(message.Thinking); ok && t.Signature == "" {
		return parts, nil
	}
	part, err := newPart(p)
	if err != nil {
		return parts, err
	}
	return append(parts, part), nil
}
