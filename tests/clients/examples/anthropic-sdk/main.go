// Command anthropic-sdk is a tool loop over anthropic-sdk-go, streamed, with a chain in its http.Client. Its provider runs in
// the same process and refuses what does not fit a window of 6,000 tokens; the whole conversation has more. Needs no key and
// no network.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

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
		fakeprovider.Options{Models: map[string]int{"claude-sonnet-4-5": window}},
	)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = provider.Close() }()

	budget := &middleware.Budget{Window: window} // of the stand-in: by default it is that of the model's name
	rt := wire.Transport(nil, wire.Options{Observe: show, Budget: func(string) *middleware.Budget { return budget }},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(3_000), Keep: 3}), // clears old tool results
		fit.New(fit.Options{}), // makes the request valid and small enough
	)
	client := anthropic.NewClient(
		option.WithHTTPClient(&http.Client{Transport: rt}),             // the one line
		option.WithBaseURL(provider.Root), option.WithAPIKey("no key"), // of the stand-in
	)

	conversation := anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 500,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Read all logs. Where does the build fail?"))},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "read", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}},
		}}},
	}
	for {
		var said anthropic.Message
		stream := client.Messages.NewStreaming(context.Background(), conversation)
		for stream.Next() {
			if err := said.Accumulate(stream.Current()); err != nil {
				log.Fatal(err) //nolint:gocritic // the process ends, and with it the provider
			}
		}
		if err := stream.Err(); err != nil {
			log.Fatal(err)
		}
		conversation.Messages = append(conversation.Messages, said.ToParam())
		if said.StopReason != anthropic.StopReasonToolUse {
			fmt.Printf("%s\nThe conversation has %d messages, and all of their text.\n", said.Content[0].Text, len(conversation.Messages))
			return
		}
		var results []anthropic.ContentBlockParamUnion
		for _, block := range said.Content {
			results = append(results, anthropic.NewToolResultBlock(block.ID, strings.Repeat("12:00:01 compile pkg/store ... ok\n", 30), false))
		}
		conversation.Messages = append(conversation.Messages, anthropic.NewUserMessage(results...))
	}
}

// show prints what was done with a request.
func show(_ context.Context, d wire.Decision) {
	fmt.Printf("%s: %6d bytes, sent %6d, edited: %t %s\n", d.Format, d.BytesIn, d.BytesOut, d.Edited, d.Reason)
}
