package trim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trim"
)

func TestFor(t *testing.T) {
	t.Parallel()
	options := func(s string, warning, threshold float64, start, end, least int) trim.Options {
		return trim.Options{Strategy: s, Warning: warning, Threshold: threshold, PreserveStart: start, PreserveEnd: end, MinMessages: least}
	}
	gpt4 := options("hybrid", 0.85, 0.9, 6, 6, 4)
	o1 := options("middle", 0.9, 0.95, 8, 8, 4)
	claude := options("oldest", 0.85, 0.92, 5, 7, 4)
	gemini := options("middle", 0.9, 0.95, 10, 10, 4)
	local := options("hybrid", 0.7, 0.8, 3, 4, 3)
	others := options("hybrid", 0.8, 0.9, 4, 5, 4)
	for model, want := range map[string]trim.Options{
		"gpt-4": gpt4, "gpt-4o": gpt4, "GPT-4o-mini": gpt4, "gpt-4.1-nano": gpt4, "gpt-4o-2024-08-06": gpt4, "openai/gpt-4-turbo": gpt4,
		"ft:gpt-4o-mini:acme::a1b2": gpt4, "openai:gpt-4-of-tomorrow": gpt4, "openrouter/openai/gpt-4-of-tomorrow": gpt4,
		"o1": o1, "o1-mini": o1, "o1-pro": o1, "openai/o1-preview": o1,
		"o3": others, "o3-mini": others, "o4-mini": others, "gpt-5": others, "gpt-5.1": others, "gpt-3.5-turbo": others,
		"claude-sonnet-4-5": claude, "claude-3-5-haiku-20241022": claude, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": claude,
		"anthropic/claude-of-tomorrow": claude, "anthropic/claude-3.7-sonnet:thinking": claude,
		"gemini-1.5-pro": gemini, "models/gemini-1.5-flash": gemini, "google/gemini-1.5-of-tomorrow": gemini,
		"gemini-2.5-pro": others, "google/gemini-of-tomorrow": others,
		"ollama/llama3.1": local, "ollama:qwen3:8b": local, "Ollama_Chat/gpt-4o": local, "lmstudio/gemma": local, "lm-studio/a/b": local, "LM Studio/x": local,
		"deepseek-chat": others, "gpt-4-of-tomorrow": others, "claude": others, "": others, "/": others, "ollama": others,
	} {
		require.Equal(t, want, trim.For(model), "%q", model)
		require.NoError(t, want.Validate())
	}
}

// TestForHasNoWindow takes that from the request or from the table.
func TestForHasNoWindow(t *testing.T) {
	t.Parallel()
	h := turns(40)
	mw := middleware.With(chars4, trim.New(trim.For("gpt-4")))
	for model, want := range map[string]bool{"gpt-4": false, "gpt-4-32k": false, "": false} {
		_, events := apply(t, mw, &middleware.Request{Messages: h, Model: model})
		require.Equal(t, want, len(events) > 0, "%q", model)
	}
	_, events := apply(t, mw, &middleware.Request{Messages: turns(80), Model: "gpt-4"})
	require.Contains(t, kinds(events), middleware.Edited, "8,665 tokens are more than the 8,192 of the table")
}
