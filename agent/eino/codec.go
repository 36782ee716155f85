package eino

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// ErrorKey is the key in the Extra of a tool message of eino that says, by the
// value true, that the tool failed. Eino itself has no such mark. Whoever sets
// it tells the middlewares that the text is an error; it is set on messages
// that are made from results of ours with Error.
const ErrorKey = "laconic.error"

// codec is the [foreign.Codec] of eino's messages.
type codec struct {
	room *[]schema.Message // for copies of messages; nil: each gets its own
}

// Import implements foreign.Codec.
func (codec) Import(f *schema.Message, _ []message.Message) (message.Message, error) {
	if f == nil {
		return message.Message{}, errors.New("nil, want a message")
	}
	m := message.Message{Name: f.Name, Usage: usageOf(f)}
	var ok bool
	if m.Role, ok = roleOf(f.Role); !ok {
		return message.Message{}, fmt.Errorf("role %q, want %q, %q, %q or %q",
			f.Role, schema.System, schema.User, schema.Assistant, schema.Tool)
	}
	failed := hasFailed(f)
	for c := (cursor{f: f}); ; {
		p, ok := c.next()
		if !ok {
			return m, nil
		}
		part, err := p.part(f)
		if err != nil {
			return message.Message{}, err
		}
		if f.Role == schema.Tool {
			part = inResult(f, part, failed)
		}
		m.Parts = append(m.Parts, part)
	}
}

// inResult makes what a tool message says a piece of its result.
func inResult(f *schema.Message, p message.Part, failed bool) message.Part {
	r := message.ToolResult{CallID: f.ToolCallID, Name: f.ToolName, Error: failed}
	switch p := p.(type) {
	case message.Text:
		r.Text = p.Text
	case message.Media, message.Opaque:
		r.Content = p
	case message.Thinking, message.ToolCall, message.ToolResult:
		return p
	}
	return r
}

// Same implements foreign.Codec. It allocates nothing, unless there is an
// opaque part.
func (codec) Same(f *schema.Message, m *message.Message) bool {
	if f == nil || f.Name != m.Name || string(f.Role) != string(m.Role) || !sameUsage(f, m.Usage) {
		return false
	}
	if _, known := roleOf(f.Role); !known {
		return false
	}
	if len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) == 0 {
		return samePlain(f, m.Parts)
	}
	c := cursor{f: f}
	for _, want := range m.Parts {
		p, ok := c.next()
		if !ok {
			return false
		}
		if r, isResult := want.(message.ToolResult); isResult {
			ok = f.Role == schema.Tool && p.isResult(f, &r)
		} else {
			ok = (f.Role != schema.Tool || p.kind == thinkingKind || p.kind == callKind) && p.is(f, want)
		}
		if !ok {
			return false
		}
	}
	_, more := c.next()
	return !more
}

// samePlain is the short way for messages without lists: almost all.
func samePlain(f *schema.Message, parts []message.Part) bool {
	if f.ReasoningContent != "" {
		if len(parts) == 0 || parts[0] != message.Part(message.Thinking{Text: f.ReasoningContent}) {
			return false
		}
		parts = parts[1:]
	}
	switch {
	case f.Role == schema.Tool:
		if len(parts) == 0 {
			return false
		}
		if !sameResult(f, parts[0]) {
			return false
		}
		parts = parts[1:]
	case f.Content != "":
		if len(parts) == 0 {
			return false
		}
		if t, ok := parts[0].(message.Text); !ok || t.Text != f.Content {
			return false
		}
		parts = parts[1:]
	}
	if len(parts) != len(f.ToolCalls) {
		return false
	}
	for i := range f.ToolCalls {
		if !sameCall(&f.ToolCalls[i], parts[i]) {
			return false
		}
	}
	return true
}

// sameResult reports whether a part is the result that a plain tool message is.
func sameResult(f *schema.Message, p message.Part) bool {
	switch r := p.(type) { // copies less than an assertion does
	case message.ToolResult:
		return r.Text == f.Content && r.CallID == f.ToolCallID && r.Name == f.ToolName && r.Content == nil && r.Error == hasFailed(f)
	case message.Text, message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return false
}

func sameCall(t *schema.ToolCall, p message.Part) bool {
	switch c := p.(type) {
	case message.ToolCall:
		return c.Arguments == t.Function.Arguments && c.ID == t.ID && c.Name == t.Function.Name
	case message.Text, message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return false
}

func (p *piece) isResult(f *schema.Message, r *message.ToolResult) bool {
	if r.CallID != f.ToolCallID || r.Name != f.ToolName || r.Error != hasFailed(f) {
		return false
	}
	if r.Content == nil {
		return p.kind == textKind && r.Text == p.s[0]
	}
	return r.Text == "" && (p.kind == mediaKind || p.kind == opaqueKind) && p.is(f, r.Content)
}

// Keeps implements foreign.Keeper.
func (codec) Keeps(*schema.Message, *message.Message) bool { return true }

// Batch implements foreign.Batcher.
func (codec) Batch() foreign.Codec[*schema.Message] { return codec{room: new([]schema.Message)} }

// Export implements foreign.Codec.
func (c codec) Export(m message.Message, from *foreign.Origin[*schema.Message]) (*schema.Message, error) {
	switch {
	case from == nil:
		return made(m)
	case !from.Edited:
		return from.Foreign, nil
	}
	return c.edited(&m, from)
}

// message returns an empty message. In a batch a few share memory, so few that
// whoever keeps one does not keep much.
func (c codec) message() *schema.Message {
	const few = 32
	if c.room == nil {
		return new(schema.Message)
	}
	if len(*c.room) == 0 {
		*c.room = make([]schema.Message, few)
	}
	m := &(*c.room)[0]
	*c.room = (*c.room)[1:]
	return m
}

func hasFailed(f *schema.Message) bool {
	failed, _ := f.Extra[ErrorKey].(bool)
	return failed && f.Role == schema.Tool
}

func roleOf(r schema.RoleType) (message.Role, bool) {
	switch r {
	case schema.System:
		return message.RoleSystem, true
	case schema.User:
		return message.RoleUser, true
	case schema.Assistant:
		return message.RoleAssistant, true
	case schema.Tool:
		return message.RoleTool, true
	}
	return "", false
}

func usageOf(f *schema.Message) *message.Usage {
	if f.ResponseMeta == nil || f.ResponseMeta.Usage == nil {
		return nil
	}
	u := toUsage(f.ResponseMeta.Usage)
	return &u
}

func toUsage(u *schema.TokenUsage) message.Usage {
	return message.Usage{
		Input:      u.PromptTokens,
		CacheRead:  u.PromptTokenDetails.CachedTokens,
		CacheWrite: u.PromptTokenDetails.CacheWriteTokens,
		Output:     u.CompletionTokens,
		Thinking:   u.CompletionTokensDetails.ReasoningTokens,
	}
}

func sameUsage(f *schema.Message, u *message.Usage) bool {
	if f.ResponseMeta == nil || f.ResponseMeta.Usage == nil {
		return u == nil
	}
	return u != nil && toUsage(f.ResponseMeta.Usage) == *u
}

// Import says in our words what messages of eino say. The result shares no
// memory with them but strings. An error is of kind [middleware.Invalid] and
// names the message: one that is nil, has an unknown role, or a part that can
// neither be understood nor written as JSON.
func Import(msgs []*schema.Message) ([]message.Message, error) {
	talk, err := foreign.NewMemo("eino", codec{}).Import(msgs)
	if err != nil {
		return nil, err
	}
	return talk.Messages, nil
}

// Export says in eino's words what messages of ours say, so that [Import]
// returns equal messages again. Times and hints are left out. The result shares
// no memory with the messages but strings. An error is of kind
// [middleware.Invalid] and names the message and what eino cannot carry:
//
//   - a part other than a tool call behind a tool call;
//   - several parts in a system message, results of different calls in one
//     tool message, an error and a success in one;
//   - the name of a media part that is no file; a file in an answer; signed
//     thinking of anyone but the assistant; media with both URL and data;
//   - opaque parts that were not made by [Import].
func Export(msgs []message.Message) ([]*schema.Message, error) {
	out := make([]*schema.Message, len(msgs))
	for i := range msgs {
		f, err := made(msgs[i])
		if err != nil {
			return nil, invalid(fmt.Errorf("message %d: %w", i, err))
		}
		out[i] = f
	}
	return out, nil
}

// comesBack reports, as an error, that a message of eino does not say what the
// message of ours does that it was made from.
func comesBack(f *schema.Message, m message.Message) error {
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
