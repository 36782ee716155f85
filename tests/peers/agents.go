package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/tokens"
)

// agents returns the rows of whole runs of an ADK agent: the time that a middleware adds.
func agents() []row {
	limit := 60 * rounds
	return []row{{name: "ADK run of 1,000 rounds, clearing at 60,000 tokens", collect: true, runners: []runner{
		{name: "no middleware", hidden: true, prepare: agent(nil, nil)},
		{name: "laconic, eino.Wrap", minus: "no middleware", prepare: agent(nil, func(m model.ToolCallingChatModel) model.ToolCallingChatModel {
			return eino.Wrap(m, clears(limit, tokens.Chars4, nil, noFacts))
		})},
		{name: "reduction, in place", peer: true, minus: "no middleware", prepare: agent(func() (adk.ChatModelAgentMiddleware, error) {
			return reduction.New(context.Background(), &reduction.Config{
				SkipTruncation: true, MaxTokensForClear: int64(limit), ClearRetentionSuffixLimit: keep,
			})
		}, nil)},
	}}}
}

// reader calls its tool until the rounds are over.
type reader struct {
	mute

	asks int
}

func (r *reader) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	r.asks++
	if r.asks > rounds {
		return schema.AssistantMessage("done", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: fmt.Sprintf("call_%06d", r.asks), Type: "function", Function: schema.FunctionCall{
		Name: "read_log", Arguments: fmt.Sprintf(`{"job":"nightly","page":%d}`, r.asks),
	}}}), nil
}

func (r *reader) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return r, nil }

// log is the tool.
type log struct{ pages atomic.Int64 }

func (l *log) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "read_log", Desc: "Reads a page of a log.", ParamsOneOf: schema.NewParamsOneOfByParams(
		map[string]*schema.ParameterInfo{"job": {Type: schema.String}, "page": {Type: schema.Integer}})}, nil
}

func (l *log) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return page(int(l.pages.Add(1))), nil
}

// agent returns a whole run of an agent.
func agent(
	handler func() (adk.ChatModelAgentMiddleware, error), wrap func(model.ToolCallingChatModel) model.ToolCallingChatModel,
) func() (func() error, error) {
	return func() (func() error, error) {
		var chat model.ToolCallingChatModel = &reader{}
		if wrap != nil {
			chat = wrap(chat)
		}
		cfg := &adk.ChatModelAgentConfig{
			Name: "auditor", Description: "Finds out why builds fail.", Instruction: "You fix builds.", Model: chat, MaxIterations: rounds + 2,
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{&log{}}}},
		}
		if handler != nil {
			h, err := handler()
			if err != nil {
				return nil, err
			}
			cfg.Handlers = append(cfg.Handlers, h)
		}
		a, err := adk.NewChatModelAgent(context.Background(), cfg)
		if err != nil {
			return nil, err
		}
		runner := adk.NewRunner(context.Background(), adk.RunnerConfig{Agent: a})
		return func() error { return finish(runner.Query(context.Background(), "Why does the nightly build fail?")) }, nil
	}
}

// finish reads the events of a run.
func finish(events *adk.AsyncIterator[*adk.AgentEvent]) error {
	last := ""
	for {
		e, ok := events.Next()
		if !ok {
			break
		}
		if e.Err != nil {
			return e.Err
		}
		if e.Output != nil && e.Output.MessageOutput != nil && e.Output.MessageOutput.Message != nil {
			last = e.Output.MessageOutput.Message.Content
		}
	}
	if !strings.Contains(last, "done") {
		return errors.New("the run ended without the last answer")
	}
	return nil
}
