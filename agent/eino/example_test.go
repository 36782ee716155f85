package eino_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	laconic_react "github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/store"
)

// exampleModel stands for openai.NewChatModel, or whatever gives a model. It
// reads five pages and answers.
func exampleModel(context.Context) model.ToolCallingChatModel { return newFake(reader(5)) }

// exampleTools has one tool, which reads a page.
func exampleTools() []tool.BaseTool {
	read, err := utils.InferTool("read", "Reads a page of the log.", func(_ context.Context, in page) (string, error) {
		return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("ok ", 1000)), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return []tool.BaseTool{read}
}

// All agents, chains and graphs of eino take the wrapped model.
func ExampleWrap() {
	ctx := context.Background()
	tell := func(_ context.Context, e middleware.Event) { fmt.Println(e) }

	// Wrap begins.
	chat := eino.Wrap(exampleModel(ctx),
		middleware.Observe(tell),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_500), Keep: 2}),
	)
	auditor, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: chat,
		ToolsConfig:      compose.ToolsNodeConfig{Tools: exampleTools()},
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := auditor.Generate(ctx, []*schema.Message{schema.UserMessage("Why does the build fail?")})
	// Wrap ends.

	fmt.Println(answer.Content, err)
	// Output:
	// middleware: called: 53 tokens for a history of 53; edits in force: 0; first tokens as in the call before: 0
	// middleware: called: 1021 tokens for a history of 1021; edits in force: 0; first tokens as in the call before: 53
	// middleware: called: 1989 tokens for a history of 1989; edits in force: 0; first tokens as in the call before: 1021
	// contextedit: 2957 → 2010 tokens: cleared 1 result (2957 of 2500 tokens)
	// middleware: called: 2010 tokens for a history of 2957; edits in force: 1; first tokens as in the call before: 65
	// contextedit: 2978 → 2031 tokens: cleared 1 result (2978 of 2500 tokens)
	// middleware: called: 2031 tokens for a history of 3925; edits in force: 2; first tokens as in the call before: 86
	// contextedit: 2999 → 2052 tokens: cleared 1 result (2999 of 2500 tokens)
	// middleware: called: 2052 tokens for a history of 4893; edits in force: 3; first tokens as in the call before: 107
	// The last page has it. <nil>
}

// What eino does not know of a model, its window for one, is told by Options.
func ExampleOptions_Wrap() {
	ctx := context.Background()

	// Options begins.
	chat := eino.Options{
		Model:  "gpt-5-mini",
		Budget: &middleware.Budget{Window: 4_000, Reserve: 500},
	}.Wrap(exampleModel(ctx), contextedit.New(contextedit.Options{Keep: 2})) // at three quarters of the window
	// Options ends.

	auditor, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "auditor", Description: "Finds out why builds fail.",
		Model:       chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: exampleTools()}},
	})
	if err != nil {
		log.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: auditor, EnableStreaming: true}).Query(ctx, "Why does the build fail?")

	last := ""
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		m, err := e.Output.MessageOutput.GetMessage()
		if err != nil {
			log.Fatal(err)
		}
		last = m.Content
	}
	fmt.Println(last)
	// Output: The last page has it.
}

// What the chain clears is kept, and a tool reads it again.
func ExampleTool() {
	ctx := context.Background()

	// Tool begins.
	archive := store.NewMemory(0)
	recall, err := eino.Tool(agent.Recall(archive, agent.RecallOptions{}))
	if err != nil {
		log.Fatal(err)
	}
	auditor, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: eino.Wrap(exampleModel(ctx), middleware.With(middleware.Env{Archive: archive},
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_500), Keep: 2}),
		)),
		ToolsConfig: compose.ToolsNodeConfig{Tools: append(exampleTools(), recall)},
	})
	// Tool ends.
	if err != nil {
		log.Fatal(err)
	}
	answer, err := auditor.Generate(ctx, []*schema.Message{schema.UserMessage("Why does the build fail?")})
	fmt.Println(answer.Content, err)
	// Output:
	// The last page has it. <nil>
}

// An option of a call makes contextedit clear old results now, whatever its trigger.
func ExampleForce() {
	ctx := context.Background()
	tell := func(_ context.Context, e middleware.Event) { fmt.Println(e.Kind, e.By) }
	chat := eino.Wrap(exampleModel(ctx), middleware.Observe(tell), contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1_000_000), Keep: 1}))
	history := []*schema.Message{schema.UserMessage("Why does the build fail?")}
	for _, id := range []string{"a", "b"} {
		call := schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: "read", Arguments: "{}"}}
		history = append(history, schema.AssistantMessage("", []schema.ToolCall{call}), schema.ToolMessage(strings.Repeat("ok ", 1000), id))
	}
	_, err := chat.Generate(ctx, history, eino.Force("contextedit"))
	fmt.Println(err)
	// Output:
	// edited contextedit
	// called middleware
	// <nil>
}

// Any chat model of eino drives laconic's own loop.
func ExampleModel() {
	ctx := context.Background()
	read := agent.NewTool("read", "Reads a page of the log.", func(_ context.Context, in page) (string, error) {
		return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("ok ", 1000)), nil
	})

	// Model begins.
	provider := eino.Model(exampleModel(ctx), model.WithTemperature(0))
	a := laconic_react.Agent{
		Model: middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_500), Keep: 2}))(provider),
		Tools: []agent.Tool{read},
	}
	// Model ends.

	for event, err := range a.Run(ctx, message.User("Why does the build fail?")) {
		if end, ok := event.(laconic_react.End); ok {
			fmt.Println(end.Answer(), err)
		}
	}
	// Output: The last page has it. <nil>
}

// exampleModels are the model of the conversation, and a cheaper one.
func exampleModels(context.Context) (big, small model.ToolCallingChatModel) {
	return newFake(writes(steps(5))), newFake(writes(nil))
}

// A cheaper model writes summaries of what is old.
func ExampleModel_summaries() {
	ctx := context.Background()
	tell := func(_ context.Context, e middleware.Event) { fmt.Println(e.Kind) }

	// Summaries begins.
	big, small := exampleModels(ctx)
	chat := eino.Wrap(big,
		middleware.Observe(tell),
		summarize.New(summarize.By(eino.Model(small), summarize.Ask{Model: "gpt-5-nano"}), summarize.Options{Trigger: trigger.Tokens(4_000), Keep: 4}),
	)
	// Summaries ends.

	auditor, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: chat,
		ToolsConfig:      compose.ToolsNodeConfig{Tools: exampleTools()},
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := auditor.Generate(ctx, []*schema.Message{schema.UserMessage("Why does the build fail?")})
	fmt.Println(answer.Content, err)
	// Output:
	// called
	// called
	// called
	// called
	// called
	// summarizing
	// attempted
	// summarized
	// edited
	// called
	// The last page has it. <nil>
}

// A middleware of eino's ADK can read messages in our words.
func ExampleImport() {
	msgs, err := eino.Import([]*schema.Message{
		schema.UserMessage("Look."),
		schema.AssistantMessage("", []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: "look", Arguments: "{}"}}}),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(message.Check(msgs))
	// Output: message: message 1: unanswered call "c1"
}

func ExampleExport() {
	msgs, err := eino.Export([]message.Message{message.Result("c1", "look", "all is well")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(msgs[0].Role, msgs[0].ToolCallID, msgs[0].Content)
	_, err = eino.Export([]message.Message{message.Assistant(message.ToolCall{ID: "c1", Name: "look"}, message.Text{Text: "Done."})})
	fmt.Println(err)
	// Output:
	// tool c1 all is well
	// eino: message 0: part 1: text after a tool call: in a message of eino the calls are the last
}
