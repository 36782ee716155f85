package langchaingo

import (
	"reflect"

	"github.com/laconic-go/laconic/message"
)

// keys are where a provider of langchaingo puts its usage in GenerationInfo.
type keys struct {
	is                    string // a key that no provider above has
	input, output         string
	read, write, thinking string // "": not told
	inputIsWithoutCache   bool
}

// providers are the providers of langchaingo v0.1.14 that tell their usage,
// with the file under llms that says so. The first whose key is there counts.
// The context cache of Ollama (CachedTokens) is an estimate of langchaingo's
// own and counts as nothing.
var providers = []keys{
	// anthropic/anthropicllm.go. Input is what was neither read from the cache
	// nor written to it: docs.anthropic.com, prompt caching, "Tracking cache
	// performance".
	{
		is: "InputTokens", input: "InputTokens", output: "OutputTokens",
		read: "CacheReadInputTokens", write: "CacheCreationInputTokens", inputIsWithoutCache: true,
	},
	// openai/openaillm.go; cached tokens are part of the prompt, reasoning is
	// part of the completion: platform.openai.com, "Prompt caching", "Reasoning".
	{
		is: "PromptCachedTokens", input: "PromptTokens", output: "CompletionTokens",
		read: "PromptCachedTokens", thinking: "CompletionReasoningTokens",
	},
	// googleai/googleai.go, with a cache; the prompt includes it.
	{is: "NonCachedInputTokens", input: "PromptTokens", output: "CompletionTokens", read: "CachedTokens"},
	// googleai/googleai.go, ollama/ollamallm.go, maritaca/maritacallm.go.
	{is: "PromptTokens", input: "PromptTokens", output: "CompletionTokens", thinking: "ReasoningTokens"},
	// googleai/vertex/vertex.go and all of bedrock/internal/bedrockclient.
	{is: "input_tokens", input: "input_tokens", output: "output_tokens"},
}

// keyUsage is where mistral/mistralmodel.go puts a struct of its client.
const keyUsage = "usage"

// usageOf returns the usage that a choice tells, zero if it tells none.
func usageOf(info map[string]any) message.Usage {
	for _, p := range providers {
		if _, ok := info[p.is]; !ok {
			continue
		}
		u := message.Usage{
			Input:      number(info[p.input]),
			Output:     number(info[p.output]),
			CacheRead:  number(info[p.read]),
			CacheWrite: number(info[p.write]),
			Thinking:   number(info[p.thinking]),
		}
		if p.inputIsWithoutCache {
			u.Input += u.CacheRead + u.CacheWrite
		}
		return u
	}
	if v := reflect.Indirect(reflect.ValueOf(info[keyUsage])); v.Kind() == reflect.Struct {
		return message.Usage{Input: field(v, "PromptTokens"), Output: field(v, "CompletionTokens")}
	}
	return message.Usage{}
}

func field(v reflect.Value, name string) int {
	f := v.FieldByName(name)
	if !f.IsValid() || !f.CanInterface() {
		return 0
	}
	return number(f.Interface())
}

// number returns a count of any numeric type; 0 for one below 0 and for what is
// no number.
func number(v any) int {
	n := reflect.ValueOf(v)
	switch {
	case !n.IsValid():
		return 0
	case n.CanInt():
		return int(max(0, n.Int()))
	case n.CanUint():
		return int(min(n.Uint(), 1<<53))
	case n.CanFloat() && n.Float() > 0:
		return int(min(n.Float(), 1<<53))
	}
	return 0
}
