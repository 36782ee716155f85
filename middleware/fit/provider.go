package fit

import (
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// rulesOf returns the rules of the provider that serves the model of a view, and
// whether that is known. Services that speak the language of OpenAI's chat
// completions have its rules; who serves a model of somebody else, as Bedrock
// does, adds its own.
func rulesOf(v *middleware.View) (r message.Rules, ok bool) {
	switch v.Model().Provider {
	case "openai", "deepseek", "alibaba", "moonshot", "zhipu", "minimax", "bytedance", "mistral", "meta", "xai":
		r = message.OpenAI
	case "anthropic":
		r = message.Anthropic
	case "google":
		r = message.Gemini
	}
	if isBedrock(v.Request().Model) {
		r = r&^message.OpenAI | message.Bedrock
	}
	if r == 0 {
		return message.Portable, false
	}
	return r, true
}

// isBedrock reports whether a name has one of the forms that Bedrock gives:
//
//	amazon.nova-pro-v1:0, us.anthropic.claude-sonnet-4-5-20250929-v1:0
//	bedrock/…, arn:aws:bedrock:…
func isBedrock(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "bedrock/") || strings.HasPrefix(name, "amazon/") || strings.HasPrefix(name, "arn:aws:bedrock:") {
		return true
	}
	return bedrockForm.MatchString(name)
}

// bedrockForm is how Bedrock names models: by region, if at all, and maker.
var bedrockForm = regexp.MustCompile(`^([a-z]{2,6}\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.`)
