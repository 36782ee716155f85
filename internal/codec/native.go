package codec

import (
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
)

// native returns what the provider edits by itself in a request: the member that asks for it; "": nothing. Gateways such as
// OpenRouter have such members beside those of a format, so all are looked for in each.
func native(get func(name string) string) string {
	if edits := get("context_management"); strings.HasPrefix(edits, "{") {
		if edits = jsonedit.Get(edits, "edits"); edits != "" && len(list(edits)) > 0 { // Anthropic
			return "context_management"
		}
	} else if strings.HasPrefix(edits, "[") && len(list(edits)) > 0 { // OpenAI
		return "context_management"
	}
	if compaction := get("compaction"); strings.HasPrefix(compaction, "{") { // Anthropic, on demand
		return "compaction"
	}
	if get("truncation") == `"auto"` { // OpenAI
		return "truncation"
	}
	if plugins := get("plugins"); strings.HasPrefix(plugins, "[") { // OpenRouter
		for _, raw := range list(plugins) {
			if p, err := object(raw); err == nil && textOf(p, "id") == "context-compression" && p.Get("enabled") != "false" {
				return "plugins: context-compression"
			}
		}
	}
	if transforms := get("transforms"); strings.HasPrefix(transforms, "[") && len(list(transforms)) > 0 { // OpenRouter, before
		return "transforms"
	}
	return ""
}
