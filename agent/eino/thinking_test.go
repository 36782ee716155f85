package eino_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

const (
	claudeThinking  = "_eino_claude_thinking"
	claudeSignature = "_eino_claude_thinking_signature"
)

// claude streams an answer as eino-ext's model for Claude does: the beginning of the block, its
// text, its signature, the text of the answer. Without a text, the provider has omitted it.
func claude(thinking, signature, text string) []*schema.Message {
	extra := func(extra map[string]any) *schema.Message {
		return &schema.Message{Role: schema.Assistant, Extra: extra}
	}
	chunks := []*schema.Message{extra(map[string]any{claudeThinking: "", claudeSignature: "", "request": "r"})}
	if thinking != "" {
		c := extra(map[string]any{claudeThinking: thinking})
		c.ReasoningContent = thinking
		chunks = append(chunks, c)
	}
	return append(chunks, extra(map[string]any{claudeSignature: signature}), say(text))
}

// sentBack returns the thinking that eino-ext's model for Claude sends back of an answer.
func sentBack(m *schema.Message) (block message.Thinking) {
	text, _ := m.Extra[claudeThinking].(string)
	signature, _ := m.Extra[claudeSignature].(string)
	if text != "" && signature != "" {
		block = message.Thinking{Text: text, Signature: signature}
	}
	return block
}

// TestThinkingOfClaude talks for some turns while the thinking of old turns is cleared.
func TestThinkingOfClaude(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, ask func(m model.BaseChatModel, in []*schema.Message, opts ...model.Option) (*schema.Message, error)) {
		turn := 0
		inner := newFake(func(context.Context, []*schema.Message) ([]*schema.Message, error) {
			turn++
			thinking := fmt.Sprint("I think of turn ", turn)
			if turn%2 == 0 {
				thinking = ""
			}
			return claude(thinking, fmt.Sprint("sig", turn), fmt.Sprint("answer ", turn)), nil
		})
		var seen []message.Message
		chat := eino.Wrap(inner,
			contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 1, ClearThinking: true}),
			look(func(req *middleware.Request, resp *middleware.Response, _ error) {
				seen = append(slices.Clone(req.Messages), resp.Message)
			}))
		history := []*schema.Message{schema.UserMessage("Why does it fail?")}
		removed := 0
		for range 6 {
			answer, err := ask(chat, slices.Clone(history))
			require.NoError(t, err)
			require.Equal(t, "r", answer.Extra["request"], "an answer keeps its Extra")
			require.Equal(t, fmt.Sprint("sig", turn), answer.Extra[claudeSignature])
			require.Equal(t, message.Thinking{Text: answer.ReasoningContent, Signature: fmt.Sprint("sig", turn)}, seen[len(seen)-1].Parts[0])
			before, err := json.Marshal(history)
			require.NoError(t, err)
			for i, m := range inner.asked[len(inner.asked)-1] {
				if _, thinks := seen[i].Parts[0].(message.Thinking); thinks || m.Role != schema.Assistant {
					require.Same(t, history[i], m, "what is kept is the value of the caller")
					continue
				}
				removed++
				require.Zero(t, sentBack(m))
				require.Empty(t, m.ReasoningContent)
				require.Equal(t, map[string]any{"request": "r"}, m.Extra)
				require.Equal(t, history[i].Content, m.Content)
			}
			after, err := json.Marshal(history)
			require.NoError(t, err)
			require.JSONEq(t, string(before), string(after), "nothing of the caller is modified")
			require.NotEmpty(t, history[len(history)-1].Content)
			history = append(history, answer, schema.UserMessage("Go on."))
		}
		require.Greater(t, removed, 5)
		require.Equal(t, "sig2", history[3].Extra[claudeSignature])
	})
}

// A middleware that changes the text of an answer leaves its thinking as it came.
func TestChangedAnswerOfClaude(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, ask func(m model.BaseChatModel, in []*schema.Message, opts ...model.Option) (*schema.Message, error)) {
		for _, thinking := range []string{"hm", ""} {
			whole, err := schema.ConcatMessages(claude(thinking, "sig", "so"))
			require.NoError(t, err)
			rewrite := look(func(_ *middleware.Request, resp *middleware.Response, _ error) {
				resp.Message.Parts = []message.Part{resp.Message.Parts[0], message.Text{Text: "changed"}}
			})
			answer, err := ask(eino.Wrap(newFake(says(whole)), rewrite), long(1))
			require.NoError(t, err)
			require.Equal(t, "sig", answer.Extra[claudeSignature])
			require.Equal(t, thinking, answer.ReasoningContent)
			require.Equal(t, "so", whole.Content)
		}
	})
}
