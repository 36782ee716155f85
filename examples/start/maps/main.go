// Command maps is a loop with request bodies as maps, which it sends itself, each shortened before.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

type object = map[string]any

// shorten returns the body that is sent in place of one with the whole history.
func shorten(ctx context.Context, chain middleware.Middleware, body object) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	conversation, err := openai.Parse(data)
	if err != nil {
		return nil, err
	}
	req, events, err := middleware.Apply(ctx, chain, &middleware.Request{
		Messages: conversation.History(), Tools: conversation.Tools, Model: conversation.Model,
	})
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		fmt.Println(e)
	}
	return conversation.Body(req.Messages, req.Tools) // fit may have declared tools
}

// send returns the message of the model.
func send(ctx context.Context, body []byte) (object, error) {
	url := os.Getenv("OPENAI_BASE_URL")
	if url == "" {
		url = "https://api.openai.com/v1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Choices []struct{ Message object }
		Error   struct{ Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 {
		return nil, errors.New(answer.Error.Message)
	}
	return answer.Choices[0].Message, nil
}

func main() {
	ctx := context.Background()
	chain := middleware.Chain( // made once: it remembers its edits
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(5_000), Keep: 2}),
		fit.New(fit.Options{}),
	)
	history := []object{{"role": "user", "content": "Why does the nightly build fail?"}}
	tools := []object{{"type": "function", "function": object{
		"name": "read_log", "description": "Reads a page of the build log.",
		"parameters": object{"type": "object", "properties": object{"page": object{"type": "integer"}}},
	}}}
	for range 20 {
		body, err := shorten(ctx, chain, object{"model": "gpt-4.1-mini", "messages": history, "tools": tools})
		if err != nil {
			log.Fatal(err)
		}
		answer, err := send(ctx, body)
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, answer) // the whole history, not what was sent
		calls, _ := answer["tool_calls"].([]any)
		if len(calls) == 0 {
			fmt.Println(answer["content"])
			return
		}
		for _, call := range calls {
			id := call.(object)["id"]
			history = append(history, object{"role": "tool", "tool_call_id": id, "content": strings.Repeat("ok ", 1000)})
		}
	}
}
