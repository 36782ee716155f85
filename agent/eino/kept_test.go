package eino_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// TestEditedMessageIsExportedOnce calls again and again with a history that grows: the model
// gets the same copies of cleared messages, until something changes that is not edited.
func TestEditedMessageIsExportedOnce(t *testing.T) {
	t.Parallel()
	history := long(6)
	for i, m := range history {
		m.Extra = map[string]any{"id": fmt.Sprint(i)}
	}
	inner := newFake(says(say("done")))
	chat := eino.Wrap(inner, contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1, ClearToolInputs: true}))
	ask := func(in []*schema.Message) []*schema.Message {
		_, err := chat.Generate(t.Context(), in)
		require.NoError(t, err)
		return inner.asked[len(inner.asked)-1]
	}
	first := ask(history)
	edited := 0
	compare := func(again []*schema.Message, except int) {
		t.Helper()
		for i := range first {
			if first[i] == history[i] {
				continue
			}
			edited++
			require.Equal(t, i != except, first[i] == again[i], "message %d", i)
			require.Equal(t, history[i].Extra, again[i].Extra)
			require.Equal(t, history[i].ResponseMeta, again[i].ResponseMeta)
			require.Len(t, again[i].ToolCalls, len(history[i].ToolCalls))
		}
	}
	compare(ask(history), -1)
	compare(ask(append(slices.Clip(history), say("so far"), schema.UserMessage("Go on."))), -1)
	require.Greater(t, edited, 8)

	var result, call int
	for i, m := range first {
		switch {
		case m == history[i]:
		case m.Role == schema.Tool:
			result = i
		default:
			call = i
		}
	}
	for name, c := range map[string]struct {
		at     int
		change func(m *schema.Message)
	}{
		"another Extra":           {result, func(m *schema.Message) { m.Extra = map[string]any{"id": "new"} }},
		"a meta":                  {result, func(m *schema.Message) { m.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop"} }},
		"another type of a call":  {call, func(m *schema.Message) { m.ToolCalls[0].Type = "other" }},
		"another Extra of a call": {call, func(m *schema.Message) { m.ToolCalls[0].Extra = map[string]any{"x": 1} }},
	} {
		c.change(history[c.at])
		again := ask(history)
		compare(again, c.at)
		if len(history[c.at].ToolCalls) > 0 {
			require.Equal(t, history[c.at].ToolCalls[0].Type, again[c.at].ToolCalls[0].Type, name)
			require.Equal(t, history[c.at].ToolCalls[0].Extra, again[c.at].ToolCalls[0].Extra, name)
		}
		first = again
	}
	history[result].Extra["late"] = true
	require.Contains(t, ask(history)[result].Extra, "late", "the copy shares the Extra of the original")
}

// TestConversationsAtOnce has several calls of forks of one conversation at a time.
func TestConversationsAtOnce(t *testing.T) {
	t.Parallel()
	history := long(20)
	inner := newFake(says(say("done")))
	chat := eino.Wrap(inner, clearing())
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			own := append(slices.Clone(history[:len(history)-2*(n%3)]), schema.UserMessage(fmt.Sprint("Fork ", n)))
			for range 10 {
				_, err := chat.Generate(t.Context(), own)
				if err != nil {
					t.Error(err)
				}
				own = append(own, say("so far"), schema.UserMessage("Go on."))
			}
		})
	}
	wg.Wait()
	require.Equal(t, long(20), history, "nothing of the caller is modified")
}
