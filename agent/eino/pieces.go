package eino

import (
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/message"
)

// place says where in a message of eino a piece stands. The places are in the
// order in which their pieces become parts of a message of ours.
type place int

const (
	inReasoning place = iota
	inContent
	inMulti  // MultiContent, which is deprecated
	inInput  // UserInputMultiContent
	inOutput // AssistantGenMultiContent
	inCalls
	behindAll
)

type kind int

const (
	textKind     kind = iota // text
	thinkingKind             // text, signature
	mediaKind                // MIME type, URL or base64, name
	callKind                 // id, name, arguments
	opaqueKind               // what is not known
)

// piece is what one part is made from. It holds no more than references to
// strings of the message, so that messages are compared without an allocation.
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

// next returns the next piece; ok is false behind the last one.
func (c *cursor) next() (p piece, ok bool) {
	for ; c.at < behindAll; c.at, c.i = c.at+1, 0 {
		if c.i < c.len() {
			p = piece{at: c.at, i: c.i, kind: opaqueKind}
			c.i++
			p.read(c.f)
			return p, true
		}
	}
	return piece{}, false
}

// len returns how many pieces stand at the place of the cursor.
func (c *cursor) len() int {
	f := c.f
	switch c.at {
	case inReasoning:
		if f.ReasoningContent != "" {
			return 1
		}
	case inContent:
		if f.Content != "" || answersWithNothing(f) {
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
	case behindAll:
	}
	return 0
}

// read fills a piece with what stands at its place.
func (p *piece) read(f *schema.Message) {
	switch p.at {
	case inReasoning:
		p.kind, p.s = thinkingKind, [4]string{f.ReasoningContent}
	case inContent:
		p.kind, p.s = textKind, [4]string{f.Content}
	case inMulti:
		p.multi(&f.MultiContent[p.i])
	case inInput:
		p.input(&f.UserInputMultiContent[p.i])
	case inOutput:
		p.output(&f.AssistantGenMultiContent[p.i])
	case inCalls:
		t := &f.ToolCalls[p.i]
		p.kind, p.s = callKind, [4]string{t.ID, t.Function.Name, t.Function.Arguments}
	case behindAll:
	}
}

// answersWithNothing reports whether a message is a result without content:
// it must be one all the same, or its call would have none.
func answersWithNothing(f *schema.Message) bool {
	return f.Role == schema.Tool && len(f.MultiContent)+len(f.UserInputMultiContent)+len(f.AssistantGenMultiContent) == 0
}

//nolint:staticcheck // the deprecated list is still in use, and what comes in must go out
func (p *piece) multi(m *schema.ChatMessagePart) {
	switch {
	case m.Type == schema.ChatMessagePartTypeText:
		p.kind, p.s = textKind, [4]string{m.Text}
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
		p.kind, p.s = textKind, [4]string{m.Text}
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
		p.kind, p.s = textKind, [4]string{m.Text}
	case m.Type == schema.ChatMessagePartTypeReasoning && m.Reasoning != nil:
		p.kind, p.s = thinkingKind, [4]string{m.Reasoning.Text, m.Reasoning.Signature}
	case m.Type == schema.ChatMessagePartTypeImageURL && m.Image != nil:
		p.media("image/*", m.Image.MIMEType, m.Image.URL, m.Image.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeAudioURL && m.Audio != nil:
		p.media("audio/*", m.Audio.MIMEType, m.Audio.URL, m.Audio.Base64Data, "")
	case m.Type == schema.ChatMessagePartTypeVideoURL && m.Video != nil:
		p.media("video/*", m.Video.MIMEType, m.Video.URL, m.Video.Base64Data, "")
	}
}

// part returns the part that the piece says.
func (p *piece) part(f *schema.Message) (message.Part, error) {
	switch p.kind {
	case textKind:
		return message.Text{Text: p.s[0]}, nil
	case thinkingKind:
		return message.Thinking{Text: p.s[0], Signature: p.s[1]}, nil
	case callKind:
		return message.ToolCall{ID: p.s[0], Name: p.s[1], Arguments: p.s[2]}, nil
	case mediaKind:
		if m, ok := p.medium(); ok {
			return m, nil
		}
	case opaqueKind:
	}
	return p.unknown(f)
}

// is reports whether part would return want.
func (p *piece) is(f *schema.Message, want message.Part) bool {
	switch w := want.(type) {
	case message.Text:
		return p.kind == textKind && w.Text == p.s[0]
	case message.Thinking:
		return p.kind == thinkingKind && w.Text == p.s[0] && w.Signature == p.s[1]
	case message.ToolCall:
		return p.kind == callKind && w.ID == p.s[0] && w.Name == p.s[1] && w.Arguments == p.s[2]
	case message.Media:
		return p.kind == mediaKind && p.isMedium(&w)
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

// The kinds of opaque parts: what their data is the JSON of.
const (
	kindMulti  = "eino.ChatMessagePart"
	kindInput  = "eino.MessageInputPart"
	kindOutput = "eino.MessageOutputPart"
)

// unknown returns a part of eino as it is written in JSON.
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
	case inReasoning, inContent, inCalls, behindAll:
	}
	data, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("%s %d, which has no place in a message of ours: %w", kind, p.i, err)
	}
	return message.Opaque{Kind: kind, Data: string(data)}, nil
}
