package tests

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// TestRoleOfASummary holds what docs/summaries.md says of the roles of a summary: who
// refuses the view, and that fit, or Repair, mends it.
func TestRoleOfASummary(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.System("You fix builds.")}
	for _, q := range []string{"numberOne", "numberTwo", "number333"} { // IDs that all providers accept
		h = append(h, message.User("Question "+q), message.Assistant(message.Text{Text: "I look for " + q}, message.ToolCall{ID: q, Name: "read", Arguments: `{}`}),
			message.Result(q, "read", strings.Repeat("the log of "+q+" says that all is well\n", 60)), message.Assistant(message.Text{Text: "Answer " + q}))
	}
	h = append(h, message.User("Why?"), message.Assistant(message.ToolCall{ID: "firstCall", Name: "read", Arguments: `{}`}), message.Result("firstCall", "read", "not much"), message.Assistant(message.ToolCall{ID: "lastCalls", Name: "read", Arguments: `{}`}), message.Result("lastCalls", "read", "all is well"))
	all := []message.Rules{message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Mistral}
	for role, refused := range map[message.Role][]message.Rules{
		message.RoleUser:      {message.Bedrock},
		message.RoleAssistant: {message.Gemini, message.Bedrock},
		message.RoleSystem:    {message.Anthropic, message.Gemini, message.Bedrock, message.Mistral},
	} {
		folds := summarize.New(summarize.ByRules(), summarize.Options{Role: role, Keep: 2})
		for _, rules := range all {
			require.NoError(t, rules.Check(h), "the history itself is valid")
			req := &middleware.Request{Messages: h, Force: []string{"summarize"}}
			sent, _, err := middleware.Apply(t.Context(), folds, req)
			require.NoError(t, err)
			require.Less(t, len(sent.Messages), len(h))
			if slices.Contains(refused, rules) {
				require.Error(t, rules.Check(sent.Messages), "%s refuses a summary of the role %s there", rules, role)
			} else {
				require.NoError(t, rules.Check(sent.Messages), "%s takes a summary of the role %s there", rules, role)
			}
			mended := rules.Repair(sent.Messages).Messages
			require.NoError(t, rules.Check(mended), "Repair mends it for %s, role %s", rules, role)
			sent, _, err = middleware.Apply(t.Context(), middleware.Chain(folds, fit.New(fit.Options{Rules: rules})), req)
			require.NoError(t, err)
			require.NoError(t, rules.Check(sent.Messages), "fit mends it for %s, role %s", rules, role)
		}
	}
}
