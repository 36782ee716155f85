package tokens

import (
	"encoding/base64"
	"encoding/binary"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Images says what an image costs by its size in pixels. There are three rules;
// of those that are set, the one that gives most counts. If none is, each image
// costs Unknown.
type Images struct {
	Unknown int // for an image whose size cannot be read

	// OpenAI: shrunk into 2048 by 2048 and to 768 on the short side, then cut
	// into tiles of 512 by 512. High detail is assumed.
	Base, PerTile int

	// OpenAI, small models: patches of 32 by 32, in thousandths of a token each.
	MilliPerPatch, MaxPatches int

	// Anthropic: width times height by PixelsPerToken, shrunk to LongEdge on the
	// long side, Max at most. A LongEdge or Max of 0 is no limit.
	PixelsPerToken, LongEdge, Max int
}

// Tokens returns what an image of this size costs. A width or height that is
// not positive is not known.
func (r Images) Tokens(width, height int) int {
	if width <= 0 || height <= 0 {
		return r.Unknown
	}
	w, h := int64(width), int64(height)
	n := max(r.tiles(w, h), r.patches(w, h), r.pixels(w, h))
	if n == 0 {
		return r.Unknown
	}
	return int(n)
}

func (r Images) tiles(w, h int64) int64 {
	if r.Base == 0 && r.PerTile == 0 {
		return 0
	}
	w, h = shrink(w, h, max(w, h), 2048)
	w, h = shrink(w, h, min(w, h), 768)
	return int64(r.Base) + int64(r.PerTile)*over(w, 512)*over(h, 512)
}

func (r Images) patches(w, h int64) int64 {
	if r.MilliPerPatch == 0 {
		return 0
	}
	n := over(w, 32) * over(h, 32)
	if r.MaxPatches > 0 {
		n = min(n, int64(r.MaxPatches))
	}
	return over(n*int64(r.MilliPerPatch), 1000)
}

func (r Images) pixels(w, h int64) int64 {
	if r.PixelsPerToken <= 0 {
		return 0
	}
	if r.LongEdge > 0 {
		w, h = shrink(w, h, max(w, h), int64(r.LongEdge))
	}
	n := over(w*h, int64(r.PixelsPerToken))
	if r.Max > 0 {
		n = min(n, int64(r.Max))
	}
	return n
}

// shrink scales an image down so that one of its sides has at most limit pixels.
func shrink(w, h, side, limit int64) (width, height int64) {
	if side <= limit {
		return w, h
	}
	return max(1, w*limit/side), max(1, h*limit/side)
}

// over divides and rounds up.
func over(n, by int64) int64 { return (n + by - 1) / by }

// pixels returns the size of an image, or zeros if its bytes are not here or
// are none of PNG, JPEG, GIF and WebP. Only the header is read.
func pixels(m message.Media) (width, height int) {
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
