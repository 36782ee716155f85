package contextedit_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// tiny stands for the model of a provider: it asks for one page of a log after
// the other, and says which of them it sees.
func tiny(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	var sees []string
	for _, m := range req.Messages {
		for r := range m.Results() {
			name, _, _ := strings.Cut(r.Text, ":")
			sees = append(sees, name)
		}
	}
	arguments := fmt.Sprintf(`{"page":%d}`, len(sees)+1)
	return &middleware.Response{Message: message.Assistant(
		message.Text{Text: cmp.Or(strings.Join(sees, ", "), "nothing yet")},
		message.ToolCall{ID: fmt.Sprintf("c%d", len(sees)+1), Name: "read_log", Arguments: arguments},
	)}, nil
}

// readLog is the tool.
func readLog(call message.ToolCall, page int) message.Message {
	return message.Result(call.ID, call.Name, fmt.Sprintf("page %d: %s", page, strings.Repeat("exit status 2\n", 60)))
}

// An agent reads a log page by page. When 1,000 tokens are reached, all results
// but the newest two are cleared, and then nothing changes until they are
// reached again. The history stays whole.
func Example() {
	model := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1_100), Keep: 2}),
	)(tiny)

	history := []message.Message{message.User("Why does the nightly build fail?")}
	for page := 1; page <= 8; page++ {
		resp, err := model(context.Background(), &middleware.Request{Messages: history}, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("call %d sees: %s\n", page, resp.Message.Text())
		for call := range resp.Message.Calls() {
			history = append(history, resp.Message, readLog(call, page))
		}
	}
	// Output:
	// call 1 sees: nothing yet
	// call 2 sees: page 1
	// call 3 sees: page 1, page 2
	// call 4 sees: page 1, page 2, page 3
	// call 5 sees: page 1, page 2, page 3, page 4
	// call 6 sees: [cleared], [cleared], [cleared], page 4, page 5
	// call 7 sees: [cleared], [cleared], [cleared], page 4, page 5, page 6
	// call 8 sees: [cleared], [cleared], [cleared], [cleared], [cleared], page 6, page 7
}
