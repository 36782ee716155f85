package chainfile

import (
	"maps"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/fit"
)

func fitKeys(o *fit.Options) []key {
	return []key{
		{"rules", rules(&o.Rules)},
		{"target", share(&o.Target)},
		{"placeholder", text(&o.Placeholder)},
		{"note", text(&o.Note)},
		{"no_retry", yesNo(&o.NoRetry)},
	}
}

// ruleSets are the names of rules in a file.
var ruleSets = map[string]message.Rules{
	"openai":           message.OpenAI,
	"openai_responses": message.OpenAIResponses,
	"anthropic":        message.Anthropic,
	"gemini":           message.Gemini,
	"bedrock":          message.Bedrock,
	"portable":         message.Portable,
	"unconfirmed":      message.Unconfirmed,
	"prefill":          message.Prefill,
}

// RuleNames returns the names of the rules that fit may be given, sorted.
func RuleNames() []string { return slices.Sorted(maps.Keys(ruleSets)) }

// rules reads one name of rules, or a list of them, into a variable.
func rules(dst *message.Rules) value {
	return func(n *node) error {
		names := n.items
		switch {
		case n.shape == aText:
			names = []*node{n}
		case n.shape != aList:
			return n.wrong(oneOf(RuleNames()) + ", or a list of them")
		case len(names) == 0:
			return n.errorf("is empty, want %s, or leave the key out", oneOf(RuleNames()))
		}
		for _, item := range names {
			var name string
			if err := text(&name)(item); err != nil {
				return err
			}
			r, ok := ruleSets[name]
			if !ok {
				return item.errorf("%q are no rules%s; want %s", name, didYouMean(name, RuleNames()), oneOf(RuleNames()))
			}
			*dst |= r
		}
		return nil
	}
}
