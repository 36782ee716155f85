package tests

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/summarize"
)

const summaries = "../docs/summaries.md"

// TestSummariesPage makes the summary on docs/summaries.md with the first chain file on it.
func TestSummariesPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/data/nightly.json")
	require.NoError(t, err)
	c, err := openai.Parse(data)
	require.NoError(t, err)
	history := c.History()
	var files []*chainfile.File
	for i, text := range chainFilesOn(t, summaries) {
		f, err := chainfile.Parse(fmt.Sprintf("summaries.md, chain %d", i+1), []byte(text))
		require.NoError(t, err)
		files = append(files, f)
	}
	sent, events, err := middleware.Apply(t.Context(), files[0].With(middleware.Env{}), &middleware.Request{Messages: history})
	require.NoError(t, err)
	var folds []middleware.Event
	for _, e := range events {
		if e.Kind == middleware.Edited {
			folds = append(folds, e)
		}
	}
	require.Len(t, folds, 1, "%v", events)
	page, err := os.ReadFile(summaries)
	require.NoError(t, err)
	require.Contains(t, string(page), thousands(folds[0].Before)+" tokens")
	shows(t, summaries, "after", outlined(sent.Messages)+fmt.Sprintf("\n%s tokens\n", thousands(folds[0].After)))
}

// outlined shows each message in one line, and the parts of a summary whole.
func outlined(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		texts := 0
		for _, p := range m.Parts {
			if text, ok := p.(message.Text); ok && (texts > 0 || strings.Contains(text.Text, "\n")) {
				fmt.Fprintf(&b, "%-10s %s\n", roleAt(texts, string(m.Role)), strings.ReplaceAll(text.Text, "\n", "\n           "))
				texts++
				continue
			}
			fmt.Fprintf(&b, "%-10s %s\n", roleAt(texts, string(m.Role)), line(p))
			texts++
		}
	}
	return b.String()
}

// roleAt is the role of a message, at its first part alone.
func roleAt(n int, role string) string {
	if n > 0 {
		return ""
	}
	return role
}

// line is the beginning of a part.
func line(p message.Part) string {
	text := fmt.Sprintf("%T", p)
	switch p := p.(type) {
	case message.Text:
		text = p.Text
	case message.ToolCall:
		text = p.Name + " " + p.Arguments
	case message.ToolResult:
		text = p.Text
	case message.Thinking, message.Media, message.Opaque:
	}
	first, rest, more := strings.Cut(text, "\n")
	const width = 100
	if r := []rune(first); len(r) > width {
		first = string(r[:width]) + " …"
	}
	if more {
		first += fmt.Sprintf(" … %d more lines", 1+strings.Count(strings.TrimSuffix(rest, "\n"), "\n"))
	}
	return first
}

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
