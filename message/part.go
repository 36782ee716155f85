package message

import (
	"encoding/base64"
	"encoding/binary"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
)

// Part is a part of a message: a [Text], [Thinking], [Media], [ToolCall], [ToolResult] or
// [Opaque]. Other types are invalid, including pointers to these; [Check] reports them.
// Parts contain only strings, so == compares their content.
//
//sumtype:decl
type Part interface{ part() }

// Text is a text.
type Text struct {
	Text string
}

// Thinking is reasoning of the model. Providers that sign it accept it only unchanged, so
// it is passed on completely or left out completely.
type Thinking struct {
	Text      string // "" if the provider encrypts it
	Signature string // the provider's signature, or the encrypted content; "": not signed
}

// Media is an image, a sound, a video or a document.
type Media struct {
	Type string // MIME type, such as "image/png"
	URL  string // "": the medium is in Data
	Data string // the bytes themselves, not base64
	Name string // of the file; "": unknown
}

// ToolCall is a request of the model to run a tool.
type ToolCall struct {
	ID        string // the ID that its result has, too
	Name      string // of the tool
	Arguments string // a JSON object, as the model wrote it
}

// ToolResult is the result of a tool, or a piece of it: a result of several pieces is
// several parts with the same CallID.
type ToolResult struct {
	CallID  string
	Name    string // of the tool; "": the name in the call
	Text    string
	Content Part // a [Media] or [Opaque] instead of Text; nil: Text
	Error   bool // the tool failed, and Text is the error
}

// Opaque is a part of a type that only its provider knows. It is passed on unchanged.
type Opaque struct {
	Kind string // the provider's name for the type
	Data string // the JSON of the provider
}

func (Text) part()       {}
func (Thinking) part()   {}
func (Media) part()      {}
func (ToolCall) part()   {}
func (ToolResult) part() {}
func (Opaque) part()     {}

// knownPart is documented at internals.KnownPart.
func knownPart(p Part) bool {
	switch p := p.(type) {
	case ToolResult:
		return p.Content == nil || knownPart(p.Content)
	case Text, Thinking, Media, ToolCall, Opaque:
		return true
	}
	return false
}

// dimensions is documented at internals.Dimensions.
func (m Media) dimensions() (width, height int, ok bool) {
	width, height = m.header()
	if width <= 0 || height <= 0 {
		return 0, 0, false
	}
	return width, height, true
}

func (m Media) header() (width, height int) {
	if m.Data != "" {
		return header(strings.NewReader(m.Data), m.Data[:min(len(m.Data), webpHeader)])
	}
	if !strings.HasPrefix(m.URL, "data:") {
		return 0, 0
	}
	_, encoded, ok := strings.Cut(m.URL, ";base64,")
	if !ok {
		return 0, 0
	}
	decoded := func() io.Reader { return base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)) }
	start := make([]byte, webpHeader)
	n, _ := io.ReadFull(decoded(), start) // if it is shorter, the bytes that there are
	return header(decoded(), string(start[:n]))
}

// header reads the size from an image that begins with start.
func header(r io.Reader, start string) (width, height int) {
	decode := png.DecodeConfig
	switch {
	case strings.HasPrefix(start, "\x89PNG\r\n\x1a\n"):
	case strings.HasPrefix(start, "\xff\xd8\xff"):
		decode = jpeg.DecodeConfig
	case strings.HasPrefix(start, "GIF8"):
		decode = gif.DecodeConfig
	default:
		return webp(start)
	}
	c, err := decode(r)
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// webpHeader is the number of bytes that contain the size of a WebP image.
const webpHeader = 30

// webp reads the size from the first bytes of a WebP image, for the three kinds of first
// chunk of RFC 9649.
func webp(start string) (width, height int) {
	if len(start) < webpHeader || start[:4] != "RIFF" || start[8:12] != "WEBP" {
		return 0, 0
	}
	b := []byte(start)
	switch start[12:16] {
	case "VP8X":
		uint24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return uint24(b[24:]) + 1, uint24(b[27:]) + 1
	case "VP8L":
		if b[20] != 0x2F {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1
	case "VP8 ":
		if start[23:26] != "\x9d\x01\x2a" {
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3FFF), int(binary.LittleEndian.Uint16(b[28:]) & 0x3FFF)
	}
	return 0, 0
}
