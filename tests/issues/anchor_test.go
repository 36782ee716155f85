package issues

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// Usage was taken for a lie where a tokenizer makes more than three tokens of
// one that is estimated. The trigger then fired at a third of what was charged.
func TestUsageOfScriptsThatTokenizersCutSmall(t *testing.T) {
	t.Parallel()
	for script, words := range map[string]string{
		"Ethiopic": "ሰላም እንዴት ነህ", "Devanagari": "नमस्ते आप कैसे हैं", "rare ideographs": "嗷嚎囔攮饕餮魑魅魍魉",
	} {
		truth := tokens.Meter{Counter: bpe.Encoding("cl100k_base")}
		predicted, charged := 0, 0
		model := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1 << 40)})(
			func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
				predicted, charged = req.View().Size().Tokens, truth.Request(req.Messages, nil)
				return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: charged}}, nil
			})
		h := []message.Message{message.User(words)}
		for range 20 {
			_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
			require.NoError(t, err)
			h = append(h, message.Assistant(message.ToolCall{ID: "call", Name: "read", Arguments: "{}"}),
				message.Result("call", "read", strings.Repeat(words, 40)))
		}
		require.InEpsilon(t, charged, predicted, 0.02, script)
	}
}
