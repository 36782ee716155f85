package issues

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// Ideographs that are cleared before they were ever sent were still predicted
// to be charged, at their own rate: several times what the prompt took.
func TestClearedIdeographsAreNotCharged(t *testing.T) {
	t.Parallel()
	predicted, charged := 0, 0
	charge := func(m message.Message) int {
		n := tokens.Meter{Counter: tokens.Chars4}.Message(m)
		if strings.Contains(string(message.Internals(inside.Key{}).AppendContent(nil, &m)), "天") {
			return 5 * n / 2
		}
		return 6 * n / 10
	}
	model := middleware.With(middleware.Env{Counter: tokens.Chars4},
		contextedit.New(contextedit.Options{Trigger: trigger.Messages(3), Keep: -1}),
	)(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		predicted, charged = req.View().Size().Tokens, 0
		for _, m := range req.Messages {
			charged += charge(m)
		}
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: charged}}, nil
	})
	h := []message.Message{message.User(strings.Repeat("is it so? ", 4_000))}
	for range 2 {
		_, err := model(t.Context(), &middleware.Request{Messages: h}, nil)
		require.NoError(t, err)
		h = append(h,
			message.Assistant(message.ToolCall{ID: "call", Name: "read", Arguments: "{}"}),
			message.Result("call", "read", strings.Repeat("天", 80_000)),
			message.Assistant(message.Text{Text: "so it is"}), message.User("Go on."),
		)
	}
	require.InEpsilon(t, charged, predicted, 0.1, "what is not sent is not predicted")
}

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

// A counter without a name was taken for the tokenizer of a model without one,
// and the first ideographs for as cheap as with that.
func TestIdeographsOfUnknownModel(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]float64{"": 1.15, "never heard of": 1.15, "gpt-4o": 1, "gpt-4": 1.15} {
		var v *middleware.View
		watch := middleware.Editing("watch", func(_ context.Context, seen *middleware.View) (*middleware.Plan, error) {
			v = seen
			return nil, nil
		}, middleware.Options{})
		counted := 0
		m := watch(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			counted = v.Meter().Request(req.Messages, nil)
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: message.Usage{Input: counted}}, nil
		})
		h := []message.Message{message.User(strings.Repeat("is it so? ", 500))}
		_, err := m(t.Context(), &middleware.Request{Model: model, Messages: h}, nil)
		require.NoError(t, err)
		before := counted
		h = append(h, message.Assistant(message.Text{Text: "ok"}), message.User(strings.Repeat("今天天气很好", 2_000)))
		_, err = m(t.Context(), &middleware.Request{Model: model, Messages: h}, nil)
		require.NoError(t, err)
		require.InDelta(t, want, float64(v.Size().Tokens-before)/float64(counted-before), 0.02, "model %q", model)
	}
}
