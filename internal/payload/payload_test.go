package payload_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
)

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

// picture returns an image of this width, or a document, of so many bytes.
func picture(width, size int) message.Media {
	return message.Media{Type: "image/png", Data: pngOf(uint32(width), 1) + strings.Repeat("x", max(0, size-33))}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	type excesses = []payload.Excess
	says := func(parts ...message.Part) message.Message {
		return message.Message{Role: message.RoleUser, Parts: parts}
	}
	pdf := func(size int) message.Part {
		return message.Media{Type: "application/pdf", Data: strings.Repeat("x", size)}
	}
	many := make([]message.Part, 21)
	for i := range many {
		many[i] = picture(100, 100)
	}
	many[7] = picture(2001, 100)
	for _, tt := range []struct {
		name    string
		limits  message.Limits
		in      []message.Message
		besides payload.Load
		want    excesses
	}{
		{"no limits", message.Limits{}, []message.Message{says(picture(9000, 90_000))}, payload.Load{Bytes: 1 << 60}, nil},
		{"limits below zero", message.Limits{Bytes: -1, Images: -1, ManyImages: -1, ManySide: -1}, []message.Message{says(picture(9000, 90_000))}, payload.Load{}, nil},
		{"a long text", message.Limits{Bytes: 1000}, []message.Message{message.User(strings.Repeat("x", 1000))}, payload.Load{}, excesses{{payload.RequestBytes, -1, -1, 1202, 1000}}},
		{"a text that the bound is too coarse for", message.Limits{Bytes: 1000}, []message.Message{message.User(strings.Repeat("x", 500))}, payload.Load{}, nil},
		{"a text, and tools", message.Limits{Bytes: 1000}, []message.Message{message.User(strings.Repeat("x", 500))}, payload.Load{Bytes: 600}, excesses{{payload.RequestBytes, -1, -1, 1302, 1000}}},
		{"too many of both", message.Limits{Images: 1, Media: 1, Documents: 1}, []message.Message{says(picture(1, 0), pdf(1))}, payload.Load{}, excesses{{payload.RequestMedia, -1, -1, 2, 1}}},
		{"too many documents, too large together", message.Limits{Documents: 1, AllDocumentBytes: 8}, []message.Message{says(pdf(4), pdf(1))}, payload.Load{}, excesses{
			{payload.RequestDocuments, -1, -1, 2, 1}, {payload.AllDocumentBytes, -1, -1, 12, 8},
		}},
		{"a large document", message.Limits{DocumentBytes: 100}, []message.Message{message.User("x"), says(pdf(1), pdf(90))}, payload.Load{}, excesses{{payload.DocumentBytes, 1, 1, 120, 100}}},
		{"a large image, of many pixels", message.Limits{ImageBytes: 100, ImageSide: 100}, []message.Message{says(message.Text{}, picture(101, 90))}, payload.Load{}, excesses{
			{payload.ImageBytes, 0, 1, 120, 100}, {payload.ImageSide, 0, 1, 101, 100},
		}},
		{
			"in a result",
			message.Limits{ImageSide: 100},
			[]message.Message{{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: "a", Text: "x"}, message.ToolResult{CallID: "a", Content: picture(101, 0)},
			}}},
			payload.Load{},
			excesses{{payload.ImageSide, 0, 1, 101, 100}},
		},
		{"one of many", message.Anthropic.Limits(0), []message.Message{says(many...)}, payload.Load{}, excesses{{payload.ManyImageSide, 0, 7, 2001, 2000}}},
		{"one of not so many", message.Anthropic.Limits(0), []message.Message{says(many[1:]...)}, payload.Load{}, nil},
		{"one of many, and of more than any", message.Anthropic.Limits(0), []message.Message{says(append(slices.Clone(many[:20]), picture(8001, 0))...)}, payload.Load{}, excesses{
			{payload.ManyImageSide, 0, 7, 2001, 2000}, {payload.ImageSide, 0, 20, 8001, 8000},
		}},
		{"no header to read", message.Limits{ImageSide: 1}, []message.Message{says(message.Media{Type: "image/png", Data: "x"}, message.Media{Type: "image/png"}, message.Media{URL: "u"})}, payload.Load{}, nil},
		{"no image, though it looks like one", message.Limits{ImageSide: 1, Images: 1}, []message.Message{says(message.Media{Type: "video/mp4", Data: pngOf(9, 9)}, message.Media{Type: "audio/wav"})}, payload.Load{}, nil},
	} {
		total := tt.besides
		for _, m := range tt.in {
			total = total.Add(payload.Of(&m))
		}
		require.Equal(t, tt.want, payload.Broken(tt.limits, tt.in, tt.besides), tt.name)
		require.Equal(t, tt.want == nil, payload.Allow(tt.limits, total), tt.name)
	}
}

func TestExcessSays(t *testing.T) {
	t.Parallel()
	require.Equal(t, "the request: 130 images and documents, at most 100",
		payload.Excess{Limit: payload.RequestMedia, At: -1, Part: -1, Is: 130, Most: 100}.String())
	require.Equal(t, "message 3, part 1: 2400 pixels of one of many images, at most 2000",
		payload.Excess{Limit: payload.ManyImageSide, At: 3, Part: 1, Is: 2400, Most: 2000}.String())
}

// quoted returns a text as JSON that escapes what it must.
func quoted(t require.TestingT, text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(text))
	return strings.TrimSuffix(b.String(), "\n")
}

func FuzzLoadOfText(f *testing.F) {
	for _, text := range []string{
		"", "12345678", "1234567\"", "a\x00b\"\\\n\u2028\xff你好 and more", "\x7f", "a\tb\rc", "<&>", "👩‍💻", "1234567\xe4\xbd", "\xed\xa0\x80",
		strings.Repeat("\x01", 100), strings.Repeat(`"`, 33),
	} {
		f.Add(text)
	}
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

// Each text of a part weighs what it is.
func TestLoadOfParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	for want, parts := range map[int][2]message.Part{
		1000: {message.Opaque{Kind: "k"}, message.Opaque{Kind: "k", Data: long}},
		2000: {message.Thinking{}, message.Thinking{Text: long, Signature: long}},
		3000: {message.ToolCall{}, message.ToolCall{ID: long, Name: long, Arguments: long}},
		3001: {message.ToolResult{}, message.ToolResult{CallID: long, Name: long, Text: long + "x"}},
	} {
		empty, full := message.Assistant(parts[0]), message.Assistant(parts[1])
		require.Equal(t, want, payload.Of(&full).Bytes-payload.Of(&empty).Bytes)
		require.GreaterOrEqual(t, payload.Bound(&full).Bytes, payload.Of(&full).Bytes)
	}
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
		"image":         {message.Media{Type: "image/png", Data: image}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"no type":       {message.Media{Data: image}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"not readable":  {message.Media{Type: "image/heic", Data: sound}, payload.Load{Images: 1, ImageBytes: document}},
		"no data":       {message.Media{Type: "image/png"}, payload.Load{Images: 1}},
		"elsewhere":     {message.Media{Type: "image/*", URL: "https://example.com/a.png"}, payload.Load{Images: 1}},
		"in an address": {message.Media{Type: "image/png", URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(image))}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"sound":         {message.Media{Type: "audio/wav", Data: sound}, payload.Load{}},
		"document":      {message.Media{Type: "application/pdf", Data: sound}, payload.Load{Documents: 1, DocumentBytes: document, AllDocumentBytes: document}},
		"in a result":   {message.ToolResult{CallID: "a", Content: message.Media{Type: "image/png", Data: image}}, payload.Load{Images: 1, ImageBytes: sent, ImageSide: 300}},
		"nil":           {nil, payload.Load{}},
		"a pointer":     {&message.Media{Type: "image/png"}, payload.Load{}},
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
