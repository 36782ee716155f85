package message_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

func TestLimitsOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rules  message.Rules
		window int
		want   message.Limits
	}{
		{0, 0, message.Limits{}},
		{message.Unconfirmed | message.Prefill, 0, message.Limits{}},
		{message.Anthropic, 200_000, message.Limits{Bytes: 32_000_000, Media: 100, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Anthropic, 1_000_000, message.Limits{Bytes: 32_000_000, Media: 600, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Gemini, 1_000_000, message.Limits{Bytes: 100_000_000, Images: 3600, DocumentBytes: 66_666_664}},
		{message.Gemini | message.Unconfirmed, 0, message.Limits{Bytes: 20_000_000, Images: 3600, DocumentBytes: 66_666_664}},
		{message.Portable, 1_000_000, message.Limits{
			Bytes: 20_000_000, Images: 20, Media: 20, Documents: 5, AllDocumentBytes: 66_666_664,
			ImageBytes: 5_000_000, ImageSide: 8000, ManyImages: 20, ManySide: 2000, DocumentBytes: 6_000_000,
		}},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.rules.Limits(tt.window), "%v with a window of %d", tt.rules, tt.window)
	}
}

func TestLimitSheet(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range message.LimitSheet() {
		name := fmt.Sprintf("%+v of %v", e.Limits, e.By|e.Maybe)
		require.NotEmpty(t, e.Source, name)
		require.NotContains(t, e.Source, "|", "%s: it would break the table", name)
		require.NotZero(t, e.Limits, name)
		require.NotZero(t, e.By|e.Maybe, name)
		require.Zero(t, e.By&e.Maybe, "%s: who has it is not only said to", name)
		require.Equal(t, e.Limits.ManySide > 0, e.Limits.ManyImages > 0, name)
		for _, f := range fieldsOf(e.Limits) {
			require.Positive(t, f.most, name)
			key := fmt.Sprintf("%s %v %v %d", f.name, e.By, e.Maybe, e.Window)
			require.False(t, seen[key], "%s is there twice", name)
			seen[key] = true
		}
	}
	for _, r := range single {
		require.Positive(t, r.Limits(0).Bytes, "%v has no limit of bytes", r)
	}
}

// pngOf returns the first bytes of a PNG image of this size.
func pngOf(width, height uint32) string {
	head := []byte("IHDR")
	head = binary.BigEndian.AppendUint32(head, width)
	head = binary.BigEndian.AppendUint32(head, height)
	head = append(head, 8, 0, 0, 0, 0) // 8 bits of grey
	b := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), uint32(len(head)-4))
	b = append(b, head...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head)))
}

// webpOf returns the first bytes of a WebP image.
func webpOf(chunk string, at int, b ...byte) string {
	data := make([]byte, 30)
	copy(data, "RIFF\x00\x00\x00\x00WEBP"+chunk)
	copy(data[at:], b)
	return string(data)
}

func TestDimensions(t *testing.T) {
	t.Parallel()
	encode := func(write func(*bytes.Buffer, image.Image) error) string {
		var b bytes.Buffer
		require.NoError(t, write(&b, image.NewGray(image.Rect(0, 0, 300, 200))))
		return b.String()
	}
	files := map[string]string{
		"png":          encode(func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }),
		"png, cut":     pngOf(300, 200),
		"jpeg":         encode(func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }),
		"gif":          encode(func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }),
		"webp, lossy":  webpOf("VP8 ", 23, 0x9D, 0x01, 0x2A, 300&0xFF, 300>>8, 200, 0),
		"webp, exact":  webpOf("VP8L", 20, 0x2F, 299&0xFF, 299>>8|(199&3)<<6, 199>>2, 0),
		"webp, extras": webpOf("VP8X", 24, 299&0xFF, 299>>8, 0, 199, 0, 0),
	}
	for name, data := range files {
		address := "data:image/any;base64," + base64.StdEncoding.EncodeToString([]byte(data))
		for _, m := range []message.Media{
			{Type: "image/any", Data: data},
			{Data: data},
			{Type: "text/plain", Data: data}, // the bytes tell what it is
			{Data: data, URL: "https://example.com/a.png"},
			{URL: address},
		} {
			width, height, ok := m.Dimensions()
			require.Equal(t, []any{300, 200, true}, []any{width, height, ok}, "%s, type %q, url %.30q", name, m.Type, m.URL)
		}
		for n := range 20 {
			_, _, ok := message.Media{Data: data[:n]}.Dimensions()
			require.False(t, ok, "%s cut after %d bytes", name, n)
		}
	}
}

func FuzzDimensions(f *testing.F) {
	for _, data := range []string{
		pngOf(300, 200), pngOf(0, 1), "\xff\xd8\xff\xc0\x00\x11", "GIF89a\xff\xff\xff\xff", webpOf("VP8X", 24, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), "%PDF-1.7",
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		width, height, ok := message.Media{Data: data}.Dimensions()
		require.Equal(t, ok, width > 0 && height > 0, "%d by %d", width, height)
		w, h, same := message.Media{URL: "data:;base64," + base64.StdEncoding.EncodeToString([]byte(data))}.Dimensions()
		require.Equal(t, []any{width, height, ok}, []any{w, h, same}, "in an address it is another size")
		w, h, same = message.Media{URL: "data:;base64," + strings.Repeat("\n", 3) + base64.StdEncoding.EncodeToString([]byte(data))}.Dimensions()
		require.Equal(t, []any{width, height, ok}, []any{w, h, same}, "with line ends it is another size")
	})
}
