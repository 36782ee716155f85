package langchaingo

import (
	"strings"

	"github.com/laconic-go/laconic/middleware"
)

// stops are the providers' words for why a model stopped, in lower case and
// without underscores: OpenAI and those like it, Anthropic, Gemini, Mistral,
// and through Bedrock Amazon, Cohere, AI21 and Meta.
var stops = map[string]middleware.StopReason{
	"stop":            middleware.StopEnd,
	"endturn":         middleware.StopEnd,
	"stopsequence":    middleware.StopEnd,
	"complete":        middleware.StopEnd,
	"finish":          middleware.StopEnd,
	"endoftext":       middleware.StopEnd,
	"toolcalls":       middleware.StopTools,
	"tooluse":         middleware.StopTools,
	"functioncall":    middleware.StopTools,
	"length":          middleware.StopLength,
	"maxtokens":       middleware.StopLength,
	"modellength":     middleware.StopLength,
	"contentfilter":   middleware.StopFilter,
	"contentfiltered": middleware.StopFilter,
	"safety":          middleware.StopFilter,
	"recitation":      middleware.StopFilter,
	"refusal":         middleware.StopFilter,
	"errortoxic":      middleware.StopFilter,
}

// stopOf returns our word for a reason, or the reason as it is.
func stopOf(reason string) middleware.StopReason {
	word := strings.ReplaceAll(strings.ToLower(reason), "_", "")
	if stop, ok := stops[strings.TrimPrefix(word, "finishreason")]; ok {
		return stop
	}
	return middleware.StopReason(reason)
}

// wordOf returns the word of OpenAI for a reason, or the reason as it is.
func wordOf(stop middleware.StopReason) string {
	switch stop {
	case middleware.StopEnd:
		return "stop"
	case middleware.StopTools:
		return "tool_calls"
	case middleware.StopLength:
		return "length"
	case middleware.StopFilter:
		return "content_filter"
	}
	return string(stop)
}
