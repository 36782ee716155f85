package fit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

// TestTruncation has providers that report what they have read of a conversation
// that grows by about 750 tokens from call to call.
func TestTruncation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		charge func(counted int) int
		cut    bool
	}{
		"all of it":                    {func(n int) int { return n }, false},
		"another tokenizer":            {func(n int) int { return n * 7 / 10 }, false},
		"an expensive tokenizer":       {func(n int) int { return n * 3 }, false},
		"nothing is reported":          {func(int) int { return 0 }, false},
		"the newest 4096":              {func(n int) int { return min(n, 4096) }, true},
		"the newest 2048":              {func(n int) int { return min(n, 2048) }, true},
		"another tokenizer, cut":       {func(n int) int { return min(n*7/10, 4096) }, true},
		"a third, as if it were money": {func(n int) int { return n / 3 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorder middlewaretest.Recorder
			model := middleware.With(middleware.Env{Counter: tokens.Chars4{}}, recorder.Middleware(), fit.New(fit.Options{Rules: message.OpenAI}))(
				func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
					n := (tokens.Meter{Counter: tokens.Chars4{}}).Request(req.Messages, req.Tools)
					return &middleware.Response{Message: message.Assistant(message.Text{Text: "on"}), Usage: message.Usage{Input: c.charge(n)}}, nil
				})
			for pages := range 12 {
				_, err := model(t.Context(), &middleware.Request{
					Messages: readsLogs(pages + 1), Tools: tools, Budget: &middleware.Budget{Window: 128_000},
				}, nil)
				require.NoError(t, err)
			}
			events := recorder.Events(fit.Truncated)
			if !c.cut {
				require.Empty(t, events)
				return
			}
			require.Len(t, events, 1, "it is reported once")
			require.Contains(t, events[0].Why, "num_ctx", "with the cure")
			require.Less(t, events[0].After, events[0].Before, "and both numbers")
		})
	}
}

// TestOldThinkingIsNotTruncation has a provider that drops the thinking of earlier
// turns, and does not charge it.
func TestOldThinkingIsNotTruncation(t *testing.T) {
	t.Parallel()
	var recorder middlewaretest.Recorder
	meter := tokens.Meter{Counter: tokens.Chars4{}, Framing: tokens.Framing{PerMessage: 4, OldThinkingFree: true}}
	model := middleware.With(middleware.Env{Counter: tokens.Chars4{}}, recorder.Middleware(), fit.New(fit.Options{Rules: message.Anthropic}))(
		func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			return &middleware.Response{
				Message: message.Assistant(message.Text{Text: "on"}), Usage: message.Usage{Input: meter.Request(req.Messages, req.Tools)},
			}, nil
		})
	h := []message.Message{message.User("Why?")}
	for range 6 {
		_, err := model(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 128_000}}, nil)
		require.NoError(t, err)
		h = append(h, message.Assistant(
			message.Thinking{Text: strings.Repeat("Let me think. ", 286), Signature: "s"}, message.Text{Text: "So."},
		), message.User("And why that?"))
	}
	require.Empty(t, recorder.Events(fit.Truncated), "%v", recorder.Events())
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
			model := middleware.Chain(recorder.Middleware(), fit.New(fit.Options{Rules: c.rules}))(script.Model())
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

// The tools that fit declares are in the numbers of a request that cannot be made to fit.
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
	require.Positive(t, e.Tools)
	require.Equal(t, e.Total, e.System+e.Tools+e.Pinned+e.Questions+e.Newest+e.Rest)
	for name, n := range map[string]int{"system": e.System, "pinned": e.Pinned, "questions": e.Questions, "newest": e.Newest, "rest": e.Rest} {
		require.GreaterOrEqual(t, n, 0, name)
	}
}
