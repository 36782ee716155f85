// Command langchaingo reads a build log page by page with an agent of LangChain Go, whose model sends shortened requests.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

type readLog struct{}

func (readLog) Name() string        { return "read_log" }
func (readLog) Description() string { return "Reads a page of the build log. The input is its number." }

func (readLog) Call(_ context.Context, page string) (string, error) {
	return "page " + page + ": " + strings.Repeat("ok ", 1000), nil
}

func main() {
	llm, err := openai.New(openai.WithModel("gpt-4.1-mini"))
	if err != nil {
		log.Fatal(err)
	}
	short := langchaingo.Options{Model: "gpt-4.1-mini"}.Wrap(llm,
		middleware.Observe(func(_ context.Context, e middleware.Event) { fmt.Println(e) }),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(5_000), Keep: 2}),
		fit.New(fit.Options{}),
	)
	reader := agents.NewOpenAIFunctionsAgent(short, []tools.Tool{readLog{}})
	executor := agents.NewExecutor(reader, agents.WithMaxIterations(20))
	answer, err := chains.Run(context.Background(), executor, "Why does the nightly build fail?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}
