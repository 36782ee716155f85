package message_test

import (
	"fmt"
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
		{message.OpenAI, 0, message.Limits{Bytes: 512_000_000, Images: 1500, AllDocumentBytes: 66_666_664}},
		{message.OpenAIResponses | message.Unconfirmed, 0, message.Limits{Bytes: 50_000_000, Images: 500, AllDocumentBytes: 66_666_664}},
		{message.Anthropic, 0, message.Limits{Bytes: 32_000_000, Media: 100, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Anthropic, 200_000, message.Limits{Bytes: 32_000_000, Media: 100, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Anthropic, 1_000_000, message.Limits{Bytes: 32_000_000, Media: 600, ImageBytes: 10 << 20, ImageSide: 8000, ManyImages: 20, ManySide: 2000}},
		{message.Gemini, 1_000_000, message.Limits{Bytes: 100_000_000, Images: 3600, DocumentBytes: 66_666_664}},
		{message.Gemini | message.Unconfirmed, 0, message.Limits{Bytes: 20_000_000, Images: 3600, DocumentBytes: 66_666_664}},
		{message.Mistral, 0, message.Limits{Bytes: 512_000_000}},
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
