package eino

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// ErrorKey is the key in the Extra of a tool message of eino that marks, by the
// value true, a result as an error. Eino itself has no such mark. It is set on
// messages made from results of ours with Error. If you set it, middlewares treat the
// text as an error.
const ErrorKey = "laconic.error"

// Keys in the Extra of a message of eino that set the hints of ours. A person pins a message in a running conversation with
// package steps.
const (
	PinnedKey   = "laconic.pinned"   // true: no middleware changes or removes it
	MemoryKey   = "laconic.memory"   // true: it is from an earlier conversation; see summarize.Options.PreserveMemory
	PriorityKey = "laconic.priority" // a message.Priority, or a number from 1 (low) to 4 (critical); see package trim
)

// idKey is the key of the ID that ADK gives to each message.
const idKey = "_eino_msg_id"

// extraOf returns the Extra of a message; nil if it has only the ID of ADK. Each message is looked at in each call: so it is one
// look into the map, and not four, which were half of the time of a call with nothing to do.
func extraOf(f *schema.Message) map[string]any {
	if len(f.Extra) == 1 && f.Extra[idKey] != nil {
		return nil
	}
	return f.Extra
}

func hintsOf(extra map[string]any) (h message.Hints) {
	if len(extra) == 0 {
		return h
	}
	h.Pinned, _ = extra[PinnedKey].(bool)
	h.Memory, _ = extra[MemoryKey].(bool)
	switch p := extra[PriorityKey].(type) {
	case message.Priority:
		h.Priority = p
	case int:
		h.Priority = message.Priority(p) // others than the four are no priority
	case float64: // of JSON
		h.Priority = message.Priority(p)
	}
	return h
}

// Import converts messages of eino. The result shares no memory with them but
// strings. An error is of kind [middleware.Invalid] and has the position of the
// message: one that is nil, has an unknown role, or a part that is unknown and
// cannot be written as JSON.
func Import(msgs []*schema.Message) ([]message.Message, error) {
	talk, err := foreign.NewMemo(op, codec{}).Import(msgs)
	if err != nil {
		return nil, err
	}
	return talk.Messages, nil
}

// codec is the [foreign.Importer] and [foreign.Exporter] of eino's messages.
type codec struct {
	room *[]schema.Message // for copies of messages; nil: each copy is allocated alone
}

// Import implements [foreign.Importer].
func (codec) Import(f *schema.Message, _ []message.Message) (message.Message, error) {
	if f == nil {
		return message.Message{}, errors.New("nil, want a message")
	}
	m := message.Message{Name: f.Name, Usage: usageOf(f), Hints: hintsOf(f.Extra)}
	var ok bool
	m.Role, ok = roleOf(f.Role)
	if !ok {
		return message.Message{}, fmt.Errorf("role %q, want %q, %q, %q or %q",
			f.Role, schema.System, schema.User, schema.Assistant, schema.Tool)
	}
	err := walk(f, func(_ place, p message.Part) {
		if f.Role == schema.Tool {
			p = inResult(f, p)
		}
		m.Parts = append(m.Parts, p)
	})
	if err != nil {
		return message.Message{}, err
	}
	return m, nil
}

// inResult returns the content of a tool message as a piece of its result.
func inResult(f *schema.Message, p message.Part) message.Part {
	r := message.ToolResult{CallID: f.ToolCallID, Name: f.ToolName, Error: hasFailed(f.Role, f.Extra)}
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

// Same implements [foreign.Importer].
func (c codec) Same(f *schema.Message, m *message.Message) (same, whole bool) {
	return c.same(f, m), true
}

func (c codec) same(f *schema.Message, m *message.Message) bool {
	if f == nil || !equal(f.Name, m.Name) || !equal(string(f.Role), string(m.Role)) || !sameUsage(f, m.Usage) {
		return false
	}
	extra := extraOf(f)
	if hintsOf(extra) != m.Hints {
		return false
	}
	if !hasLists(f) {
		return samePlain(f, extra, m.Parts)
	}
	again, err := c.Import(f, nil)
	return err == nil && slices.Equal(again.Parts, m.Parts)
}

func hasLists(f *schema.Message) bool {
	return len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) > 0
}

// samePlain is Same for messages without lists, as nearly all are. It allocates nothing.
func samePlain(f *schema.Message, extra map[string]any, parts []message.Part) bool {
	content, n := f.Content != "" || f.Role == schema.Tool, len(f.ToolCalls)
	thinking := thinkingIn(f, extra)
	thinks := thinking != message.Thinking{}
	if thinks {
		n++
	}
	if content {
		n++
	}
	if len(parts) != n {
		return false
	}
	if thinks {
		if t, ok := parts[0].(message.Thinking); !ok || !equal(t.Text, thinking.Text) || !equal(t.Signature, thinking.Signature) {
			return false
		}
		parts = parts[1:]
	}
	if content {
		if r, _ := parts[0].(message.ToolResult); !sameContent(f, parts[0]) || r.Error != hasFailed(f.Role, extra) {
			return false
		}
		parts = parts[1:]
	}
	for i := range f.ToolCalls {
		if !sameCall(&f.ToolCalls[i], parts[i]) {
			return false
		}
	}
	return true
}

// sameContent reports whether a part is the content of a message, but for the mark of a failed result. It and sameCall have type
// switches, which copy less than assertions.
func sameContent(f *schema.Message, p message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		return equal(p.Text, f.Content) && f.Role != schema.Tool
	case message.ToolResult:
		return equal(p.Text, f.Content) && equal(p.CallID, f.ToolCallID) && equal(p.Name, f.ToolName) && p.Content == nil &&
			f.Role == schema.Tool
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return false
}

func sameCall(t *schema.ToolCall, p message.Part) bool {
	switch c := p.(type) {
	case message.ToolCall:
		return equal(c.Arguments, t.Function.Arguments) && equal(c.ID, t.ID) && equal(c.Name, t.Function.Name)
	case message.Text, message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return false
}

// equal is a == b, and fast for strings in the same memory, as nearly all are.
func equal(a, b string) bool {
	same := unsafe.StringData(a) == unsafe.StringData(b) //nolint:gosec // nothing is read through the pointers
	return len(a) == len(b) && (same || a == b)
}

func hasFailed(role schema.RoleType, extra map[string]any) bool {
	if len(extra) == 0 || role != schema.Tool {
		return false
	}
	failed, _ := extra[ErrorKey].(bool)
	return failed
}

// thinkingOf returns the thinking in the plain fields of a message; the zero value: there is none. Without
// ReasoningContent, a signature still is thinking, since providers omit the text.
func thinkingOf(f *schema.Message) message.Thinking { return thinkingIn(f, f.Extra) }

func thinkingIn(f *schema.Message, extra map[string]any) message.Thinking {
	t := message.Thinking{Text: f.ReasoningContent}
	if len(extra) == 0 || f.Role != schema.Assistant {
		return t
	}
	t.Signature, _ = extra[signatureKey].(string)
	if t.Signature != "" && t.Text == "" {
		t.Text, _ = extra[thinkingKey].(string)
	}
	return t
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

func sameUsage(f *schema.Message, u *message.Usage) bool {
	if f.ResponseMeta == nil || f.ResponseMeta.Usage == nil {
		return u == nil
	}
	return u != nil && toUsage(f.ResponseMeta.Usage) == *u
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

// place is the place of a part in a message of eino.
type place struct {
	field field
	i     int // index in a list
}

// field is a field of a message of eino. The parts are in this order.
type field int

const (
	reasoning field = iota // ReasoningContent, with what Extra has of it
	content
	multi  // MultiContent, which is deprecated
	input  // UserInputMultiContent
	output // AssistantGenMultiContent
	calls
	nowhere
)

// The kinds of opaque parts: their data is the JSON of this type.
const (
	kindMulti  = "eino.ChatMessagePart"
	kindInput  = "eino.MessageInputPart"
	kindOutput = "eino.MessageOutputPart"
)

// walk visits the parts of a message, without results around them.
func walk(f *schema.Message, visit func(place, message.Part)) error {
	if t := thinkingOf(f); t != (message.Thinking{}) {
		visit(place{field: reasoning}, t)
	}
	if f.Content != "" || f.Role == schema.Tool && !hasLists(f) { // a call needs a result, also an empty one
		visit(place{field: content}, message.Text{Text: f.Content})
	}
	if err := walkList(multi, f.MultiContent, kindMulti, fromMulti, visit); err != nil {
		return err
	}
	if err := walkList(input, f.UserInputMultiContent, kindInput, fromInput, visit); err != nil {
		return err
	}
	if err := walkList(output, f.AssistantGenMultiContent, kindOutput, fromOutput, visit); err != nil {
		return err
	}
	for i, c := range f.ToolCalls {
		visit(place{calls, i}, message.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return nil
}

// walkList visits the elements of a list. One without a place in our parts is opaque.
func walkList[E any](at field, list []E, kind string, part func(*E) message.Part, visit func(place, message.Part)) error {
	for i := range list {
		p := part(&list[i])
		if p == nil {
			data, err := json.Marshal(&list[i])
			if err != nil {
				return fmt.Errorf("%s %d, which has no place in a message of ours: %w", kind, i, err)
			}
			p = message.Opaque{Kind: kind, Data: string(data)}
		}
		visit(place{at, i}, p)
	}
	return nil
}

// fromMulti, fromInput and fromOutput return an element of a list as a part, or nil if
// ours have no place for it.
//
//nolint:staticcheck // the deprecated list is still in use
func fromMulti(m *schema.ChatMessagePart) message.Part {
	common := func(mime string, url *string) *schema.MessagePartCommon {
		return &schema.MessagePartCommon{MIMEType: mime, URL: url}
	}
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		return message.Text{Text: m.Text}
	case m.Type == schema.ChatMessagePartTypeImageURL && m.ImageURL != nil && m.ImageURL.URI == "":
		return media("image/*", common(m.ImageURL.MIMEType, &m.ImageURL.URL), "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.AudioURL != nil && m.AudioURL.URI == "":
		return media("audio/*", common(m.AudioURL.MIMEType, &m.AudioURL.URL), "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.VideoURL != nil && m.VideoURL.URI == "":
		return media("video/*", common(m.VideoURL.MIMEType, &m.VideoURL.URL), "")
	case m.Type == schema.ChatMessagePartTypeFileURL && m.FileURL != nil && m.FileURL.URI == "":
		return media("", common(m.FileURL.MIMEType, &m.FileURL.URL), m.FileURL.Name)
	}
	return nil
}

func fromInput(m *schema.MessageInputPart) message.Part {
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		return message.Text{Text: m.Text}
	case m.Type == schema.ChatMessagePartTypeImageURL && m.Image != nil:
		return media("image/*", &m.Image.MessagePartCommon, "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.Audio != nil:
		return media("audio/*", &m.Audio.MessagePartCommon, "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.Video != nil:
		return media("video/*", &m.Video.MessagePartCommon, "")
	case m.Type == schema.ChatMessagePartTypeFileURL && m.File != nil:
		return media("", &m.File.MessagePartCommon, m.File.Name)
	}
	return nil
}

func fromOutput(m *schema.MessageOutputPart) message.Part {
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		return message.Text{Text: m.Text}
	case m.Type == schema.ChatMessagePartTypeReasoning && m.Reasoning != nil:
		return message.Thinking{Text: m.Reasoning.Text, Signature: m.Reasoning.Signature}
	case m.Type == schema.ChatMessagePartTypeImageURL && m.Image != nil:
		return media("image/*", &m.Image.MessagePartCommon, "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.Audio != nil:
		return media("audio/*", &m.Audio.MessagePartCommon, "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.Video != nil:
		return media("video/*", &m.Video.MessagePartCommon, "")
	}
	return nil
}

// media returns a media part, or nil if it has both a URL and data, or base64 that would
// not come back as it was. A missing type becomes a wildcard, so that an image remains
// one.
func media(wildcard string, c *schema.MessagePartCommon, name string) message.Part {
	m := message.Media{Type: cmp.Or(c.MIMEType, wildcard), Name: name}
	encoded := ""
	if c.Base64Data != nil {
		encoded = *c.Base64Data
	}
	if c.URL != nil {
		m.URL = *c.URL
	}
	if m.URL != "" && encoded != "" {
		return nil
	}
	if mime, in, ok := dataURL(m.URL); ok && (c.MIMEType == "" || c.MIMEType == mime) {
		m.Type = mime
		m.URL = ""
		encoded = in
	}
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return nil
	}
	m.Data = string(data)
	return m
}

// dataURL splits a URL such as data:image/png;base64,AAAA.
func dataURL(url string) (mime, data string, ok bool) {
	const begin, middle = "data:", ";base64,"
	if !strings.HasPrefix(url, begin) {
		return "", "", false
	}
	at := strings.IndexByte(url, ',') + 1
	if at < len(begin)+len(middle) || !strings.HasSuffix(url[:at], middle) {
		return "", "", false
	}
	mime, data = url[len(begin):at-len(middle)], url[at:]
	return mime, data, mime != "" && data != "" && !strings.Contains(mime, ";")
}
