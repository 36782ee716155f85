package eino_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/report"
)

// hasMark reports whether the model of eino-ext for Claude marks the message: getMsgExtraValue[bool] there.
func hasMark(m *schema.Message) bool {
	mark, _ := m.Extra["_eino_claude_breakpoint"].(bool)
	return mark
}

// Marks reach the model, on copies; those of the caller stay.
func TestBreakpoints(t *testing.T) {
	t.Parallel()
	in := []*schema.Message{
		schema.SystemMessage("Be brief."), schema.UserMessage("What is there?"),
		schema.AssistantMessage("", []schema.ToolCall{{ID: "t1", Type: "function", Function: schema.FunctionCall{Name: "look", Arguments: "{}"}}}),
		schema.ToolMessage("a", "t1", schema.WithToolName("look")), schema.AssistantMessage("An a.", nil), schema.UserMessage("And?"),
	}
	in[4].Extra = map[string]any{"_eino_claude_breakpoint": true, "mine": 1}
	model := newFake(says(schema.AssistantMessage("ok", nil)))
	chain := middleware.With(middleware.Env{Breakpoints: true}, contextedit.New(contextedit.Options{}))
	_, err := eino.Wrap(model, chain).Generate(t.Context(), in)
	require.NoError(t, err)
	sent := model.asked[0]
	for i, want := range []bool{false, true, false, false, true, true} {
		require.Equal(t, want, hasMark(sent[i]), "message %d", i)
		require.Equal(t, i == 4, hasMark(in[i]), "message %d of the caller", i)
	}
	require.Same(t, in[3], sent[3])
	require.Equal(t, in[5].Content, sent[5].Content)

	history, err := eino.Import(in)
	require.NoError(t, err)
	for _, mark := range []int{-1, 0, 1, 2, 3, 4, 5} {
		marked := slices.Clone(history)
		if mark >= 0 {
			marked[mark].Hints.Breakpoint = true
		}
		_, err = eino.Model(model)(t.Context(), &middleware.Request{Messages: marked}, nil)
		require.NoError(t, err)
		exported, err := eino.Export(marked)
		require.NoError(t, err)
		for i := range history {
			require.Equal(t, i == mark, hasMark(exported[i]), "message %d", i)
			require.Equal(t, i == mark, hasMark(model.asked[len(model.asked)-1][i]), "message %d", i)
		}
		back, err := eino.Import(exported)
		require.NoError(t, err)
		require.Equal(t, history, back, "a mark is no content")
	}
}

// A model of one's own, or its response modifier, tells by Extra why the cache was missed, also in a stream.
func TestCacheMiss(t *testing.T) {
	t.Parallel()
	first, last := schema.AssistantMessage("H", nil), schema.AssistantMessage("i", nil)
	last.Extra = map[string]any{"cache_miss_reason": "tools_changed"}
	last.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop", Usage: &schema.TokenUsage{
		PromptTokens: 100, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 60, CacheWriteTokens: 30},
	}}
	var got []report.Cache
	inside := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, emit)
			if err == nil {
				got = append(got, resp.Cache)
			}
			return resp, err
		}
	}
	model := eino.Wrap(newFake(says(first, last)), inside, contextedit.New(contextedit.Options{}))
	in := []*schema.Message{schema.UserMessage("Hello")}
	_, err := model.Generate(t.Context(), in)
	require.NoError(t, err)
	stream, err := model.Stream(t.Context(), in)
	require.NoError(t, err)
	_, err = schema.ConcatMessageStream(stream)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, c := range got {
		require.Equal(t, 100, c.Prompt)
		require.Equal(t, 60, c.Read)
		require.Equal(t, "tools_changed", c.Miss)
	}
	require.Zero(t, got[0].Prefix)
	require.Positive(t, got[1].Prefix, "the same request again")
}
