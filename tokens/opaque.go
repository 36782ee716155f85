package tokens

import (
	"encoding/base64"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// ofOpaque counts the JSON of an opaque part: a token for every four bytes, but for each long text of base64 what a medium of
// its kind costs, or if it is what the provider has encrypted, what thinking of that length does.
func ofOpaque(m *Meter, data string) int {
	if len(data) < longest {
		return Chars4.Count(data)
	}
	n, name, last := 0, "", ""
	for text := range strings.SplitSeq(data, `"`) { // an escaped quote is none of base64
		medium, ok := asMedium(text)
		switch {
		case !ok:
			n += 4 * (len(text) + 1)
		case strings.Contains(name, "encrypted") || strings.Contains(name, "ignature"):
			n += 16 * ofThinking(m, message.Thinking{Signature: text})
		default:
			n += 16 * ofMedia(m, medium)
		}
		name, last = last, text
	}
	return (n + 15) / 16
}

// longest is how many bytes a text may have that is counted as text, whatever it is.
const longest = 1 << 10

// asMedium returns the medium that a text is, if it is base64 or a data URL. Of the bytes it has the first ones, in which its size
// is.
func asMedium(text string) (m message.Media, ok bool) {
	if len(text) <= longest {
		return m, false
	}
	encoded := text
	if kind, rest, isURL := strings.Cut(text, ";base64,"); isURL {
		m.Type = strings.TrimPrefix(kind, "data:")
		encoded = rest
	}
	if !isBase64(encoded[:min(len(encoded), longest)]) || !isBase64(encoded[len(encoded)/2:min(len(encoded), len(encoded)/2+longest)]) {
		return m, false
	}
	const header = 64 << 10
	encoded = strings.ReplaceAll(encoded[:min(len(encoded), header)], `\/`, "/")
	data, _ := base64.StdEncoding.DecodeString(encoded[:len(encoded)/4*4]) // if it is not valid, the bytes before the fault
	m.Data = string(data)
	if m.Type == "" {
		m.Type = typeOf(m.Data)
	}
	return m, true
}

// isBase64 reports whether a text has nothing but base64, with capitals, small letters and digits, as words or hex have not.
func isBase64(text string) bool {
	var seen [beyond + 1]bool
	for i := range len(text) {
		c := text[i]
		if kind := class[c]; kind == mark && strings.IndexByte(`+/=-_\`, c) < 0 || kind == space || kind == newline || kind == beyond {
			return false
		}
		seen[class[c]] = true
	}
	return seen[lower] && seen[upper] && seen[digit]
}

// typeOf returns the type of the medium that begins with these bytes; "": an image, which most are.
func typeOf(data string) string {
	for _, t := range [...]struct{ at, magic, is string }{
		{"", "%PDF", "application/pdf"},
		{"", "PK\x03\x04", "application/zip"},
		{"....", "ftyp", "video/mp4"},
		{"", "\x1aE\xdf\xa3", "video/webm"},
		{"", "ID3", "audio/mpeg"},
		{"", "\xff\xfb", "audio/mpeg"},
		{"", "OggS", "audio/ogg"},
		{"........", "WAVE", "audio/wav"},
	} {
		if len(data) > len(t.at) && strings.HasPrefix(data[len(t.at):], t.magic) {
			return t.is
		}
	}
	return ""
}
