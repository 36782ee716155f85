package laconic_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// An agent makes 80 calls, and each adds a log of about 1,600 tokens. The model is made up, so no key is needed.
func Example() {
	sent, whole := 0, 0
	model := laconic.Auto()(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		sent += len(fmt.Sprint(req.Messages))
		return &middleware.Response{}, nil
	})
	history := []message.Message{message.User("Which build has failed?")}
	for i := range 80 {
		call := message.ToolCall{ID: fmt.Sprint("build-", i), Name: "read_log", Arguments: "{}"}
		history = append(history, message.Assistant(call), message.Result(call.ID, call.Name, strings.Repeat("step: ok\n", 700)))
		_, _ = model(context.Background(), &middleware.Request{Model: "gpt-4.1-mini", Messages: history}, nil)
		whole += len(fmt.Sprint(history))
	}
	fmt.Printf("80 calls: %d %% of the bytes were sent\n", 100*sent/whole)
	// Output: 80 calls: 22 % of the bytes were sent
}
