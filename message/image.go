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

// Dimensions returns the size of an image in pixels, as its header tells it.
// The size is not known, and ok is false, if the bytes are neither in Data nor
// in a data: URL, if they are none of PNG, JPEG, GIF and WebP, and if the header
// is broken or tells of no pixels. Nothing but the header is read, whatever Type
// says, so a header that lies is believed.
func (m Media) Dimensions() (width, height int, ok bool) {
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
	n, _ := io.ReadFull(decoded(), start) // a shorter one is judged by what it has
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

// webpHeader is how many bytes the size of a WebP image lies in.
const webpHeader = 30

// webp reads the size from the first bytes of a WebP image: RFC 9649, for its
// three kinds of first chunk.
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
