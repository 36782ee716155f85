package payload

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// Load is the size of one or more messages in a request. [message.Limits] limit it.
type Load struct {
	Bytes            int // of JSON
	Images           int
	Documents        int // media other than images, sounds and videos
	AllDocumentBytes int // of all documents, in base64

	// Of the largest one: its size in base64, 0 for media at a URL, and the longer
	// side of an image in pixels, 0 if it is unknown.
	ImageBytes    int
	ImageSide     int
	DocumentBytes int
}

// The maximum size of JSON without the texts: names of fields, brackets, and other fields
// of providers.
const (
	frameOfMessage = 64
	frameOfPart    = 128
)

// Of returns the load of a message. Bytes is the size of its JSON with texts escaped and
// media in base64, or slightly more: each message and each part counts some bytes for its
// frame. This is for encoders that escape only what JSON requires; encoding/json also
// escapes <, > and & by default. An [message.Opaque] part counts only in Bytes, even if
// it contains an image.
func Of(m *message.Message) (l Load) {
	addMessage(&l, m, true)
	return l
}

// Bound is [Of] without reading every byte: Bytes is up to six times as large, the size of
// texts in which every byte is escaped.
func Bound(m *message.Message) (l Load) {
	addMessage(&l, m, false)
	return l
}

// OfTools returns the load of definitions of tools, which have only Bytes.
func OfTools(tools ...message.ToolDef) (sum Load) {
	for _, d := range tools {
		sum.Bytes += frameOfPart + escaped(d.Name) + escaped(d.Description) + len(d.Parameters)
	}
	return sum
}

// Add returns the load of l and o together.
func (l Load) Add(o Load) Load {
	return Load{
		Bytes:            l.Bytes + o.Bytes,
		Images:           l.Images + o.Images,
		Documents:        l.Documents + o.Documents,
		AllDocumentBytes: l.AllDocumentBytes + o.AllDocumentBytes,
		ImageBytes:       max(l.ImageBytes, o.ImageBytes),
		ImageSide:        max(l.ImageSide, o.ImageSide),
		DocumentBytes:    max(l.DocumentBytes, o.DocumentBytes),
	}
}

// addMessage adds a message with the exact size of its texts, or with the bound.
func addMessage(l *Load, m *message.Message, exact bool) {
	l.Bytes += frameOfMessage + inJSON(string(m.Role), exact) + inJSON(m.Name, exact)
	for _, p := range m.Parts {
		addPart(l, p, exact)
	}
}

func addPart(l *Load, p message.Part, exact bool) {
	l.Bytes += frameOfPart
	switch p := p.(type) {
	case message.Text:
		l.Bytes += inJSON(p.Text, exact)
	case message.Thinking:
		l.Bytes += inJSON(p.Text, exact) + inJSON(p.Signature, exact)
	case message.Media:
		*l = l.Add(ofMedia(p))
		l.Bytes += inJSON(p.Type, exact) + inJSON(p.Name, exact)
		l.Bytes += max(inJSON(p.URL, exact), base64.StdEncoding.EncodedLen(len(p.Data)))
	case message.ToolCall:
		l.Bytes += inJSON(p.ID, exact) + inJSON(p.Name, exact) + inJSON(p.Arguments, exact)
	case message.ToolResult:
		l.Bytes += inJSON(p.CallID, exact) + inJSON(p.Name, exact) + inJSON(p.Text, exact)
		if p.Content != nil {
			addPart(l, p.Content, exact)
		}
	case message.Opaque: // JSON already
		l.Bytes += len(p.Kind) + len(p.Data)
	}
}

// ofMedia returns the load of media without Bytes.
func ofMedia(m message.Media) Load {
	major, _, _ := strings.Cut(m.Type, "/")
	switch strings.ToLower(major) {
	case "audio", "video":
		return Load{}
	case "image", "": // media without a type are sent as an image
		width, height, _ := message.Internals(inside.Key{}).Dimensions(m)
		return Load{Images: 1, ImageBytes: sent(m), ImageSide: max(width, height)}
	}
	return Load{Documents: 1, DocumentBytes: sent(m), AllDocumentBytes: sent(m)}
}

// sent returns the size of media in base64; 0 if they are at a URL.
func sent(m message.Media) int {
	n := base64.StdEncoding.EncodedLen(len(m.Data))
	if strings.HasPrefix(m.URL, "data:") {
		_, data, _ := strings.Cut(m.URL, ",")
		n = max(n, len(data))
	}
	return n
}

// inJSON returns the size of a text in JSON, or its upper bound.
func inJSON(text string, exact bool) int {
	if exact {
		return escaped(text)
	}
	return 6*len(text) + len(`""`)
}

// escaped returns the size of a text in JSON, with its quotes. A byte that is not UTF-8
// counts as an escaped replacement character.
func escaped(text string) int {
	n := len(text) + len(`""`)
	for i := 0; i < len(text); {
		end := min(i+8, len(text))
		if end == i+8 && plainEight(text[i:end]) {
			i = end
			continue
		}
		for i < end {
			if c := text[i]; c < utf8.RuneSelf {
				n += int(escapes[c])
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				n += len(`\ufffd`) - 1
			case r == '\u2028', r == '\u2029': // line ends in JavaScript
				n += len(`\u2028`) - size
			}
			i += size
		}
	}
	return n
}

// escapes has the size of an ASCII character in JSON, minus 1.
var escapes = func() (more [utf8.RuneSelf]uint8) {
	for c := range ' ' {
		more[c] = uint8(len(`\u0000`) - 1)
	}
	for _, c := range "\"\\\n\r\t" {
		more[c] = uint8(len(`\n`) - 1)
	}
	return more
}()

// plainEight reports whether eight bytes are ASCII that is not escaped. It checks all of
// them at once, since most of the time is spent here.
func plainEight(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	control := (w - ones*' ') & ^w
	quote := w ^ ones*'"'
	quote = (quote - ones) & ^quote
	slash := w ^ ones*'\\'
	slash = (slash - ones) & ^slash
	return (w|control|quote|slash)&highs == 0
}
