package react_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
)

// reader stands in for a model: it reads page after page and then sums up.
func reader(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	page := 1
	for _, m := range req.Messages {
		for range m.Results() {
			page++
		}
	}
	answer := message.Assistant(message.Text{Text: "That is all."})
	if page <= 3 {
		answer = message.Assistant(message.ToolCall{
			ID:        fmt.Sprint("call", page),
			Name:      "read",
			Arguments: fmt.Sprintf(`{"page": %d}`, page),
		})
	}
	return &middleware.Response{Message: answer}, nil
}

func ExampleAgent_Run() {
	type args struct {
		Page int `json:"page" jsonschema:"from 1"`
	}
	read := agent.NewTool("read", "Reads a page of the log.", func(_ context.Context, in args) (string, error) {
		return fmt.Sprintf("page %d: %s", in.Page, strings.Repeat("all is well; ", 50)), nil
	})

	a := react.Agent{
		Model: middleware.Chain(
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(400), Keep: 1}),
		)(reader),
		Tools: []agent.Tool{read},
	}

	var history []message.Message
	for event, err := range a.Run(context.Background(), message.User("What does the log say?")) {
		switch e := event.(type) {
		case react.Call:
			fmt.Println(e.Name, e.Arguments)
		case react.Edit:
			fmt.Println(e)
		case react.End:
			fmt.Println(e.Answer(), err)
			history = e.History
		}
	}
	for res := range history[2].Results() { // the model saw it cleared, the history keeps it
		fmt.Println(len(history), "messages, with", res.Text[:20])
	}

	// Output:
	// read {"page": 1}
	// read {"page": 2}
	// contextedit: 460 → 281 tokens: cleared 1 result (460 of 400 tokens)
	// read {"page": 3}
	// contextedit: 481 → 302 tokens: cleared 1 result (481 of 400 tokens)
	// That is all. <nil>
	// 8 messages, with page 1: all is well;
}
