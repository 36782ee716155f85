package genkit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// handle is what a model asks for.
type handle struct {
	Handle string `json:"handle"`
	From   int    `json:"from,omitempty"`
	To     int    `json:"to,omitempty"`
	Search string `json:"search,omitempty"`
}

// read returns what an archive has under a handle.
func read(ctx context.Context, archive store.Store, in handle) (string, error) {
	arguments, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	parts, err := agent.Recall(archive, agent.RecallOptions{}).Call(ctx, string(arguments))
	var text strings.Builder
	for _, p := range parts {
		if t, ok := p.(message.Text); ok {
			text.WriteString(t.Text)
		}
	}
	return text.String(), err
}

func genkitRecall(g *genkit.Genkit, archive store.Store) ai.Tool {
	return genkit.DefineTool(g, store.RecallTool, "Reads again what was cleared, by the handle in the placeholder.",
		func(ctx *ai.ToolContext, in handle) (string, error) { return read(ctx, archive, in) })
}

func TestRecall(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	h, err := store.Keep(t.Context(), archive, store.Content{Data: "the file"})
	require.NoError(t, err)
	text, err := genkitRecall(genkit.Init(t.Context()), archive).RunRaw(t.Context(), map[string]any{"handle": h.String()})
	require.NoError(t, err)
	require.Equal(t, "the file", text)
}
