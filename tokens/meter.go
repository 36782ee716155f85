package tokens

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Meter counts messages and requests: texts by its counter, what stands around
// them by its framing. The count of a message is the same wherever it stands, so
// it can be kept; the count of a request is their sum, but for thinking that the
// provider drops. The zero value is an estimate with a cautious framing. A Meter
// is a value, and safe for concurrent use.
type Meter struct {
	Counter Counter // nil: Estimate{}
	Framing Framing // zero: DefaultFraming
}

// MeterFor returns the meter of a family, with an estimate for a counter. For
// a family that is not known it returns the zero Meter and false.
func MeterFor(f Family) (m Meter, ok bool) {
	row, ok := find(f)
	if !ok {
		return Meter{}, false
	}
	return Meter{Counter: Estimate{rates: row.rates}, Framing: row.framing}, true
}

// Message counts one message: its frame, role and name, and all parts. Call
// names, ids and arguments count; a thinking part counts with its text, not
// with its signature; media never count by the length of their data.
//
// Thinking counts wherever the message stands, unless it never counts: a message
// does not know its turn.
func (m Meter) Message(msg message.Message) int {
	complete(&m)
	return ofMessage(&m, &msg)
}

// Part counts one part of a message. A nil part counts nothing, a part of
// which only its provider knows what it is a token for each four bytes.
func (m Meter) Part(p message.Part) int {
	complete(&m)
	return ofPart(&m, p)
}

// Tools counts tool definitions by name, description and schema. A schema
// counts as JSON without white space, which takes about a quarter more tokens
// than what providers make of it, so this is a safe upper bound.
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

// Once counts what a request has beside its messages and tools.
func (m Meter) Once() int {
	complete(&m)
	return m.Framing.PerRequest
}

// Request counts all that one model call sends. It is the sum of [Meter.Once],
// [Meter.Tools] and [Meter.Message] of each message. With [ThinkingInTurn] it is
// less than that by the thinking that stands before the last user message.
func (m Meter) Request(msgs []message.Message, tools []message.ToolDef) int {
	complete(&m)
	n := m.Framing.PerRequest + m.Tools(tools)
	for i := range msgs {
		n += ofMessage(&m, &msgs[i])
	}
	if m.Framing.Thinking == ThinkingInTurn {
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
				n += m.Counter.Count(t.Text)
			}
		}
	}
	return n
}

// complete puts the defaults in the place of what is not set.
func complete(m *Meter) {
	if m.Counter == nil {
		m.Counter = Estimate{}
	}
	if m.Framing.PerMessage == 0 { // rather than compare all of it for each message
		m.Framing = m.Framing.known()
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
		if m.Framing.Thinking == ThinkingNever {
			return 0
		}
		return m.Counter.Count(p.Text)
	case message.Media:
		return ofMedia(m, p)
	case message.ToolCall:
		return m.Counter.Count(p.ID) + m.Counter.Count(p.Name) + m.Counter.Count(p.Arguments)
	case message.ToolResult:
		return m.Counter.Count(p.CallID) + m.Counter.Count(p.Text) + ofPart(m, p.Content)
	case message.Opaque:
		return Chars4{}.Count(p.Data)
	}
	return 0
}

// ofMedia counts by type. What does not say its type counts as an image, which
// it mostly is.
func ofMedia(m *Meter, p message.Media) int {
	mime, _, _ := strings.Cut(strings.ToLower(p.Type), ";")
	kind, _, _ := strings.Cut(mime, "/")
	switch {
	case p.Data != "" && (kind == "text" || mime == "application/json"):
		return m.Counter.Count(p.Data)
	case kind == "image", kind == "":
		width, height, _ := p.Dimensions()
		return m.Framing.Images.Tokens(width, height)
	case kind == "audio", kind == "video":
		return m.Framing.PerAudio
	}
	return m.Framing.PerDocument
}

// compact takes the white space out of a schema. What is no JSON stays as it is.
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

// Message is [Meter.Message] with the default framing.
func Message(c Counter, m message.Message) int { return Meter{Counter: c}.Message(m) }

// Part is [Meter.Part] with the default framing.
func Part(c Counter, p message.Part) int { return Meter{Counter: c}.Part(p) }

// Tools is [Meter.Tools] with the default framing.
func Tools(c Counter, tools []message.ToolDef) int { return Meter{Counter: c}.Tools(tools) }

// Request is [Meter.Request] with the default framing.
func Request(c Counter, msgs []message.Message, tools []message.ToolDef) int {
	return Meter{Counter: c}.Request(msgs, tools)
}
