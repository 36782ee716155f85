package trim

import (
	"strings"

	"github.com/laconic-go/laconic/models"
)

// For returns the options for a model, by its name as in [middleware.Request.Model]:
//
//	                                   strategy  warning  threshold  start  end  at least
//	OpenAI's gpt-4…                    hybrid    0.85     0.9        6      6    4
//	OpenAI's o1…                       middle    0.9      0.95       8      8    4
//	Anthropic's                        oldest    0.85     0.92       5      7    4
//	Google's with 1.5 in their names   middle    0.9      0.95       10     10   4
//	whatever LM Studio, Ollama serve   hybrid    0.7      0.8        3      4    3
//	all others                         hybrid    0.8      0.9        4      5    4
//
// Whose model it is, the built-in table of models says, or what stands before a
// slash or a colon in the name: "ollama/llama3.1", "openai:gpt-4.1". A name that
// says neither is one of the others. The window is not in the options: it is taken
// from the request or from the table of the chain.
func For(model string) Options {
	provider, name := origin(model)
	switch {
	case servers[provider]:
		return Options{Strategy: Hybrid, Warning: 0.7, Threshold: 0.8, PreserveStart: 3, PreserveEnd: 4, MinMessages: 3}
	case provider == "openai" && strings.HasPrefix(name, "gpt-4"):
		return Options{Strategy: Hybrid, Warning: 0.85, Threshold: 0.9, PreserveStart: 6, PreserveEnd: 6, MinMessages: 4}
	case provider == "openai" && strings.HasPrefix(name, "o1"):
		return Options{Strategy: Middle, Warning: 0.9, Threshold: 0.95, PreserveStart: 8, PreserveEnd: 8, MinMessages: 4}
	case provider == "anthropic":
		return Options{Strategy: Oldest, Warning: 0.85, Threshold: 0.92, PreserveStart: 5, PreserveEnd: 7, MinMessages: 4}
	case provider == "google" && strings.Contains(name, "1.5"):
		return Options{Strategy: Middle, Warning: 0.9, Threshold: 0.95, PreserveStart: 10, PreserveEnd: 10, MinMessages: 4}
	}
	return Options{Strategy: Hybrid, Warning: 0.8, Threshold: 0.9, PreserveStart: 4, PreserveEnd: 5, MinMessages: 4}
}

// servers run models of others, under names that say so. They are told by the first
// part of the name, in whichever way it is written: LM Studio, lm_studio, ollama_chat.
var servers = map[string]bool{"lmstudio": true, "ollama": true, "ollamachat": true}

// makers are told likewise, where the table does not know the model.
var makers = map[string]bool{"openai": true, "anthropic": true, "google": true}

// origin returns who makes a model, or who serves it, and how it is called there.
func origin(model string) (provider, name string) {
	name = strings.ToLower(model)
	maker, made := "", ""
	for rest := name; ; {
		i := strings.IndexAny(rest, "/:")
		if i < 0 {
			break
		}
		first := plain(rest[:i])
		rest = rest[i+1:]
		switch {
		case servers[first]:
			return first, rest
		case makers[first]:
			maker, made = first, rest
		}
	}
	for _, n := range []string{name, made} {
		if m, ok := models.Default().Lookup(n); ok {
			return m.Provider, m.Name
		}
	}
	return maker, made
}

// plain returns the letters of a lower-case text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, s)
}
