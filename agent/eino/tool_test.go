package eino_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// An agent of eino reads again what the chain around its model has cleared.
func TestToolRecalls(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	archive := store.NewMemory(0)
	recall, err := eino.Tool(agent.Recall(archive, agent.RecallOptions{}))
	require.NoError(t, err)
	read := reader(pages)
	inner := newFake(func(ctx context.Context, in []*schema.Message) ([]*schema.Message, error) {
		last := in[len(in)-1]
		if last.ToolName == store.RecallTool {
			return []*schema.Message{say(last.Content)}, nil
		}
		for _, m := range in {
			if handles := archived.In(m.Content); len(handles) > 0 {
				return []*schema.Message{schema.AssistantMessage("", []schema.ToolCall{{
					ID: "again", Type: "function", Function: schema.FunctionCall{Name: store.RecallTool, Arguments: fmt.Sprintf(`{"handle":%q}`, handles[0])},
				}})}, nil
			}
		}
		return read(ctx, in)
	})
	a, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: eino.Wrap(inner, middleware.With(middleware.Env{Archive: archive},
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(window / 2), Keep: 2}))),
		ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(t), recall}},
		MaxStep:     3 * pages,
	})
	require.NoError(t, err)
	answer, err := a.Generate(ctx, []*schema.Message{schema.UserMessage("Why?")})
	require.NoError(t, err)
	require.Equal(t, "page 0: "+strings.Repeat("ok ", 300), answer.Content, "the first page was cleared, and the model has read it again")
	require.Len(t, inner.options[0].Tools, 2, "the model knows both tools")
}

// fixed is a tool that always answers the same.
type fixed struct {
	def   message.ToolDef
	parts []message.Part
	err   error
}

func (f fixed) Definition() message.ToolDef                          { return f.def }
func (f fixed) Call(context.Context, string) ([]message.Part, error) { return f.parts, f.err }

func TestToolAnswers(t *testing.T) {
	t.Parallel()
	def := message.ToolDef{Name: "look", Description: "Looks.", Parameters: `{"type":"object","properties":{"at":{"type":"string"}}}`}
	for want, f := range map[string]fixed{
		"":  {},
		"a": {parts: []message.Part{message.Text{Text: "a"}}},
		"a\n[image/png, 3 bytes, cannot be shown here]\n[cannot be shown here]": {parts: []message.Part{
			message.Text{Text: "a"}, message.Media{Type: "image/png", Data: "png"}, message.Opaque{Kind: "x"},
		}},
		"error: no such page; want 1 to 3": {err: errors.New("no such page; want 1 to 3")},
	} {
		f.def = def
		made, err := eino.Tool(f)
		require.NoError(t, err)
		info, err := made.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"look", "Looks."}, []string{info.Name, info.Desc})
		parameters, err := info.ToJSONSchema()
		require.NoError(t, err)
		require.Equal(t, 1, parameters.Properties.Len())
		got, err := made.InvokableRun(t.Context(), "{}")
		require.NoError(t, err, "an error would end the run")
		require.Equal(t, want, got)
	}

	made, err := eino.Tool(fixed{def: def, err: context.Canceled})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = made.InvokableRun(ctx, "{}")
	require.ErrorIs(t, err, context.Canceled, "who is gone needs no answer")
	made, err = eino.Tool(fixed{def: def, parts: []message.Part{message.Text{Text: "done"}}})
	require.NoError(t, err)
	got, err := made.InvokableRun(ctx, "{}")
	require.NoError(t, err)
	require.Equal(t, "done", got, "what is done is done")

	_, err = eino.Tool(fixed{def: message.ToolDef{Name: "look", Parameters: "no schema"}})
	require.ErrorContains(t, err, "tool look: parameters: ")
}

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
