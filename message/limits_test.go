package message_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
		{message.OpenAI, 0, message.Limits{Bytes: 512_000_000, Images: 1500, AllDocumentBytes: 66_666_664}},
		{message.OpenAIResponses | message.Unconfirmed, 0, message.Limits{Bytes: 50_000_000, Images: 500, AllDocumentBytes: 66_666_664}},
		{message.Anthropic, 0, message.Limits{Bytes: 32_000_000, Media: 100, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Anthropic, 200_000, message.Limits{Bytes: 32_000_000, Media: 100, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Anthropic, 1_000_000, message.Limits{Bytes: 32_000_000, Media: 600, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Gemini, 1_000_000, message.Limits{Bytes: 100_000_000, Images: 3600, DocumentBytes: 66_666_664}},
		{message.Gemini | message.Unconfirmed, 0, message.Limits{Bytes: 20_000_000, Images: 3600, DocumentBytes: 66_666_664}},
		{message.Bedrock, 0, message.Limits{
			Bytes: 20_000_000, Images: 20, Media: 20, Documents: 5,
			ImageBytes: 5_000_000, ImageSide: 8000, ManyImages: 20, ManySide: 2000, DocumentBytes: 6_000_000,
		}},
		{message.OpenAI | message.Anthropic, 0, message.Limits{
			Bytes: 32_000_000, Images: 1500, Media: 100, AllDocumentBytes: 66_666_664,
			ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000,
		}},
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
		name := fmt.Sprintf("%s of %v", e.Limit, e.By|e.Maybe)
		require.NotEmpty(t, e.Source, name)
		require.NotContains(t, e.Source, "|", "%s: it would break the table", name)
		require.Positive(t, e.Most, name)
		require.NotZero(t, e.By|e.Maybe, name)
		require.Zero(t, e.By&e.Maybe, "%s: who has it is not only said to", name)
		require.Equal(t, e.Limit == message.ManyImageSide, e.Above > 0, name)
		key := fmt.Sprintf("%s %v %v %d", e.Limit, e.By, e.Maybe, e.Window)
		require.False(t, seen[key], "%s is there twice", name)
		seen[key] = true
	}
	for _, r := range single {
		require.Positive(t, r.Limits(0).Bytes, "%v has no limit of bytes", r)
	}
}

// picture returns an image of this width, or a document, of so many bytes.
func picture(width, size int) message.Media {
	return message.Media{Type: "image/png", Data: pngOf(uint32(width), 1) + strings.Repeat("x", max(0, size-33))}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	type excesses = []message.Excess
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
	tests := []struct {
		name    string
		limits  message.Limits
		in      []message.Message
		besides message.Load
		want    excesses
	}{
		{"no limits", message.Limits{}, []message.Message{says(picture(9000, 90_000))}, message.Load{Bytes: 1 << 60}, nil},
		{"limits below zero", message.Limits{Bytes: -1, Images: -1, ManyImages: -1, ManySide: -1}, []message.Message{says(picture(9000, 90_000))}, message.Load{}, nil},
		{"no messages", message.Limits{Bytes: 1, Images: 1}, nil, message.Load{}, nil},
		{"nothing is too much", message.Portable.Limits(0), []message.Message{says(picture(8000, 1000), pdf(1000)), message.User("x")}, message.Load{}, nil},
		{"a long text", message.Limits{Bytes: 1000}, []message.Message{message.User(strings.Repeat("x", 1000))}, message.Load{}, excesses{{message.RequestBytes, -1, -1, 1202, 1000}}},
		{"a text that the bound is too coarse for", message.Limits{Bytes: 1000}, []message.Message{message.User(strings.Repeat("x", 500))}, message.Load{}, nil},
		{"a text, and tools", message.Limits{Bytes: 1000}, []message.Message{message.User(strings.Repeat("x", 500))}, message.Load{Bytes: 600}, excesses{{message.RequestBytes, -1, -1, 1302, 1000}}},
		{"too many images", message.Limits{Images: 1}, []message.Message{says(picture(1, 0)), says(picture(1, 0))}, message.Load{}, excesses{{message.RequestImages, -1, -1, 2, 1}}},
		{"too many of both", message.Limits{Images: 1, Media: 1, Documents: 1}, []message.Message{says(picture(1, 0), pdf(1))}, message.Load{}, excesses{{message.RequestMedia, -1, -1, 2, 1}}},
		{"too many documents, too large together", message.Limits{Documents: 1, AllDocumentBytes: 8}, []message.Message{says(pdf(4), pdf(1))}, message.Load{}, excesses{
			{message.RequestDocuments, -1, -1, 2, 1}, {message.AllDocumentBytes, -1, -1, 12, 8},
		}},
		{"a large document", message.Limits{DocumentBytes: 100}, []message.Message{message.User("x"), says(pdf(1), pdf(90))}, message.Load{}, excesses{{message.DocumentBytes, 1, 1, 120, 100}}},
		{"a large image, of many pixels", message.Limits{ImageBytes: 100, ImageSide: 100}, []message.Message{says(message.Text{}, picture(101, 90))}, message.Load{}, excesses{
			{message.ImageBytes, 0, 1, 120, 100}, {message.ImageSide, 0, 1, 101, 100},
		}},
		{
			"in a result",
			message.Limits{ImageSide: 100},
			[]message.Message{tool(piece("a"), message.ToolResult{CallID: "a", Content: picture(101, 0)})},
			message.Load{},
			excesses{{message.ImageSide, 0, 1, 101, 100}},
		},
		{"one of many", message.Anthropic.Limits(0), []message.Message{says(many...)}, message.Load{}, excesses{{message.ManyImageSide, 0, 7, 2001, 2000}}},
		{"one of not so many", message.Anthropic.Limits(0), []message.Message{says(many[1:]...)}, message.Load{}, nil},
		{"one of many, and of more than any", message.Anthropic.Limits(0), []message.Message{says(append(slices.Clone(many[:20]), picture(8001, 0))...)}, message.Load{}, excesses{
			{message.ManyImageSide, 0, 7, 2001, 2000}, {message.ImageSide, 0, 20, 8001, 8000},
		}},
		{"no header to read", message.Limits{ImageSide: 1}, []message.Message{says(message.Media{Type: "image/png", Data: "x"}, message.Media{Type: "image/png"}, message.Media{URL: "u"})}, message.Load{}, nil},
		{"no image, though it looks like one", message.Limits{ImageSide: 1, Images: 1}, []message.Message{says(message.Media{Type: "video/mp4", Data: pngOf(9, 9)}, message.Media{Type: "audio/wav"})}, message.Load{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.limits.Broken(tt.in, tt.besides))
		})
	}
}

func TestExcessSays(t *testing.T) {
	t.Parallel()
	require.Equal(t, "the request: 130 images and documents, at most 100",
		message.Excess{Limit: message.RequestMedia, At: -1, Part: -1, Is: 130, Most: 100}.String())
	require.Equal(t, "message 3, part 1: 2400 pixels of one of many images, at most 2000",
		message.Excess{Limit: message.ManyImageSide, At: 3, Part: 1, Is: 2400, Most: 2000}.String())
}

// TestAllowAndBroken checks that both say the same, of any messages and limits.
func TestAllowAndBroken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		few := func(name string, most int) int { return rapid.IntRange(-1, most).Draw(t, name) }
		l := message.Limits{
			Bytes: few("bytes", 3000), Images: few("images", 3), Media: few("media", 4), Documents: few("documents", 2), AllDocumentBytes: few("all document bytes", 30),
			ImageBytes: few("image bytes", 100), ImageSide: few("side", 9), ManyImages: few("many", 3), ManySide: few("many side", 9), DocumentBytes: few("document bytes", 20),
		}
		h := broken().Draw(t, "history")
		for range few("media messages", 3) {
			var parts []message.Part
			for range few("parts", 3) {
				m := picture(few("width", 12)+1, few("size", 80))
				m.Type = rapid.SampledFrom([]string{"image/png", "application/pdf", "audio/wav", ""}).Draw(t, "type")
				parts = append(parts, m)
			}
			h = append(h, message.Message{Role: message.RoleUser, Parts: parts})
		}
		besides := message.Load{Bytes: max(0, few("besides", 1000))}
		total := besides
		for _, m := range h {
			total = total.Add(m.Load())
		}
		found := l.Broken(h, besides)
		require.Equal(t, l.Allow(total), len(found) == 0, "%v", found)
		for _, e := range found {
			require.Greater(t, e.Is, e.Most, "%v", e)
			require.Equal(t, e.At < 0, e.Part < 0, "%v", e)
			require.True(t, e.At < 0 || e.Part < len(h[e.At].Parts), "%v is outside of the list", e)
		}
	})
}
