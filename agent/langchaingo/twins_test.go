package langchaingo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/fit"
)

// TestRepeatedID has calls of one answer of which several have the same ID, as local
// models give them: each call must get its own result, in whatever messages they are.
func TestRepeatedID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ calls, results string }{
		"a message each":        {"aba", "a b a"},
		"one message":           {"aba", "aba"},
		"one message, in order": {"aab", "aab"},
		"neighbours":            {"aa", "aa"},
		"two messages":          {"aba", "ab a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := llms.MessageContent{Role: llms.ChatMessageTypeAI}
			order := map[rune][]string{} // what the results of an ID are, in order
			for n, id := range c.calls {
				tool := "tool" + string(rune('0'+n))
				order[id] = append(order[id], tool)
				calls.Parts = append(calls.Parts, llms.ToolCall{ID: string(id), Type: "function", FunctionCall: &llms.FunctionCall{Name: tool, Arguments: "{}"}})
			}
			history := []llms.MessageContent{human("go"), calls}
			for m := range strings.FieldsSeq(c.results) {
				f := llms.MessageContent{Role: llms.ChatMessageTypeTool}
				for _, id := range m {
					f.Parts = append(f.Parts, llms.ToolCallResponse{ToolCallID: string(id), Content: "of " + order[id][0]})
					order[id] = order[id][1:]
				}
				history = append(history, f)
			}
			check := func(msgs []llms.MessageContent, why string) {
				names, results := map[string]string{}, 0
				for _, m := range msgs {
					for _, p := range m.Parts {
						switch p := p.(type) {
						case llms.ToolCall:
							names[p.ID] = p.FunctionCall.Name
						case llms.ToolCallResponse:
							results++
							require.Equal(t, "of "+names[p.ToolCallID], p.Content, why)
							require.Equal(t, names[p.ToolCallID], p.Name, why)
						}
					}
				}
				require.Equal(t, len(c.calls), results, why)
			}
			for _, rules := range []message.Rules{message.OpenAI, message.Anthropic, message.Gemini, message.Mistral} {
				inner := gives(says("ok"))
				_, err := langchaingo.Wrap(inner, fit.New(fit.Options{Rules: rules})).GenerateContent(t.Context(), history)
				require.NoError(t, err)
				check(inner.last().msgs, rules.String())
			}
			msgs := mustImport(t, history)
			out, err := langchaingo.Export(message.Rules(0).Repair(msgs).Messages)
			require.NoError(t, err)
			check(out, "exported after a repair")
			out, err = langchaingo.Export(msgs)
			require.NoError(t, err)
			n := 0
			for _, m := range out {
				for _, p := range m.Parts {
					if r, ok := p.(llms.ToolCallResponse); ok {
						require.Equal(t, "of "+r.Name, r.Content, "exported as it is")
						n++
					}
				}
			}
			require.Equal(t, len(c.calls), n, "exported as it is")
		})
	}
}

// TestPiecesOfAResult checks that the pieces of one result are sent as one, also if
// another result is between them.
func TestPiecesOfAResult(t *testing.T) {
	t.Parallel()
	piece := func(id, text string) message.Part { return message.ToolResult{CallID: id, Name: "look", Text: text} }
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "a", Name: "look", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "look", Arguments: "{}"}),
		{Role: message.RoleTool, Parts: []message.Part{piece("a", "1"), piece("b", "2"), piece("a", "3")}},
	}
	out, err := langchaingo.Export(h)
	require.NoError(t, err)
	require.Len(t, out, 4)
	require.Equal(t, "1\n3", out[2].Parts[0].(llms.ToolCallResponse).Content)
}
