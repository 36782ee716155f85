package eino

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// ErrorKey is the key in the Extra of a tool message of eino that marks, by the
// value true, a result as an error. Eino itself has no such mark. It is set on
// messages made from results of ours with Error. If you set it, middlewares treat the
// text as an error.
const ErrorKey = "laconic.error"

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

// codec is the [foreign.Codec] of eino's messages.
type codec struct {
	room *[]schema.Message // for copies of messages; nil: each copy is allocated alone
}

// Import implements [foreign.Codec].
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
			part = inResult(f, part)
		}
		m.Parts = append(m.Parts, part)
	}
}

// inResult returns the content of a tool message as a piece of its result.
func inResult(f *schema.Message, p message.Part) message.Part {
	r := message.ToolResult{CallID: f.ToolCallID, Name: f.ToolName, Error: hasFailed(f)}
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

// Same implements [foreign.Codec]. It allocates nothing, unless there is an
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
		if p, ok := c.next(); !ok || !p.is(f, want) {
			return false
		}
	}
	_, more := c.next()
	return !more
}

// samePlain is Same for messages without lists, as nearly all are: it takes a third of
// the time.
func samePlain(f *schema.Message, parts []message.Part) bool {
	content, n := f.Content != "" || f.Role == schema.Tool, len(f.ToolCalls)
	if f.ReasoningContent != "" {
		n++
	}
	if content {
		n++
	}
	if len(parts) != n {
		return false
	}
	if f.ReasoningContent != "" {
		if parts[0] != message.Part(message.Thinking{Text: f.ReasoningContent}) {
			return false
		}
		parts = parts[1:]
	}
	if content {
		if !sameContent(f, parts[0]) {
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

// sameContent and sameCall have type switches, which copy less than assertions.
func sameContent(f *schema.Message, p message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		return p.Text == f.Content && f.Role != schema.Tool
	case message.ToolResult:
		return p.Text == f.Content && p.CallID == f.ToolCallID && p.Name == f.ToolName && p.Content == nil &&
			p.Error == hasFailed(f) && f.Role == schema.Tool
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
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

// place is a field of a message of eino that becomes parts of ours, in this order.
type place int

const (
	inReasoning place = iota
	inContent
	inMulti  // MultiContent, which is deprecated
	inInput  // UserInputMultiContent
	inOutput // AssistantGenMultiContent
	inCalls
	nowhere // after all others
)

type kind int

const (
	textKind     kind = iota // text
	thinkingKind             // text, signature
	mediaKind                // MIME type, URL or base64, name
	callKind                 // id, name, arguments
	opaqueKind               // an unknown part
)

// piece is what one part is made from. It only refers to strings of the message, so
// that messages are compared without an allocation.
type piece struct {
	at   place
	i    int // index in the list there
	kind kind
	s    [4]string
}

// cursor walks over the pieces of a message.
type cursor struct {
	f  *schema.Message
	at place
	i  int
}

// next returns the next piece; ok is false after the last one.
func (c *cursor) next() (p piece, ok bool) {
	for ; c.at < nowhere; c.at, c.i = c.at+1, 0 {
		if c.i < c.len() {
			p = piece{at: c.at, i: c.i, kind: opaqueKind}
			c.i++
			p.read(c.f)
			return p, true
		}
	}
	return piece{}, false
}

// len returns the number of pieces at the place of the cursor.
func (c *cursor) len() int {
	f := c.f
	switch c.at {
	case inReasoning:
		if f.ReasoningContent != "" {
			return 1
		}
	case inContent:
		if f.Content != "" || isEmptyResult(f) {
			return 1
		}
	case inMulti:
		return len(f.MultiContent)
	case inInput:
		return len(f.UserInputMultiContent)
	case inOutput:
		return len(f.AssistantGenMultiContent)
	case inCalls:
		return len(f.ToolCalls)
	case nowhere:
	}
	return 0
}

// isEmptyResult reports whether a message is a result without content. It becomes a
// part too, since its call needs a result.
func isEmptyResult(f *schema.Message) bool {
	return f.Role == schema.Tool && len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) == 0
}

// read fills a piece from its place.
func (p *piece) read(f *schema.Message) {
	switch p.at {
	case inReasoning:
		p.kind, p.s[0] = thinkingKind, f.ReasoningContent
	case inContent:
		p.kind, p.s[0] = textKind, f.Content
	case inMulti:
		p.multi(&f.MultiContent[p.i])
	case inInput:
		p.input(&f.UserInputMultiContent[p.i])
	case inOutput:
		p.output(&f.AssistantGenMultiContent[p.i])
	case inCalls:
		t := &f.ToolCalls[p.i]
		p.kind, p.s[0], p.s[1], p.s[2] = callKind, t.ID, t.Function.Name, t.Function.Arguments
	case nowhere:
	}
}

//nolint:staticcheck // the deprecated list is still in use
func (p *piece) multi(m *schema.ChatMessagePart) {
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		p.kind, p.s[0] = textKind, m.Text
	case m.Type == schema.ChatMessagePartTypeImageURL && m.ImageURL != nil && m.ImageURL.URI == "":
		p.media("image/*", m.ImageURL.MIMEType, &m.ImageURL.URL, nil, "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.AudioURL != nil && m.AudioURL.URI == "":
		p.media("audio/*", m.AudioURL.MIMEType, &m.AudioURL.URL, nil, "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.VideoURL != nil && m.VideoURL.URI == "":
		p.media("video/*", m.VideoURL.MIMEType, &m.VideoURL.URL, nil, "")
	case m.Type == schema.ChatMessagePartTypeFileURL && m.FileURL != nil && m.FileURL.URI == "":
		p.media("", m.FileURL.MIMEType, &m.FileURL.URL, nil, m.FileURL.Name)
	}
}

func (p *piece) input(m *schema.MessageInputPart) {
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		p.kind, p.s[0] = textKind, m.Text
	case m.Type == schema.ChatMessagePartTypeImageURL && m.Image != nil:
		p.media("image/*", m.Image.MIMEType, m.Image.URL, m.Image.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.Audio != nil:
		p.media("audio/*", m.Audio.MIMEType, m.Audio.URL, m.Audio.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.Video != nil:
		p.media("video/*", m.Video.MIMEType, m.Video.URL, m.Video.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeFileURL && m.File != nil:
		p.media("", m.File.MIMEType, m.File.URL, m.File.Base64Data, m.File.Name)
	}
}

func (p *piece) output(m *schema.MessageOutputPart) {
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		p.kind, p.s[0] = textKind, m.Text
	case m.Type == schema.ChatMessagePartTypeReasoning && m.Reasoning != nil:
		p.kind, p.s[0], p.s[1] = thinkingKind, m.Reasoning.Text, m.Reasoning.Signature
	case m.Type == schema.ChatMessagePartTypeImageURL && m.Image != nil:
		p.media("image/*", m.Image.MIMEType, m.Image.URL, m.Image.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.Audio != nil:
		p.media("audio/*", m.Audio.MIMEType, m.Audio.URL, m.Audio.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.Video != nil:
		p.media("video/*", m.Video.MIMEType, m.Video.URL, m.Video.Base64Data, "")
	}
}

// media makes a piece one of media, unless it has both data and a URL, which ours
// cannot hold. A missing type becomes a wildcard, so that an image remains one.
func (p *piece) media(wildcard, mime string, url, data *string, name string) {
	p.s = [4]string{mime, "", "", name}
	if mime == "" {
		p.s[0] = wildcard
	}
	if url != nil {
		p.s[1] = *url
	}
	if data != nil {
		p.s[2] = *data
	}
	if p.s[1] != "" && p.s[2] != "" {
		return
	}
	p.kind = mediaKind
	if of, in, ok := dataURL(p.s[1]); ok && (mime == "" || mime == of) {
		p.s[0], p.s[1], p.s[2] = of, "", in
	}
}

// dataURL splits a URL of the form data:image/png;base64,…
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

// part returns the part that the piece becomes.
func (p *piece) part(f *schema.Message) (message.Part, error) {
	switch p.kind {
	case textKind:
		return message.Text{Text: p.s[0]}, nil
	case thinkingKind:
		return message.Thinking{Text: p.s[0], Signature: p.s[1]}, nil
	case callKind:
		return message.ToolCall{ID: p.s[0], Name: p.s[1], Arguments: p.s[2]}, nil
	case mediaKind:
		// Base64 in another form would not come back as it was.
		data, err := base64.StdEncoding.DecodeString(p.s[2])
		if err == nil && encodes(p.s[2], string(data)) {
			return message.Media{Type: p.s[0], URL: p.s[1], Data: string(data), Name: p.s[3]}, nil
		}
	case opaqueKind:
	}
	return p.unknown(f)
}

// is reports whether a part is what Import makes of the piece.
func (p *piece) is(f *schema.Message, want message.Part) bool {
	if r, ok := want.(message.ToolResult); ok {
		return f.Role == schema.Tool && p.isResult(f, &r)
	}
	return (f.Role != schema.Tool || p.kind == thinkingKind || p.kind == callKind) && p.holds(f, want)
}

func (p *piece) isResult(f *schema.Message, r *message.ToolResult) bool {
	if r.CallID != f.ToolCallID || r.Name != f.ToolName || r.Error != hasFailed(f) {
		return false
	}
	if r.Content == nil {
		return p.kind == textKind && r.Text == p.s[0]
	}
	return r.Text == "" && (p.kind == mediaKind || p.kind == opaqueKind) && p.holds(f, r.Content)
}

// holds reports whether the piece becomes a part, not regarding results around it.
func (p *piece) holds(f *schema.Message, want message.Part) bool {
	switch w := want.(type) {
	case message.Text:
		return p.kind == textKind && w.Text == p.s[0]
	case message.Thinking:
		return p.kind == thinkingKind && w.Text == p.s[0] && w.Signature == p.s[1]
	case message.ToolCall:
		return p.kind == callKind && w.ID == p.s[0] && w.Name == p.s[1] && w.Arguments == p.s[2]
	case message.Media:
		return p.kind == mediaKind && w.Type == p.s[0] && w.URL == p.s[1] && w.Name == p.s[3] && encodes(p.s[2], w.Data)
	case message.Opaque:
		if p.kind != mediaKind && p.kind != opaqueKind {
			return false
		}
		got, err := p.part(f)
		return err == nil && got == want
	case message.ToolResult:
	}
	return false
}

// encodes reports whether encoded is data in base64, without an allocation.
func encodes(encoded, data string) bool {
	const block = 768
	if len(encoded) != base64.StdEncoding.EncodedLen(len(data)) {
		return false
	}
	var in [block]byte
	var out [block / 3 * 4]byte
	for data != "" {
		n := copy(in[:], data)
		base64.StdEncoding.Encode(out[:], in[:n])
		width := base64.StdEncoding.EncodedLen(n)
		if string(out[:width]) != encoded[:width] {
			return false
		}
		data, encoded = data[n:], encoded[width:]
	}
	return true
}

// The kinds of opaque parts: their data is the JSON of this type.
const (
	kindMulti  = "eino.ChatMessagePart"
	kindInput  = "eino.MessageInputPart"
	kindOutput = "eino.MessageOutputPart"
)

// unknown returns a part of eino as JSON.
func (p *piece) unknown(f *schema.Message) (message.Part, error) {
	var (
		kind string
		from any
	)
	switch p.at {
	case inMulti:
		kind, from = kindMulti, &f.MultiContent[p.i]
	case inInput:
		kind, from = kindInput, &f.UserInputMultiContent[p.i]
	case inOutput:
		kind, from = kindOutput, &f.AssistantGenMultiContent[p.i]
	case inReasoning, inContent, inCalls, nowhere:
	}
	data, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("%s %d, which has no place in a message of ours: %w", kind, p.i, err)
	}
	return message.Opaque{Kind: kind, Data: string(data)}, nil
}
