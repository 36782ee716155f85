package fit_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

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

// The tools that fit declares are in the total of a request that cannot be made to fit.
func TestDeclaredToolsInNumbers(t *testing.T) {
	t.Parallel()
	h := readsLogs(2)
	for i := range h {
		h[i].Hints.Pinned = true
	}
	_, _, err := middleware.Apply(t.Context(), fit.New(fit.Options{Rules: message.Anthropic}), &middleware.Request{
		Messages: h, Budget: &middleware.Budget{Window: 100},
	})
	e, ok := errors.AsType[*fit.Irreducible](err)
	require.True(t, ok, "%v", err)
	require.Greater(t, e.Total, (tokens.Meter{}).Request(h, nil))
}
