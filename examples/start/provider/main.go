// Command provider is the loop of package react with a model that is a function: no framework, no client library.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
)

// provider sends a request to a server with the format of chat completions. It does not stream.
func provider(ctx context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	body, err := (&openai.Conversation{Model: req.Model}).Body(req.Messages, req.Tools)
	if err != nil {
		return nil, err
	}
	url := os.Getenv("OPENAI_BASE_URL")
	if url == "" {
		url = "https://api.openai.com/v1"
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	resp, err := http.DefaultClient.Do(post)
	if err != nil {
		return nil, &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, &middleware.Error{Kind: middleware.Unavailable, Op: "provider", Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", resp.StatusCode, data)
	}
	return read(data)
}

// read returns the answer of a server.
func read(data []byte) (*middleware.Response, error) {
	var answer struct {
		Choices []struct {
			Message json.RawMessage
			Finish  string `json:"finish_reason"`
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(data, &answer); err != nil || len(answer.Choices) == 0 {
		return nil, fmt.Errorf("no answer in %s", data)
	}
	choice := answer.Choices[0]
	parsed, err := openai.Parse([]byte("[" + string(choice.Message) + "]"))
	if err != nil {
		return nil, err
	}
	stops := map[string]string{"stop": middleware.StopEnd, "tool_calls": middleware.StopTools, "length": middleware.StopLength}
	return &middleware.Response{
		Message: parsed.Messages[0].Message(),
		Stop:    stops[choice.Finish],
		Usage:   message.Usage{Input: answer.Usage.Prompt, Output: answer.Usage.Completion},
	}, nil
}

type page struct {
	Page int `json:"page"`
}

func main() {
	model := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(5_000), Keep: 2}),
		fit.New(fit.Options{}),
	)(provider)
	readLog := agent.NewTool("read_log", "Reads a page of the build log.", func(_ context.Context, in page) (string, error) {
		return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("ok ", 1000)), nil
	})
	a := react.Agent{Model: model, ModelName: "gpt-4.1-mini", Tools: []agent.Tool{readLog}}
	for event, err := range a.Run(context.Background(), message.User("Why does the nightly build fail?")) {
		switch e := event.(type) {
		case react.Edit:
			fmt.Println(e)
		case react.End:
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(e.Answer())
		}
	}
}
