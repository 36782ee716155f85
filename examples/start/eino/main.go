// Command eino reads a build log page by page with an agent of cloudwego/eino, whose model sends shortened requests.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

type page struct {
	Page int `json:"page" jsonschema:"description=from 1 on"`
}

func readLog(_ context.Context, in page) (string, error) {
	return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("ok ", 1000)), nil
}

func main() {
	ctx := context.Background()
	chat, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		Model: "gpt-4.1-mini", APIKey: os.Getenv("OPENAI_API_KEY"), BaseURL: os.Getenv("OPENAI_BASE_URL"),
	})
	if err != nil {
		log.Fatal(err)
	}
	read, err := utils.InferTool("read_log", "Reads a page of the build log.", readLog)
	if err != nil {
		log.Fatal(err)
	}
	short := eino.Options{Model: "gpt-4.1-mini"}.Wrap(chat,
		middleware.Observe(func(_ context.Context, e middleware.Event) { fmt.Println(e) }),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(5_000), Keep: 2}),
		fit.New(fit.Options{}),
	)
	auditor, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: short,
		ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}},
		MaxStep:          40,
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := auditor.Generate(ctx, []*schema.Message{schema.UserMessage("Why does the nightly build fail?")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Content)
}
