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

func TestMeterFraming(t *testing.T) {
	t.Parallel()
	m := tokens.Meter{Counter: letters{}, Framing: tokens.Framing{
		PerRequest: 100_000, PerMessage: 10_000, PerName: 1000, ToolsOnce: 500, PerTool: 200, PerAudio: 30, PerDocument: 40, Images: tokens.Images{Unknown: 50},
	}}
	require.Equal(t, 100_000, m.Request(nil, nil))
	require.Equal(t, 10_000+2, m.Message(message.User("12")))
	require.Equal(t, 10_000+1000+3+2, m.Message(message.Message{Name: "ann", Parts: []message.Part{message.Text{Text: "12"}}}))
	require.Zero(t, m.Tools(nil), "without tools there is nothing once")
	require.Equal(t, 500+200+200+2, m.Tools([]message.ToolDef{{Name: "a"}, {Name: "b"}}))
	require.Equal(t, 100_000+10_000+2+500+200+1, m.Request([]message.Message{message.User("12")}, []message.ToolDef{{Name: "a"}}))
	for mime, want := range map[string]int{
		"image/png": 50, "": 50, "IMAGE/JPEG": 50,
		"audio/wav": 30, "video/mp4": 30,
		"application/pdf": 40, "application/octet-stream": 40, "odd": 40,
		"text/plain": 7, "text/csv; charset=utf-8": 7, "application/json": 7,
	} {
		require.Equal(t, want, m.Part(message.Media{Type: mime, Data: "no file"}), "media of type %q", mime)
	}
	require.Equal(t, 40, m.Part(message.Media{Type: "text/plain", URL: "https://example.com/a.txt"}), "a text that is elsewhere is a document")
	require.Equal(t, 4+7, m.Part(message.ToolResult{CallID: "call", Content: message.Media{Type: "text/plain", Data: "no file"}}))
}

func TestMeterThinking(t *testing.T) {
	t.Parallel()
	thought := message.Thinking{Text: "12345"}
	h := []message.Message{
		message.System("1"),
		message.User("1"),
		message.Assistant(thought, message.ToolCall{}),
		message.Result("", "", ""),
		message.Assistant(thought),
		message.User("1"), // the newest turn begins here
		message.Assistant(thought, message.ToolCall{}),
		message.Result("", "", ""),
		message.Assistant(thought),
	}
	meter := func(f tokens.Framing) tokens.Meter {
		f.PerRequest = 1
		return tokens.Meter{Counter: letters{}, Framing: f}
	}
	counts, inTurn, never := tokens.Framing{}, tokens.Framing{OldThinkingFree: true}, tokens.Framing{ThinkingFree: true}
	require.Equal(t, 1+3+4*5, meter(counts).Request(h, nil))
	require.Equal(t, 1+3+2*5, meter(inTurn).Request(h, nil), "that of earlier turns is dropped")
	require.Equal(t, 1+3, meter(never).Request(h, nil))

	require.Equal(t, 5, meter(inTurn).Message(h[2]), "a message does not know its turn")
	require.Equal(t, 0, meter(never).Message(h[2]))
	require.Equal(t, 0, meter(never).Part(thought))
	require.Equal(t, 1+3, meter(tokens.Framing{ThinkingFree: true, OldThinkingFree: true}).Request(h, nil))

	sealed := message.Thinking{Signature: "1234567890123456"} // 3 tokens
	h = []message.Message{message.User("1"), message.Assistant(sealed), message.User("1"), message.Assistant(sealed)}
	require.Equal(t, 1+2+2*3, meter(counts).Request(h, nil), "without its text, it counts by its signature")
	require.Equal(t, 1+2+3, meter(inTurn).Request(h, nil))
	require.Equal(t, 1+2, meter(never).Request(h, nil))
	for _, f := range []tokens.Framing{counts, inTurn, never} {
		require.Equal(t, 1+5, meter(f).Request([]message.Message{message.Assistant(thought)}, nil)+map[tokens.Framing]int{never: 5}[f], "there is no earlier turn without a user message")
	}
}

func TestMeterCompactsSchemas(t *testing.T) {
	t.Parallel()
	count := func(schema string) int {
		return tokens.Meter{Counter: letters{}}.Tools([]message.ToolDef{{Parameters: schema}})
	}
	tight := `{"type":"object","properties":{"path":{"type":"string","description":"a b"}}}`
	wide := "{\n  \"type\": \"object\",\n  \"properties\": {\"path\": {\"type\": \"string\", \"description\": \"a b\"}}\n}\n"
	require.Equal(t, count(tight), count(wide), "white space of a schema is not sent on")
	require.Equal(t, 4+len("no { json"), count("no { json"), "what is no JSON counts as it is")
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, tokens.Families())
	seen := map[string]bool{}
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	tools := []message.ToolDef{{Name: "read_log", Description: "Reads the log of a job.", Parameters: `{"type":"object"}`}}
	for _, f := range tokens.Families() {
		require.False(t, seen[f], "%s is in the table twice", f)
		seen[f] = true

		framing, ok := framingOf(f)
		require.True(t, ok, f)
		require.NotZero(t, framing.PerRequest, f)
		require.NotZero(t, framing.PerMessage, f)
		require.NotZero(t, framing.PerTool, f)
		require.NotZero(t, framing.PerDocument, f)
		require.NotZero(t, framing.PerAudio, f)
		for _, size := range [][2]int{{1, 1}, {64, 64}, {1024, 1024}, {5000, 100}, {1 << 30, 1 << 30}} {
			n := framing.Images.Tokens(size[0], size[1])
			require.Positive(t, n, "%s: %d x %d", f, size[0], size[1])
			require.LessOrEqual(t, n, framing.Images.Unknown, "%s: %d x %d costs more than an image of unknown size", f, size[0], size[1])
		}

		m, ok := tokens.MeterFor(f)
		require.True(t, ok, f)
		estimate, _ := estimateFor(f)
		require.Equal(t, tokens.Meter{Counter: estimate, Framing: framing}.Request(h, tools), m.Request(h, tools), f)
	}

	m, ok := tokens.MeterFor("")
	require.False(t, ok)
	require.Equal(t, tokens.Meter{}, m)
}

// TestCookbook checks the frame against the example of OpenAI's cookbook, which
// gives 124 tokens for GPT-4o: six messages, four of them with a name.
func TestCookbook(t *testing.T) {
	t.Parallel()
	system := func(name, text string) message.Message {
		m := message.System(text)
		m.Name = name
		return m
	}
	h := []message.Message{
		message.System("You are a helpful, pattern-following assistant that translates corporate jargon into plain English."),
		system("example_user", "New synergies will help drive top-line growth."),
		system("example_assistant", "Things working well together will increase revenue."),
		system("example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."),
		system("example_assistant", "Let's talk later when we're less busy about how to do better."),
		message.User("This late pivot means we don't have time to boil the ocean for the client deliverable."),
	}
	framing, _ := framingOf("o200k_base")
	exact := counts{ // by tiktoken
		h[0].Text(): 17, h[1].Text(): 10, h[2].Text(): 8, h[3].Text(): 17, h[4].Text(): 13, h[5].Text(): 18,
		"example_user": 2, "example_assistant": 3,
	}
	require.Equal(t, 124, tokens.Meter{Counter: exact, Framing: framing}.Request(h, nil))
}

// counts is a counter that knows some texts.
type counts map[string]int

func (c counts) Count(text string) int { return c[text] }

func TestImages(t *testing.T) {
	t.Parallel()
	gpt4o, _ := framingOf("o200k_base")
	mini, _ := framingOf("gpt-4.1-mini")
	claude, _ := framingOf("claude-4")
	claude47, _ := framingOf("claude-4.7")
	flat := tokens.Images{Unknown: 7}
	for _, tt := range []struct {
		name          string
		rule          tokens.Images
		width, height int
		want          int
	}{
		{"one tile", gpt4o.Images, 128, 64, 85 + 170},
		{"shrunk into 2048, then to 768", gpt4o.Images, 2048, 4096, 85 + 6*170},
		{"a strip that would vanish", gpt4o.Images, 1 << 30, 1, 85 + 4*170},
		{"a part of a patch", mini.Images, 33, 32, 4}, // 2 at 1.62
		{"all patches", mini.Images, 4000, 4000, 2489},
		{"pixels", claude.Images, 1000, 1000, 1334},
		{"a long edge", claude.Images, 3136, 750, 784},
		{"newer ones see more", claude47.Images, 4000, 4000, 4784},
		{"the dearer of two rules, small", tokens.DefaultFraming().Images, 100, 100, 85 + 170},
		{"the dearer of two rules, large", tokens.DefaultFraming().Images, 1092, 1092, 1590},
		{"no rule", flat, 100, 100, 7},
		{"no width", gpt4o.Images, 0, 100, 1600},
		{"largest number", claude.Images, 1<<31 - 1, 1<<31 - 1, 1600},
		{"the zero rule", tokens.Images{}, 100, 100, 0},
	} {
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
