package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/internal/fakeprovider"
)

// ledger is the tool of langchaingo, which takes one text.
type ledger struct{}

func (ledger) Name() string        { return toolName }
func (ledger) Description() string { return toolDoc }

func (ledger) Call(_ context.Context, input string) (string, error) {
	var n int
	if _, err := fmt.Sscanf(input, "page %d", &n); err != nil {
		return "", fmt.Errorf("input %q: %w", input, err)
	}
	return page(n)
}

// asked is how the model words its calls. The agent takes the text out, and the
// strict provider wants to see the whole again.
func asked(n int) string { return fmt.Sprintf(`{"__arg1": "page %d"}`, n) }

func langchaingoClient(t *testing.T, server *fakeprovider.Server) llms.Model {
	t.Helper()
	client, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken(key), openai.WithModel(model))
	require.NoError(t, err)
	return client
}

func runExecutor(ctx context.Context, m llms.Model, options ...chains.ChainCallOption) (string, error) {
	agent := agents.NewOpenAIFunctionsAgent(m, []tools.Tool{ledger{}})
	return chains.Run(ctx, agents.NewExecutor(agent, agents.WithMaxIterations(pages+1)), question, options...)
}

func TestLangchaingo(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed %t", streamed), func(t *testing.T) {
			t.Parallel()
			server := serve(t, 1, asked)
			var e edits
			var text string
			var options []chains.ChainCallOption
			if streamed {
				options = append(options, chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
					text += string(chunk)
					return nil
				}))
			}
			m := langchaingo.Options{Model: model, Budget: budget()}.Wrap(langchaingoClient(t, server), e.chain()...)
			got, err := runExecutor(t.Context(), m, options...)
			require.NoError(t, err)
			require.Equal(t, answer, got)
			requireFitting(t, server, &e, pages+1, streamed)
			if streamed {
				require.Contains(t, text, answer, "the answer is streamed to the program")
			}
		})
	}
}
