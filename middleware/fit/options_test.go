package fit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts fit.Options
		want string
	}{
		"negative target":    {fit.Options{Target: -0.1}, "want a Target of more than 0 and at most 1, as a share of the room, or 0 for 0.9, got -0.1"},
		"target above one":   {fit.Options{Target: 1.1}, ", got 1.1"},
		"target is no share": {fit.Options{Target: math.NaN()}, ", got NaN"},
		"blank placeholder":  {fit.Options{Placeholder: " \n"}, "Placeholder is blank, which providers reject, want a text that can be seen"},
		"blank note":         {fit.Options{Note: "\t"}, "Note is blank"},
		"several":            {fit.Options{Target: 2, Note: " "}, "or 0 for 0.9, got 2\nNote is blank"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.opts.Validate()
			require.ErrorContains(t, err, c.want)
			require.PanicsWithValue(t, "fit: "+err.Error(), func() { fit.New(c.opts) })
		})
	}
	for name, opts := range map[string]fit.Options{
		"zero": {},
		"all":  {Rules: message.Portable | message.Prefill, Limits: message.Limits{Images: -1}, Target: 1, Placeholder: "-", Note: "-", NoRetry: true},
	} {
		require.NoError(t, opts.Validate(), name)
	}
}

// TestRulesOfTheModel sends what only some accept, by a format and the name of a model.
func TestRulesOfTheModel(t *testing.T) {
	t.Parallel()
	const long = "this.id-has-more-than-sixty-four-characters-and-a-dot-which-most-of-them-reject"
	newClaude, oldClaude := message.Anthropic|message.InPlace, message.Anthropic|message.Prefill|message.SystemFirst
	for _, c := range []struct {
		format, model string
		want          message.Rules
	}{
		{"", "gpt-4o", message.OpenAI},
		{"", "deepseek-chat", message.Chat | message.OneText},
		{"", "claude-sonnet-4-5", oldClaude},
		{"", "gemini-2.5-pro", message.Gemini},
		{"", "mistral-large-2411", message.Mistral},
		{"", "mistral.mistral-large-2411-v1:0", message.Bedrock},
		{"", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", oldClaude | message.Bedrock},
		{"", "amazon.nova-pro-v1:0", message.Bedrock},
		{"", "bedrock/meta.llama3-1-70b-instruct-v1:0", message.Bedrock},
		{"", "unknown", message.Chat},
		{"", "", message.Chat},
		{"chat", "gpt-4o", message.OpenAI},
		{"chat", "claude-sonnet-4-5", message.Chat},
		{"chat", "gemini-2.5-pro", message.Chat},
		{"chat", "amazon.nova-pro-v1:0", message.Chat},
		{"chat", "qwen3:8b", message.Chat | message.OneSystem},
		{"chat", "deepseek-v4-pro", message.Chat | message.OneText | message.ThinkingCalls},
		{"chat", "unknown", message.Chat},
		{"ollama", "qwen3:8b", message.Chat},
		{"responses", "gpt-4o", message.OpenAIResponses},
		{"responses", "deepseek-v4-pro", message.OpenAIResponses},
		{"messages", "claude-sonnet-4-5", oldClaude},
		{"messages", "claude-opus-4-6", newClaude | message.SystemFirst},
		{"messages", "claude-opus-4-8", newClaude},
		{"messages", "kimi-k2.5", message.Messages},
		{"gemini", "gemini-9-ultra", message.Gemini},
		{"gemini", "unknown", message.Gemini},
	} {
		t.Run(c.format+" "+c.model, func(t *testing.T) {
			t.Parallel()
			h := []message.Message{
				message.System("You are brief."),
				message.Assistant(message.ToolCall{ID: long, Name: "a tool", Arguments: "{}"}),
				message.Result(long, "a tool", " "),
				message.System("It is late."),
				message.Assistant(message.Text{Text: "So."}, message.Thinking{Text: "hm"}, message.Text{Text: "Yes."}),
				message.Assistant(message.ToolCall{ID: "x", Name: "tool", Arguments: "{}"}),
				message.Result("x", "tool", "one"),
				message.Assistant(message.Text{Text: "The end."}),
			}
			script := middlewaretest.Script(middlewaretest.Say("ok"))
			_, err := fit.New(fit.Options{})(script.Model)(t.Context(), &middleware.Request{
				Messages: h, Model: c.model, Format: c.format, Tools: tools, Budget: &middleware.Budget{Window: 100_000},
			}, nil)
			require.NoError(t, err)
			if c.format != "" {
				c.want |= message.AsSent
			}
			valid := c.want.Repair(h).Messages
			require.NoError(t, testkit.Same(valid, script.Requests()[0].Messages), "want the rules of %v", c.want)
		})
	}
}

// TestToolsAreDeclared has a request without tools whose history has calls.
func TestToolsAreDeclared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model string
		rules message.Rules
		tools []message.ToolDef
		want  []string
	}{
		"Anthropic":           {model: "claude-sonnet-4-5", want: []string{"read_log"}},
		"Bedrock":             {rules: message.Bedrock, want: []string{"read_log"}},
		"OpenAI":              {model: "gpt-4o"},
		"not known":           {model: "mine"},
		"there are some":      {rules: message.Bedrock, tools: []message.ToolDef{{Name: "other"}}, want: []string{"other"}},
		"by options, of both": {rules: message.Bedrock | message.OpenAI, want: []string{"read_log"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorder middlewaretest.Recorder
			script := middlewaretest.Script(middlewaretest.Say("one"), middlewaretest.Say("two"))
			model := middleware.Chain(recorder.Middleware(), fit.New(fit.Options{Rules: c.rules}))(script.Model)
			for range 2 {
				_, err := model(t.Context(), &middleware.Request{
					Messages: readsLogs(2), Tools: c.tools, Model: c.model, Budget: &middleware.Budget{Window: 128_000},
				}, nil)
				require.NoError(t, err)
			}
			for _, req := range script.Requests() {
				var names []string
				for _, tool := range req.Tools {
					names = append(names, tool.Name)
				}
				require.Equal(t, c.want, names)
			}
			if c.tools == nil && c.want != nil {
				require.Len(t, recorder.Events(middleware.Repaired), 1, "it is reported once")
			} else {
				require.Empty(t, recorder.Events(middleware.Repaired))
			}
		})
	}
}
