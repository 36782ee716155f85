package chainfile

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/fit"
)

func fitKeys(o *fit.Options) []key {
	return []key{
		{"rules", rules(&o.Rules)},
		{"limits", limits(&o.Limits)},
		{"target", share(&o.Target)},
		{"placeholder", text(&o.Placeholder)},
		{"note", text(&o.Note)},
		{"no_retry", yesNo(&o.NoRetry)},
	}
}

// ruleSets are the rules of providers by the names that they have in a file.
var ruleSets = []struct {
	name  string
	rules message.Rules
}{
	{"openai", message.OpenAI},
	{"openai_responses", message.OpenAIResponses},
	{"anthropic", message.Anthropic},
	{"gemini", message.Gemini},
	{"bedrock", message.Bedrock},
	{"portable", message.Portable},
	{"unconfirmed", message.Unconfirmed},
	{"prefill", message.Prefill},
}

// rules reads a list of providers, whose rules hold all at once.
func rules(dst *message.Rules) value {
	var names []string
	for _, r := range ruleSets {
		names = append(names, r.name)
	}
	return func(n *node) error {
		if n.shape != aList {
			return n.wrong("a list of " + list(names))
		}
		for _, item := range n.items {
			var name string
			if err := text(&name)(item); err != nil {
				return err
			}
			k := slices.Index(names, name)
			if k < 0 {
				return item.errorf("is %q, which are no rules%s; want %s", name, didYouMean(name, names), oneOf(names))
			}
			*dst |= ruleSets[k].rules
		}
		return nil
	}
}

// limits reads what a provider accepts besides tokens. A limit of 0 is none, and
// one that is left out the provider's.
func limits(dst *message.Limits) value {
	return func(n *node) error {
		return n.read([]key{
			{"bytes", atLeastNone(&dst.Bytes)},
			{"images", atLeastNone(&dst.Images)},
			{"media", atLeastNone(&dst.Media)},
			{"documents", atLeastNone(&dst.Documents)},
			{"all_document_bytes", atLeastNone(&dst.AllDocumentBytes)},
			{"image_bytes", atLeastNone(&dst.ImageBytes)},
			{"image_side", atLeastNone(&dst.ImageSide)},
			{"many_images", atLeastNone(&dst.ManyImages)},
			{"many_side", atLeastNone(&dst.ManySide)},
			{"document_bytes", atLeastNone(&dst.DocumentBytes)},
		})
	}
}
