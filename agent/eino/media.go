package eino

import (
	"encoding/base64"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/message"
)

// media makes a piece one of media, unless it has both bytes and a URL, which
// ours cannot say. A type that is not given is a wildcard, so that an image is
// known as one.
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
	if p.s[1] == "" {
		p.kind = mediaKind
		return
	}
	if p.s[2] != "" {
		return
	}
	p.kind = mediaKind
	if of, in, ok := dataURL(p.s[1]); ok && (mime == "" || mime == of) {
		p.s[0], p.s[1], p.s[2] = of, "", in
	}
}

// dataURL takes apart a URL of the form data:image/png;base64,…, if it is one.
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

// medium returns the media of a piece. Base64 that is not written in the
// standard way is not ok: it would not come back as it was.
func (p *piece) medium() (message.Media, bool) {
	m := message.Media{Type: p.s[0], URL: p.s[1], Name: p.s[3]}
	if p.s[2] == "" {
		return m, true
	}
	data, err := base64.StdEncoding.DecodeString(p.s[2])
	if err != nil || !encodes(p.s[2], string(data)) {
		return message.Media{}, false
	}
	m.Data = string(data)
	return m, true
}

func (p *piece) isMedium(m *message.Media) bool {
	return m.Type == p.s[0] && m.URL == p.s[1] && m.Name == p.s[3] && encodes(p.s[2], m.Data)
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

// sort of media, as eino has them.
func partType(m message.Media) schema.ChatMessagePartType {
	switch sort, _, _ := strings.Cut(m.Type, "/"); sort {
	case "image":
		return schema.ChatMessagePartTypeImageURL
	case "audio":
		return schema.ChatMessagePartTypeAudioURL
	case "video":
		return schema.ChatMessagePartTypeVideoURL
	}
	return schema.ChatMessagePartTypeFileURL
}

// common returns the fields that all media of eino have.
func common(m message.Media) schema.MessagePartCommon {
	c := schema.MessagePartCommon{MIMEType: m.Type}
	if sort, sub, _ := strings.Cut(m.Type, "/"); sub == "*" && (sort == "image" || sort == "audio" || sort == "video") {
		c.MIMEType = ""
	}
	if m.URL != "" {
		c.URL = &m.URL
	}
	if m.Data != "" {
		data := base64.StdEncoding.EncodeToString([]byte(m.Data))
		c.Base64Data = &data
	}
	return c
}
