package tokens_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

func TestOpaqueBase64(t *testing.T) {
	t.Parallel()
	fill := make([]byte, 1_500_000)
	for i := range fill {
		fill[i] = byte(rand.IntN(256))
	}
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1000, 700))))
	encode := func(begin string) string { return base64.StdEncoding.EncodeToString(append([]byte(begin), fill...)) }
	m := tokens.Meter{}
	size := func(media message.Media) int { return m.Part(media) }
	of := func(data string) int { return m.Part(message.Opaque{Kind: "x", Data: data}) }
	shot := size(message.Media{Type: "image/png", Data: picture.String()})
	require.Less(t, shot, 1600)
	for name, c := range map[string]struct {
		data string
		want int
	}{
		"picture":    {`{"type":"image_generation_call","result":"` + encode(picture.String()) + `"}`, shot},
		"escaped":    {`{"result":"` + strings.ReplaceAll(encode(picture.String()), "/", `\/`) + `"}`, shot},
		"screen":     {`{"output":{"image_url":"data:image/png;base64,` + encode(picture.String()) + `"}}`, shot},
		"pdf":        {`{"source":{"data":"` + encode("%PDF-1.7") + `"},"citations":{"enabled":true}}`, size(message.Media{Type: "application/pdf"})},
		"video":      {`{"video_url":{"url":"data:video/mp4;base64,` + encode("") + `"}}`, size(message.Media{Type: "video/mp4"})},
		"unknown":    {`{"x":"` + encode("") + `"}`, size(message.Media{})},
		"two":        {`{"a":"` + encode("%PDF") + `","b":"` + encode("") + `"}`, size(message.Media{Type: "a/pdf"}) + size(message.Media{})},
		"encrypted":  {`{"encrypted_content": "` + encode("")[:16_000] + `"}`, 3_000},
		"words":      {`{"x":"` + strings.Repeat("A word or 2, ", 1000) + `"}`, 3_250},
		"hex":        {`{"x":"` + strings.Repeat("0123456789abcdef", 1000) + `"}`, 4_000},
		"short text": {`{"x":"` + encode("")[:1000] + `"}`, 250},
	} {
		require.InDelta(t, c.want, of(c.data), 30, name)
	}
}
