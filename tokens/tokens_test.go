package tokens_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

func TestChars4(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                        0,
		"a":                       1,
		"abcd":                    1,
		"abcde":                   2,
		"é":                       1, // two bytes
		"你好,世界":                   4, // thirteen
		"\xff\xff\xff\xff\xff":    2,
		strings.Repeat("x", 4001): 1001,
	} {
		require.Equal(t, want, tokens.Chars4.Count(text), "%.40q", text)
	}
}

// letters counts a token a byte, so that the tables below show what is counted.
type letters struct{}

func (letters) Count(text string) int { return len(text) }

func TestPart(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name string
		part message.Part
		want int
	}{
		{"nil", nil, 0},
		{"empty text", message.Text{}, 0},
		{"text", message.Text{Text: "12345"}, 5},
		{"thinking, without its signature", message.Thinking{Text: "1234", Signature: big}, 4},
		{"thinking without its text, by its signature", message.Thinking{Signature: big}, 3 << 16},
		{"the same, rounded up", message.Thinking{Signature: "12345678901234567"}, 4},
		{"call: id, name and arguments", message.ToolCall{ID: "c1", Name: "read", Arguments: `{"a":1}`}, 2 + 4 + 7},
		{"result: id and text, not the name", message.ToolResult{CallID: "c1", Name: "read", Text: "12345", Error: true}, 2 + 5},
		{"opaque: by its length", message.Opaque{Kind: "kind", Data: "12345"}, 2},
		{"media by their number, not by bytes", message.Media{Type: "image/png", Data: big}, 1600},
		{"a result with media", message.ToolResult{CallID: "c1", Content: message.Media{Data: big}}, 2 + 1600},
		{"a result with text and opaque", message.ToolResult{CallID: "c1", Text: "12", Content: message.Opaque{Data: "345"}}, 2 + 2 + 1},
		{"a pointer is no part", &message.Text{Text: "12345"}, 0},
	} {
		require.Equal(t, tt.want, tokens.Meter{Counter: letters{}}.Part(tt.part), tt.name)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		m    message.Message
		want int
	}{
		{"nothing is a frame", message.Message{}, 4},
		{"name", message.Message{Role: message.RoleUser, Name: "ann", Parts: []message.Part{message.Text{Text: "1"}}}, 4 + 3 + 1},
		{"the role is in the frame", message.Message{Role: "a role of any length"}, 4},
		{
			"parallel calls",
			message.Assistant(message.Text{Text: "12"}, message.ToolCall{ID: "a", Name: "b", Arguments: "{}"}, message.ToolCall{ID: "c", Name: "d", Arguments: "{ }"}),
			4 + 2 + 4 + 5,
		},
		{
			"a result in pieces: the id with each",
			message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c1", Text: "123"}, message.ToolResult{CallID: "c1", Text: "4"}}},
			4 + 5 + 3,
		},
		{"nil parts", message.Assistant(nil, message.Text{Text: "1"}, nil), 4 + 1},
		{"remarks of the host are not sent", message.Message{Usage: &message.Usage{Input: 1000}, Hints: message.Hints{Pinned: true}}, 4},
	} {
		require.Equal(t, tt.want, tokens.Meter{Counter: letters{}}.Message(tt.m), tt.name)
	}
}

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

// counters returns all that the package has, by name.
func counters() map[string]tokens.Counter {
	all := map[string]tokens.Counter{"Chars4": tokens.Chars4, "CJK15": tokens.CJK15, "Cautious": tokens.Cautious, "Estimate": tokens.Estimate{}}
	for _, f := range tokens.Families() {
		all["Estimate of "+f], _ = estimateFor(f)
	}
	for name, c := range all {
		all["Memo of "+name] = tokens.Memo(c)
	}
	return all
}

func FuzzCount(f *testing.F) {
	for _, text := range []string{
		"", "\x00", "a", "\xff", "\xe4\xbd", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\u2028", "\ufeff", "你好", "é", "e\u0301", "👩‍💻", "\r\n\r\n",
		strings.Repeat("-", 300), strings.Repeat("\t", 300), strings.Repeat("1", 300), strings.Repeat("A", 300), "aB1 \n中。é🎉\xff",
		strings.Repeat("toolu_01XyPCJU7Ec7Ad ", 9) + strings.Repeat("kqvmzhtwrcxa ", 9), strings.Repeat("Zwölf ", 30) + strings.Repeat("==- ", 30),
	} {
		f.Add(text)
	}
	all := counters()
	f.Fuzz(func(t *testing.T, text string) {
		blocks, bytes := tokens.Milli(text)
		require.Equal(t, bytes, blocks, "%q in blocks and byte by byte", text)
		for name, c := range all {
			n := c.Count(text)
			require.GreaterOrEqual(t, n, 0, "%s of %q", name, text)
			require.Equal(t, n, c.Count(strings.Clone(text)), "%s of %q is not the same twice", name, text)
			if text == "" {
				require.Zero(t, n, name)
			}
			// No tokenizer has more tokens than bytes; the largest rates are twice the base.
			require.LessOrEqual(t, n, 4*len(text), "%s of %q", name, text)
		}
	})
}

func FuzzMedia(f *testing.F) {
	f.Add("image/png", "\x89PNG\r\n\x1a\n", "")
	f.Add("image/jpeg", "\xff\xd8\xff\xc0\x00\x11", "")
	f.Add("image/gif", "GIF89a\xff\xff\xff\xff", "")
	f.Add("", webpOf("VP8X", 24, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), "")
	f.Add("application/pdf", "%PDF-1.7", "data:;base64,AAAA")
	f.Add("text/plain", "", "data:image/gif;base64,R0lGODlh/////w==")
	f.Fuzz(func(t *testing.T, mime, data, url string) {
		p := message.Media{Type: mime, Data: data, URL: url}
		for _, family := range tokens.Families() {
			m, _ := tokens.MeterFor(family)
			n := m.Part(p)
			require.GreaterOrEqual(t, n, 0, family)
			require.LessOrEqual(t, n, 50_000+4*len(data), family)
			require.Equal(t, n, m.Part(p), family)
		}
	})
}

// TestFamiliesAreDocumented compares the table of docs/internals/tokens.md with that of
// the package.
func TestFamiliesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/internals/tokens.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "| family |")
	require.True(t, ok, "docs/internals/tokens.md has a table of families")
	var want strings.Builder
	for _, f := range tokens.Families() {
		if !tokens.Fitted(f) {
			want.WriteString(familyRow(f))
		}
	}
	_, rows, _ := strings.Cut(table, "|---|\n")
	require.Equal(t, want.String(), rows, "the rows of docs/internals/tokens.md, which must end the page")
}

func familyRow(f string) string {
	e, _ := estimateFor(f)
	ratio := func(text string) float64 { return float64(e.Count(text)) / float64(tokens.Estimate{}.Count(text)) }
	return fmt.Sprintf("| %#q | %.2f | %.2f |\n", f, ratio(strings.Repeat("word ", 10_000)), ratio(strings.Repeat("字", 10_000)))
}
