package payload_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
)

// quoted returns a text as JSON that escapes what it must.
func quoted(t require.TestingT, text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(text))
	return strings.TrimSuffix(b.String(), "\n")
}

func TestLoadOfText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "plain text of several words", "12345678", "1234567\"", "\n", "\\", "\x00", "\x7f", "a\tb\rc", "<&>",
		"你好，世界", "né", "👩‍💻", "\u2028\u2029", "\xff", "1234567\xe4\xbd", "\xed\xa0\x80", strings.Repeat("\x01", 100), strings.Repeat(`"`, 33),
	} {
		requireTextLoad(t, text)
	}
}

func FuzzLoadOfText(f *testing.F) {
	f.Add("a\x00b\"\\\n\u2028\xff你好 and more")
	f.Fuzz(func(t *testing.T, text string) { requireTextLoad(t, text) })
}

// requireTextLoad checks that a text counts as what its JSON takes. Control
// characters may count as \u0008 where \b would do.
func requireTextLoad(t require.TestingT, text string) {
	empty := payload.Of(new(message.User(""))).Bytes
	got := payload.Of(new(message.User(text))).Bytes - empty
	want := len(quoted(t, text)) - len(`""`)
	require.GreaterOrEqual(t, got, want, "%q", text)
	require.LessOrEqual(t, got, want+4*strings.Count(text, "\b")+4*strings.Count(text, "\f"), "%q", text)
	bound := payload.Bound(new(message.User(text))).Bytes
	require.GreaterOrEqual(t, bound-empty, got, "the bound of %q", text)
	require.LessOrEqual(t, bound-empty, 6*len(text)+64, "the bound of %q", text)
}

func TestLoadOfMedia(t *testing.T) {
	t.Parallel()
	image, sound := pngOf(300, 200), strings.Repeat("x", 1000)
	sent := base64.StdEncoding.EncodedLen(len(image))
	document := base64.StdEncoding.EncodedLen(len(sound))
	tests := map[string]struct {
		in   message.Part
		want payload.Load // but for bytes
	}{
		"text":             {message.Text{Text: "x"}, payload.Load{}},
		"opaque":           {message.Opaque{Kind: "image", Data: "{}"}, payload.Load{}},
		"image":            {message.Media{Type: "image/png", Data: image}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"IMAGE":            {message.Media{Type: "IMAGE/PNG", Data: image}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"no type":          {message.Media{Data: image}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"not readable":     {message.Media{Type: "image/heic", Data: sound}, payload.Load{Images: 1, ImageBytes: document}},
		"no data":          {message.Media{Type: "image/png"}, payload.Load{Images: 1}},
		"elsewhere":        {message.Media{Type: "image/*", URL: "https://example.com/a.png"}, payload.Load{Images: 1}},
		"in an address":    {message.Media{Type: "image/png", URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(image))}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"sound":            {message.Media{Type: "audio/wav", Data: sound}, payload.Load{}},
		"video":            {message.Media{Type: "video/mp4", URL: "u"}, payload.Load{}},
		"document":         {message.Media{Type: "application/pdf", Data: sound}, payload.Load{Documents: 1, DocumentBytes: document, AllDocumentBytes: document}},
		"a text as a file": {message.Media{Type: "text/csv", Data: sound}, payload.Load{Documents: 1, DocumentBytes: document, AllDocumentBytes: document}},
		"in a result":      {message.ToolResult{CallID: "a", Content: message.Media{Type: "image/png", Data: image}}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"nil":              {nil, payload.Load{}},
		"a pointer":        {&message.Media{Type: "image/png"}, payload.Load{}},
	}
	for name, tt := range tests {
		m := message.Message{Role: message.RoleUser, Parts: []message.Part{tt.in}}
		got, bound := payload.Of(&m), payload.Bound(&m)
		require.GreaterOrEqual(t, got.Bytes, got.ImageBytes+got.DocumentBytes, name)
		require.GreaterOrEqual(t, bound.Bytes, got.Bytes, "%s: the bound", name)
		got.Bytes, bound.Bytes = 0, 0
		require.Equal(t, tt.want, got, name)
		require.Equal(t, tt.want, bound, "%s: the bound", name)
	}
}

func TestLoadOfBrokenMessages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var got, bound payload.Load
		for _, m := range anyMessages().Draw(t, "history") {
			got, bound = got.Add(payload.Of(&m)), bound.Add(payload.Bound(&m))
		}
		require.GreaterOrEqual(t, bound.Bytes, got.Bytes)
		bound.Bytes = got.Bytes
		require.Equal(t, got, bound, "only the bytes are a bound")
	})
}
