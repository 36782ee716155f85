package chainfile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/fit"
)

// TestFitOptions compares each key with the option that it stands for.
func TestFitOptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fit.Options{
		"rules: [anthropic]":                       {Rules: message.Anthropic},
		"rules: [mistral]":                         {Rules: message.Mistral},
		"rules: [openai, bedrock, prefill]":        {Rules: message.OpenAI | message.Bedrock | message.Prefill},
		"rules: [portable]":                        {Rules: message.Portable},
		"limits: {bytes: 6_000_000, images: none}": {Limits: message.Limits{Bytes: 6_000_000, Images: -1}},
		"limits: {many_images: 5, many_side: 6}":   {Limits: message.Limits{ManyImages: 5, ManySide: 6}},
		"target: 1":                                {Target: 1},
		"target: 0.5":                              {Target: 0.5},
		"placeholder: '-'":                         {Placeholder: "-"},
		"note: some is missing":                    {Note: "some is missing"},
		"no_retry: true":                           {NoRetry: true},
	} {
		var got fit.Options
		read(t, text, fitKeys(&got))
		require.Equal(t, want, got, "%s", text)
	}
}
