// Command openai-sdk is a tool loop over openai-go with a chain in its http.Client. Its provider runs in the same process
// and refuses what does not fit a window of 6,000 tokens; the whole conversation has more. Needs no key and no network.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/wire"
)

const window = 6_000

func main() {
	provider, err := fakeprovider.Start(
		fakeprovider.ToolLoop{Tool: "read", Calls: 30, Answer: fakeprovider.Text("The build fails in step 17.")}.Responder(),
		fakeprovider.Options{Models: map[string]int{"gpt-4o": window}},
	)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = provider.Close() }()

	rt := wire.Transport(nil, wire.Options{Observe: show, Budget: budget},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(3_000), Keep: 3}), // clears old tool results
		fit.New(fit.Options{}), // makes the request valid and small enough
	)
	client := openai.NewClient(
		option.WithHTTPClient(&http.Client{Transport: rt}),            // the one line
		option.WithBaseURL(provider.URL), option.WithAPIKey("no key"), // of the stand-in
	)

	conversation := openai.ChatCompletionNewParams{
		Model:    "gpt-4o",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Read all logs. Where does the build fail?")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "read", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{}},
		})},
	}
	for {
		answer, err := client.Chat.Completions.New(context.Background(), conversation)
		if err != nil {
			log.Fatal(err) //nolint:gocritic // the process ends, and with it the provider
		}
		said := answer.Choices[0].Message
		conversation.Messages = append(conversation.Messages, said.ToParam())
		if len(said.ToolCalls) == 0 {
			fmt.Printf("%s\nThe conversation has %d messages, and all of their text.\n", said.Content, len(conversation.Messages))
			return
		}
		for _, call := range said.ToolCalls {
			result := strings.Repeat("12:00:01 compile pkg/store ... ok\n", 30)
			conversation.Messages = append(conversation.Messages, openai.ToolMessage(result, call.ID))
		}
	}
}

// budget has the window of the stand-in: by default it is that of the model's name.
func budget(string) *middleware.Budget { return &middleware.Budget{Window: window, Reserve: 500} }

// show prints what was done with a request.
func show(_ context.Context, d wire.Decision) {
	fmt.Printf("%s: %6d bytes, sent %6d, edited: %t %s\n", d.Format, d.BytesIn, d.BytesOut, d.Edited, d.Reason)
}
