package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// TestBesideReduction runs an agent whose own middlewares clear old results and answer calls that were interrupted. The usage in
// its messages is that of what was there before, or, of a mock, always the same: fit has nothing to do.
func TestBesideReduction(t *testing.T) {
	t.Parallel()
	for name, usage := range map[string]func(in []*schema.Message) int{
		"charged": func(in []*schema.Message) (n int) {
			for _, m := range in {
				n += (len(m.Content)+len(m.ReasoningContent))/4 + 10
			}
			return n
		},
		"always 100": func([]*schema.Message) int { return 100 },
		"nothing":    func([]*schema.Message) int { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			const rounds = 30
			inner := &scripted{does: func(in []*schema.Message) *schema.Message {
				answered := -1 // the call that was interrupted
				for _, m := range in {
					if m.Role == schema.Assistant {
						answered++
					}
				}
				m := schema.AssistantMessage("Done.", nil)
				if answered < rounds {
					m = schema.AssistantMessage("", []schema.ToolCall{{ID: fmt.Sprint("r", answered), Function: schema.FunctionCall{
						Name: "read", Arguments: `{"page":1}`,
					}}})
				}
				n := usage(in)
				m.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: n, TotalTokens: n}}
				return m
			}}
			read, err := utils.InferTool("read", "Reads a page.", func(context.Context, struct{ Page int }) (string, error) {
				return strings.Repeat("ok ", 300), nil
			})
			check(t, err)
			reduce, err := reduction.New(ctx, &reduction.Config{SkipTruncation: true, MaxTokensForClear: 3000, ClearRetentionSuffixLimit: 2})
			check(t, err)
			patch, err := patchtoolcalls.New(ctx, nil)
			check(t, err)
			var heard middlewaretest.Recorder
			a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
				Name: "auditor", Description: "reads logs", Instruction: "Be brief.",
				Model:         eino.Options{Budget: &middleware.Budget{Window: 12_000}}.Wrap(inner, heard.Middleware(), fit.New(fit.Options{})),
				ToolsConfig:   adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}},
				MaxIterations: 2 * rounds,
				Handlers:      []adk.ChatModelAgentMiddleware{patch, reduce},
			})
			check(t, err)
			start := []*schema.Message{
				schema.UserMessage("Why?"),
				schema.AssistantMessage("", []schema.ToolCall{{ID: "lost", Function: schema.FunctionCall{Name: "read", Arguments: `{"page":1}`}}}),
				schema.UserMessage(strings.Repeat("Read all pages. ", 50)),
			}
			events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a}).Run(ctx, start)
			for e, ok := events.Next(); ok; e, ok = events.Next() {
				check(t, e.Err)
			}
			cleared := 0
			for _, m := range inner.last {
				cleared += strings.Count(m.Content, "cleared")
			}
			if cleared == 0 {
				t.Error("want results that eino's middleware has cleared")
			}
			if told := heard.Events(middleware.Truncated, middleware.Edited); len(told) > 0 {
				t.Errorf("want no event, got %d: %s", len(told), told[0])
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scripted is a chat model that answers by a function.
type scripted struct {
	does func(in []*schema.Message) *schema.Message
	last []*schema.Message
}

func (s *scripted) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	s.last = in
	return s.does(in), nil
}

func (s *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (s *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }
