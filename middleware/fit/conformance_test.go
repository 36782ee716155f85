package fit_test

import (
	"testing"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	cases := map[string]fit.Options{
		"defaults":     {},
		"openai":       {Rules: message.OpenAI},
		"responses":    {Rules: message.OpenAIResponses},
		"anthropic":    {Rules: message.Anthropic},
		"gemini":       {Rules: message.Gemini},
		"bedrock":      {Rules: message.Bedrock},
		"just fits":    {Target: 1},
		"much at once": {Target: 0.5},
		"other words":  {Placeholder: "-", Note: "(some is missing)"},
		"no retry":     {NoRetry: true},
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: func() middleware.Middleware { return fit.New(opts) }, Mends: true}.Test(t)
		})
	}
}
