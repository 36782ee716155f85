package tokens_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

func TestImages(t *testing.T) {
	t.Parallel()
	gpt4o, _ := framingOf("o200k_base")
	mini, _ := framingOf("gpt-4.1-mini")
	claude, _ := framingOf("claude-4")
	claude47, _ := framingOf("claude-4.7")
	flat := tokens.Images{Unknown: 7}
	tests := []struct {
		name          string
		rule          tokens.Images
		width, height int
		want          int
	}{
		{"one tile", gpt4o.Images, 128, 64, 85 + 170},
		{"a square is four tiles", gpt4o.Images, 1024, 1024, 85 + 4*170},
		{"shrunk into 2048, then to 768", gpt4o.Images, 2048, 4096, 85 + 6*170},
		{"a strip", gpt4o.Images, 5000, 10, 85 + 4*170},
		{"a strip that would vanish", gpt4o.Images, 1 << 30, 1, 85 + 4*170},
		{"patches", mini.Images, 320, 64, 33},         // 20 patches at 1.62
		{"a part of a patch", mini.Images, 33, 32, 4}, // 2 at 1.62
		{"all patches", mini.Images, 4000, 4000, 2489},
		{"pixels", claude.Images, 1000, 1000, 1334},
		{"a long edge", claude.Images, 3136, 750, 784},
		{"no more than that", claude.Images, 4000, 4000, 1600},
		{"newer ones see more", claude47.Images, 4000, 4000, 4784},
		{"the dearer of two rules, small", tokens.DefaultFraming().Images, 100, 100, 85 + 170},
		{"the dearer of two rules, large", tokens.DefaultFraming().Images, 1092, 1092, 1590},
		{"no rule", flat, 100, 100, 7},
		{"no width", gpt4o.Images, 0, 100, 1600},
		{"no height", claude.Images, 100, -1, 1600},
		{"largest number", claude.Images, 1<<31 - 1, 1<<31 - 1, 1600},
		{"the zero rule", tokens.Images{}, 100, 100, 0},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.rule.Tokens(tt.width, tt.height), tt.name)
	}
}

// webpOf returns the first bytes of a WebP image.
func webpOf(chunk string, at int, b ...byte) string {
	data := make([]byte, 30)
	copy(data, "RIFF\x00\x00\x00\x00WEBP"+chunk)
	copy(data[at:], b)
	return string(data)
}

func TestImageSizeIsRead(t *testing.T) {
	t.Parallel()
	encode := func(write func(*bytes.Buffer, image.Image) error) string {
		var b bytes.Buffer
		require.NoError(t, write(&b, image.NewGray(image.Rect(0, 0, 300, 200))))
		return b.String()
	}
	pngData := encode(func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	files := map[string]string{
		"png":          pngData,
		"jpeg":         encode(func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }),
		"gif":          encode(func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }),
		"webp, lossy":  webpOf("VP8 ", 23, 0x9D, 0x01, 0x2A, 300&0xFF, 300>>8, 200, 0),
		"webp, exact":  webpOf("VP8L", 20, 0x2F, 299&0xFF, 299>>8|(199&3)<<6, 199>>2, 0),
		"webp, extras": webpOf("VP8X", 24, 299&0xFF, 299>>8, 0, 199, 0, 0),
	}
	// A token a pixel column, so that the count tells the size.
	m := tokens.Meter{Counter: letters{}, Framing: tokens.Framing{Images: tokens.Images{Unknown: 1, PixelsPerToken: 200}}}
	for name, data := range files {
		require.Equal(t, 300, m.Part(message.Media{Type: "image/any", Data: data}), name)
		require.Equal(t, 300, m.Part(message.Media{Data: data}), "%s without a type", name)
		url := "data:image/any;base64," + base64.StdEncoding.EncodeToString([]byte(data))
		require.Equal(t, 300, m.Part(message.Media{Type: "image/any", URL: url}), "%s in an address", name)
		for n := range 20 {
			require.Equal(t, 1, m.Part(message.Media{Data: data[:n]}), "%s cut after %d bytes", name, n)
		}
	}
	for _, bad := range []message.Media{
		{},
		{Type: "image/png", Data: "no image"},
		{Type: "image/png", Data: pngData[:16] + strings.Repeat("\xff", 100)},
		{Type: "image/webp", Data: webpOf("VP8 ", 23)},
		{Type: "image/webp", Data: webpOf("VP8L", 20)},
		{Type: "image/webp", Data: webpOf("ALPH", 20)},
		{URL: "https://example.com/a.png"},
		{URL: "data:image/png,raw"},
		{URL: "data:image/png;base64,***"},
	} {
		require.Equal(t, 1, m.Part(bad), "%.60v", fmt.Sprintf("%q", bad))
	}
}
