package langchaingo_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/store"
)

// pager stands in for a provider: it reads page after page of a log.
type pager struct{ pages int }

func (p pager) GenerateContent(_ context.Context, msgs []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	read := 0
	for _, m := range msgs {
		if m.Role == llms.ChatMessageTypeTool {
			read++
		}
	}
	if read == p.pages {
		return says("The linker ran out of memory."), nil
	}
	return calls(fmt.Sprintf("call_%d", read), "read_log", fmt.Sprintf(`{"__arg1":"%d"}`, read+1)), nil
}

func (pager) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("not used")
}

// readLog is a tool of langchaingo.
type readLog struct{}

func (readLog) Name() string        { return "read_log" }
func (readLog) Description() string { return "Reads a page of the build log." }

func (readLog) Call(_ context.Context, page string) (string, error) {
	return "page " + page + ": " + strings.Repeat("ok ", 1000), nil
}

// The one line that a program with langchaingo adds is the one with Wrap.
func ExampleWrap() {
	ctx := context.Background()
	llm := pager{pages: 4} // or openai.New(), anthropic.New(), …

	// Wrap begins.
	model := langchaingo.Wrap(llm,
		middleware.Observe(func(_ context.Context, e middleware.Event) { fmt.Println(e) }),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_500), Keep: 2}),
	)

	reader := agents.NewOpenAIFunctionsAgent(model, []tools.Tool{readLog{}})
	answer, err := chains.Run(ctx, agents.NewExecutor(reader), "Why does the nightly build fail?")
	// Wrap ends.

	fmt.Println(answer, err)
	// Output:
	// middleware: called: 75 tokens for a history of 75; edits in force: 0; first tokens as in the call before: 0
	// middleware: called: 1050 tokens for a history of 1050; edits in force: 0; first tokens as in the call before: 75
	// middleware: called: 2025 tokens for a history of 2025; edits in force: 0; first tokens as in the call before: 1050
	// contextedit: 3000 → 2053 tokens: cleared 1 result (3000 of 2500 tokens)
	// middleware: called: 2053 tokens for a history of 3000; edits in force: 1; first tokens as in the call before: 93
	// contextedit: 3028 → 2081 tokens: cleared 1 result (3028 of 2500 tokens)
	// middleware: called: 2081 tokens for a history of 3975; edits in force: 2; first tokens as in the call before: 121
	// The linker ran out of memory. <nil>
}

// With the window known, editors act by the share of it that is filled.
func ExampleOptions() {
	llm := pager{pages: 4}

	// Options begin.
	model := langchaingo.Options{
		Model:  "gpt-4o-mini",
		Budget: &middleware.Budget{Window: 128_000, Reserve: 8_000},
	}.Wrap(llm, contextedit.New(contextedit.Options{}))
	// Options end.

	answer, err := model.GenerateContent(context.Background(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Why?")})
	fmt.Println(answer.Choices[0].ToolCalls[0].FunctionCall.Arguments, err)
	// Output:
	// {"__arg1":"1"} <nil>
}

// What the chain clears is kept, and a tool reads it again.
func ExampleTool() {
	ctx := context.Background()
	llm := pager{pages: 4}

	// Tool begins.
	archive := store.NewMemory(0)
	recall, err := langchaingo.Tool(agent.Recall(archive, agent.RecallOptions{}))
	if err != nil {
		log.Fatal(err)
	}
	model := langchaingo.Wrap(llm, middleware.With(middleware.Env{Archive: archive},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_500), Keep: 2}),
	))
	reader := agents.NewOpenAIFunctionsAgent(model, []tools.Tool{readLog{}, recall})
	// Tool ends.

	answer, err := chains.Run(ctx, agents.NewExecutor(reader), "Why does the nightly build fail?")
	fmt.Println(answer, err)
	_, input, _ := strings.Cut(recall.Description(), "Input: ")
	plain, _, _ := strings.Cut(input, ";")
	fmt.Println(plain)
	// Output:
	// The linker ran out of memory. <nil>
	// "handle", as plain text
}

// A loop of one's own declares our tools, and answers the calls.
func ExampleDefinitions() {
	ctx := context.Background()
	llm := gives(calls("call_1", "add", `{"a":2,"b":3}`), says("It is 5."))
	add := agent.NewTool("add", "Adds two numbers.", func(_ context.Context, in struct {
		A int `json:"a"`
		B int `json:"b"`
	},
	) (int, error) {
		return in.A + in.B, nil
	})

	declared, err := langchaingo.Definitions(add)
	if err != nil {
		log.Fatal(err)
	}
	adds, err := langchaingo.Tool(add)
	if err != nil {
		log.Fatal(err)
	}
	talk := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "What is 2 + 3?")}
	answer, err := llm.GenerateContent(ctx, talk, llms.WithTools(declared))
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range answer.Choices[0].ToolCalls {
		sum, err := adds.Call(ctx, call.FunctionCall.Arguments)
		if err != nil {
			log.Fatal(err)
		}
		talk = append(talk,
			llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{call}},
			llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: call.ID, Name: "add", Content: sum},
			}})
	}

	answer, err = llm.GenerateContent(ctx, talk, llms.WithTools(declared))
	fmt.Println(llm.last().msgs[2].Parts[0].(llms.ToolCallResponse).Content)
	fmt.Println(answer.Choices[0].Content, err)
	// Output:
	// 5
	// It is 5. <nil>
}

// A model of langchaingo in our own loop.
func ExampleModel() {
	ctx := context.Background()
	llm := pager{pages: 4}
	readLog := agent.NewTool("read_log", "Reads a page of the build log.",
		func(_ context.Context, in struct {
			Page string `json:"__arg1"` //nolint:tagliatelle // as the model says it
		},
		) (string, error) {
			return "page " + in.Page + ": " + strings.Repeat("ok ", 1000), nil
		})

	// Model begins.
	model := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_500), Keep: 2}),
	)(langchaingo.Model(llm))

	a := react.Agent{Model: model, Tools: []agent.Tool{readLog}}
	for event, err := range a.Run(ctx, message.User("Why does the nightly build fail?")) {
		if end, ok := event.(react.End); ok {
			fmt.Println(end.Answer(), end.ToolCalls, err)
		}
	}
	// Model ends.

	// Output:
	// The linker ran out of memory. 4 <nil>
}

// A cheaper model writes summaries of what is old.
func ExampleModel_summaries() {
	var big, small llms.Model = steps(4), steps(0) // or openai.New(), anthropic.New(), …

	// Summaries begin.
	model := langchaingo.Wrap(big,
		middleware.Observe(func(_ context.Context, e middleware.Event) { fmt.Println(e.Kind) }),
		summarize.New(summarize.By(langchaingo.Model(small), summarize.Ask{Model: "gpt-5-nano"}), summarize.Options{Trigger: trigger.Tokens(2_500), Keep: 2}),
	)
	// Summaries end.

	_, err := model.GenerateContent(context.Background(), talked(20))
	fmt.Println(err)
	// Output:
	// summarizing
	// attempted
	// summarized
	// edited
	// called
	// <nil>
}

// A middleware that looks at the call options.
func ExampleCallOptions() {
	frugal := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if langchaingo.CallOptions(req).MaxTokens == 0 {
				r := *req
				options, _ := req.Params.([]llms.CallOption)
				r.Params = slices.Concat(options, []llms.CallOption{llms.WithMaxTokens(500)})
				req = &r
			}
			return next(ctx, req, emit)
		}
	}

	inner := gives(says("Hi."))
	answer, err := llms.GenerateFromSinglePrompt(context.Background(), langchaingo.Wrap(inner, frugal), "Hello")
	fmt.Println(answer, err, inner.last().options.MaxTokens)
	// Output:
	// Hi. <nil> 500
}

// Import and Export convert conversations, here for the check of what a
// provider would say.
func ExampleImport() {
	call := llms.ToolCall{ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "read_log", Arguments: "page 3"}}
	msgs, err := langchaingo.Import([]llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "Why does the nightly build fail?"),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{call}},
	})
	fmt.Println(msgs[1].Parts[0].(message.ToolCall).Arguments, err)
	fmt.Println(message.Check(msgs))
	// Output:
	// {"__arg1":"page 3"} <nil>
	// message: message 1: unanswered call "1"
}

func ExampleExport() {
	msgs, err := langchaingo.Export([]message.Message{message.User("Hello"), message.Assistant(message.Text{Text: "Hi."})})
	fmt.Println(msgs, err)
	_, err = langchaingo.Export([]message.Message{message.Assistant(message.Opaque{Kind: "web_search", Data: "{}"})})
	fmt.Println(err)
	// Output:
	// [{human [Hello]} {ai [Hi.]}] <nil>
	// langchaingo: message 0: part 0: opaque content of kind "web_search" has no place in a message of langchaingo
}

// The code of the pages of docs is that of the examples.
func TestDocs(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/langchaingo.md")
	require.NoError(t, err)
	for _, name := range []string{"Wrap", "Options", "Model", "Summaries", "Tool"} {
		_, code, ok := strings.Cut(string(source), "// "+name+" begin")
		require.True(t, ok, name)
		_, code, _ = strings.Cut(code, "\n")
		code, _, ok = strings.Cut(code, "\t// "+name+" end")
		require.True(t, ok, name)
		code = strings.ReplaceAll("\n"+code, "\n\t", "\n")[1:]
		require.Contains(t, string(page), "```go\n"+code+"```", "docs/langchaingo.md shows another program than Example%s", name)
	}
}
