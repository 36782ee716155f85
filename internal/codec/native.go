package codec

import (
	"cmp"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/middleware"
)

// native returns what the provider edits by itself in a request: the members that ask for it, with the types of the edits.
// Gateways such as OpenRouter have such members beside those of a format, so all are looked for in each.
func native(get func(name string) string) middleware.Native {
	var results, thinking []string
	edits := get("context_management") // OpenAI: a list
	if strings.HasPrefix(edits, "{") { // Anthropic
		edits = jsonedit.Get(edits, "edits")
	}
	for _, raw := range listOf(edits) {
		kind, idle := nativeEdit(raw)
		switch {
		case idle:
		case strings.HasPrefix(kind, "clear_thinking_"):
			thinking = append(thinking, "context_management: "+kind)
		default:
			results = append(results, "context_management: "+kind)
		}
	}
	if strings.HasPrefix(get("compaction"), "{") { // Anthropic, on demand
		results = append(results, "compaction")
	}
	if get("truncation") == `"auto"` { // OpenAI
		results = append(results, "truncation")
	}
	for _, raw := range listOf(get("plugins")) { // OpenRouter
		if p, err := object(raw); err == nil && wordOf(p, "id") == "context-compression" && p.Get("enabled") != "false" {
			results = append(results, "plugins: context-compression")
		}
	}
	if len(listOf(get("transforms"))) > 0 { // OpenRouter, before
		results = append(results, "transforms")
	}
	return middleware.Native{Results: strings.Join(results, ", "), Thinking: strings.Join(thinking, ", ")}
}

// nativeEdit returns the type of an edit, and whether it edits nothing: thinking of which all is kept
// (platform.claude.com/docs/en/build-with-claude/context-editing). An unknown type may clear anything.
func nativeEdit(raw string) (kind string, idle bool) {
	o, err := object(raw)
	if err != nil {
		return "an unknown edit", false
	}
	kind = cmp.Or(textOf(o, "type"), "an unknown edit")
	keep := o.Get("keep")
	if strings.HasPrefix(keep, "{") {
		keep = jsonedit.Get(keep, "type")
	}
	return kind, strings.HasPrefix(kind, "clear_thinking_") && keep == `"all"`
}

// listOf returns the raw items of a value that may be an array.
func listOf(raw string) []string {
	if !strings.HasPrefix(raw, "[") {
		return nil
	}
	return list(raw)
}
