package tokens

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// Meter counts messages and requests: texts by its counter, everything else by its
// framing. The count of a message does not depend on its position, so it can be
// stored; the count of a request is their sum, less the thinking that the provider
// drops. The zero value is an estimate with the default framing. A Meter is safe for
// concurrent use.
type Meter struct {
	Counter Counter // nil: Estimate{}
	Framing Framing // zero: DefaultFraming
}

// Message counts one message: its frame, role and name, and all parts. The names,
// IDs and arguments of calls count; a thinking part counts by its text, or, if the
// provider has left out the text, by its signature; media do not count by the length of
// their data.
//
// Thinking counts in full, unless all of it is free: the count of a single message does
// not depend on its turn.
func (m Meter) Message(msg message.Message) int {
	complete(&m)
	return ofMessage(&m, &msg)
}

// Part counts one part of a message. A nil part has 0 tokens, an opaque one a token
// for every four bytes, but a text of more than 1 kB of base64 in it what a medium of its
// kind has.
func (m Meter) Part(p message.Part) int {
	complete(&m)
	return ofPart(&m, p)
}

// Tools counts tool definitions by name, description and schema. A schema counts as
// JSON without white space. That is about a quarter more than providers charge, so
// the result is an upper bound.
func (m Meter) Tools(tools []message.ToolDef) int {
	if len(tools) == 0 {
		return 0
	}
	complete(&m)
	n := m.Framing.ToolsOnce
	for _, t := range tools {
		n += m.Framing.PerTool + m.Counter.Count(t.Name) + m.Counter.Count(t.Description) + m.Counter.Count(compact(t.Parameters))
	}
	return n
}

// Request counts everything that one model call sends: the sum of Framing.PerRequest,
// [Meter.Tools] and [Meter.Message] of each message. If old thinking is free, that before
// the last user message is not counted. Without messages and tools it is what each request has
// in addition to them.
func (m Meter) Request(msgs []message.Message, tools []message.ToolDef) int {
	complete(&m)
	n := m.Framing.PerRequest + m.Tools(tools)
	for i := range msgs {
		n += ofMessage(&m, &msgs[i])
	}
	if m.Framing.OldThinkingFree && !m.Framing.ThinkingFree {
		n -= m.dropped(msgs)
	}
	return n
}

// dropped counts the thinking of all turns but the newest.
func (m Meter) dropped(msgs []message.Message) int {
	turn := len(msgs) - 1
	for turn >= 0 && msgs[turn].Role != message.RoleUser {
		turn--
	}
	n := 0
	for i := range turn {
		for _, p := range msgs[i].Parts {
			if t, ok := p.(message.Thinking); ok {
				n += ofThinking(&m, t)
			}
		}
	}
	return n
}

// complete replaces zero fields by their defaults.
func complete(m *Meter) {
	if m.Counter == nil {
		m.Counter = Estimate{}
	}
	if m.Framing.PerMessage == 0 { // faster than comparing all fields for each message
		m.Framing = m.Framing.orDefault()
	}
}

func ofMessage(m *Meter, msg *message.Message) int {
	n := m.Framing.PerMessage
	if msg.Name != "" {
		n += m.Framing.PerName + m.Counter.Count(msg.Name)
	}
	for _, p := range msg.Parts {
		n += ofPart(m, p)
	}
	return n
}

func ofPart(m *Meter, p message.Part) int {
	switch p := p.(type) {
	case nil:
		return 0
	case message.Text:
		return m.Counter.Count(p.Text)
	case message.Thinking:
		if m.Framing.ThinkingFree {
			return 0
		}
		return ofThinking(m, p)
	case message.Media:
		return ofMedia(m, p)
	case message.ToolCall:
		return m.Counter.Count(p.ID) + m.Counter.Count(p.Name) + m.Counter.Count(p.Arguments)
	case message.ToolResult:
		return m.Counter.Count(p.CallID) + m.Counter.Count(p.Text) + ofPart(m, p.Content)
	case message.Opaque:
		return ofOpaque(m, p.Data)
	}
	return 0
}

// ofThinking counts the signature of thinking without text: it is the encrypted
// thinking, which the provider reads and bills. Four characters of its base64 are three
// bytes, and a token has about four bytes. What is known of this ratio is one sample of
// traffic (github.com/headroomlabs-ai/headroom/pull/3482).
func ofThinking(m *Meter, p message.Thinking) int {
	if p.Text == "" {
		return (3*len(p.Signature) + 15) / 16
	}
	return m.Counter.Count(p.Text)
}

// ofMedia counts by type. Media without a type count as an image, which they mostly
// are.
func ofMedia(m *Meter, p message.Media) int {
	mime, _, _ := strings.Cut(strings.ToLower(p.Type), ";")
	kind, _, _ := strings.Cut(mime, "/")
	switch {
	case p.Data != "" && (kind == "text" || mime == "application/json"):
		return m.Counter.Count(p.Data)
	case kind == "image", kind == "":
		width, height, _ := message.Internals(inside.Key{}).Dimensions(p)
		return m.Framing.Images.cost(width, height)
	case kind == "audio", kind == "video":
		return m.Framing.PerAudio
	}
	return m.Framing.PerDocument
}

// compact removes the white space from a schema. Text that is not JSON is returned
// unchanged.
func compact(schema string) string {
	if !strings.ContainsAny(schema, " \t\n\r") {
		return schema
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(schema)); err != nil {
		return schema
	}
	return b.String()
}
