package message

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Load is what a message, or several, weigh in a request besides their tokens.
// It is what [Limits] bound.
type Load struct {
	Bytes            int // of JSON
	Images           int
	Documents        int // media that are neither image nor sound nor video
	AllDocumentBytes int // of all documents, as they are sent

	// Of the largest one: what it takes as it is sent, which is base64 for bytes
	// that are in the message and nothing for those that are elsewhere, and the
	// longer side of an image in pixels, 0 if it is not known.
	ImageBytes    int
	ImageSide     int
	DocumentBytes int
}

// What JSON takes beside the texts, at most: the names of fields, brackets, and
// what else a provider wants to have said.
const (
	frameOfMessage = 64
	frameOfPart    = 128
)

// Load returns what the message weighs. Bytes is at least what it takes in a
// request, with its texts escaped and media in base64, and near to it: each
// message and each part counts some more for its frame. It holds for writers
// that escape what JSON demands; those that escape more, as encoding/json does
// with <, > and & unless it is told not to, take more.
//
// What an [Opaque] part holds is counted in bytes alone: nobody knows whether it
// is an image.
//
// Each byte is looked at. [Message.LoadBound] looks at lengths alone.
func (m Message) Load() Load {
	var l Load
	addMessage(&l, &m, true)
	return l
}

// LoadBound returns what [Message.Load] does, but Bytes may be too large by a
// factor of six: what texts would take if each byte had to be escaped. Who sums
// the bounds of all messages, and finds that they are allowed, need not look
// closer.
func (m Message) LoadBound() Load {
	var l Load
	addMessage(&l, &m, false)
	return l
}

// Load returns what the definition of a tool weighs: its Bytes, as those of
// [Message.Load].
func (d ToolDef) Load() Load {
	return Load{Bytes: frameOfPart + escaped(d.Name) + escaped(d.Description) + len(d.Parameters)}
}

// Add returns the load of both.
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

// addMessage adds a message to a load, with its texts as they are or with their
// bounds.
func addMessage(l *Load, m *Message, exact bool) {
	l.Bytes += frameOfMessage + inJSON(string(m.Role), exact) + inJSON(m.Name, exact)
	for _, p := range m.Parts {
		addPart(l, p, exact)
	}
}

func addPart(l *Load, p Part, exact bool) {
	l.Bytes += frameOfPart
	switch p := p.(type) {
	case Text:
		l.Bytes += inJSON(p.Text, exact)
	case Thinking:
		l.Bytes += inJSON(p.Text, exact) + inJSON(p.Signature, exact)
	case Media:
		*l = l.Add(p.load())
		l.Bytes += inJSON(p.Type, exact) + inJSON(p.Name, exact)
		l.Bytes += max(inJSON(p.URL, exact), base64.StdEncoding.EncodedLen(len(p.Data)))
	case ToolCall:
		l.Bytes += inJSON(p.ID, exact) + inJSON(p.Name, exact) + inJSON(p.Arguments, exact)
	case ToolResult:
		l.Bytes += inJSON(p.CallID, exact) + inJSON(p.Name, exact) + inJSON(p.Text, exact)
		if p.Content != nil {
			addPart(l, p.Content, exact)
		}
	case Opaque: // JSON already
		l.Bytes += len(p.Kind) + len(p.Data)
	}
}

// load returns what media are, and how large.
func (m Media) load() Load {
	major, _, _ := strings.Cut(m.Type, "/")
	switch strings.ToLower(major) {
	case "audio", "video":
		return Load{}
	case "image", "": // what has no type is sent as an image
		width, height, _ := m.Dimensions()
		return Load{Images: 1, ImageBytes: m.sent(), ImageSide: max(width, height)}
	}
	return Load{Documents: 1, DocumentBytes: m.sent(), AllDocumentBytes: m.sent()}
}

// sent returns how many bytes of base64 media take in a request; 0 if they are
// elsewhere.
func (m Media) sent() int {
	n := base64.StdEncoding.EncodedLen(len(m.Data))
	if strings.HasPrefix(m.URL, "data:") {
		_, data, _ := strings.Cut(m.URL, ",")
		n = max(n, len(data))
	}
	return n
}

// inJSON returns how many bytes a text takes in JSON, or at most.
func inJSON(text string, exact bool) int {
	if exact {
		return escaped(text)
	}
	return 6*len(text) + len(`""`)
}

// escaped returns how many bytes a text takes in JSON, with its quotes. What is
// not UTF-8 counts as an escaped replacement character.
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
			case r == '\u2028', r == '\u2029': // JavaScript takes them for ends of lines
				n += len(`\u2028`) - size
			}
			i += size
		}
	}
	return n
}

// escapes is how many bytes more than one an ASCII character takes.
var escapes = func() (more [utf8.RuneSelf]uint8) {
	for c := range ' ' {
		more[c] = uint8(len(`\u0000`) - 1)
	}
	for _, c := range "\"\\\n\r\t" {
		more[c] = uint8(len(`\n`) - 1)
	}
	return more
}()

// plainEight reports whether eight bytes are ASCII that needs no escape. It
// looks at all of them at once, for this is where the time goes.
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
