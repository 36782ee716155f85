package microcompact_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
)

// tiny is a model that reads page after page, and says what it sees of them.
func tiny(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	var pages []string
	for _, m := range req.Messages {
		for r := range m.Results() {
			line, _, _ := strings.Cut(r.Text, ":")
			if r.Text[0] == '[' {
				line = "[…]"
			}
			pages = append(pages, line)
		}
	}
	fmt.Println(strings.Join(pages, ", ")) //nolint:forbidigo // the output of the examples
	return &middleware.Response{Message: message.Assistant(message.ToolCall{
		ID: fmt.Sprintf("call_%d", len(pages)+1), Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, len(pages)+1),
	})}, nil
}

// readPages lets the model read some pages of a log.
func readPages(model middleware.Model, pages int) {
	history := []message.Message{message.User("Why does the nightly build fail?")}
	for page := range pages {
		resp, err := model(context.Background(), &middleware.Request{Messages: history}, nil)
		if err != nil {
			log.Fatal(err)
		}
		for call := range resp.Message.Calls() {
			history = append(history, resp.Message,
				message.Result(call.ID, call.Name, fmt.Sprintf("page %d: %s", page+1, strings.Repeat("exit status 2\n", 60))))
		}
	}
}

// An agent reads a log page by page. Of each page that is older than the newest
// four, a placeholder is left.
func Example() {
	model := microcompact.New(microcompact.Options{})(tiny)
	readPages(model, 7)
	// Output:
	//
	// page 1
	// page 1, page 2
	// page 1, page 2, page 3
	// page 1, page 2, page 3, page 4
	// […], page 2, page 3, page 4, page 5
	// […], […], page 3, page 4, page 5, page 6
}

// Three pages go at a time, so that the beginning of what the model sees stays the
// same for three calls, and its provider's cache holds.
func ExampleBatch() {
	model := microcompact.New(microcompact.Options{KeepRounds: 2, Batch: microcompact.Batch{Results: 3}})(tiny)
	readPages(model, 9)
	// Output:
	//
	// page 1
	// page 1, page 2
	// page 1, page 2, page 3
	// page 1, page 2, page 3, page 4
	// […], […], […], page 4, page 5
	// […], […], […], page 4, page 5, page 6
	// […], […], […], page 4, page 5, page 6, page 7
	// […], […], […], […], […], […], page 7, page 8
}

// Of a result, the facts may stay that are likely to be needed later.
func ExampleOptions_digest() {
	history := []message.Message{message.User("Where is it?")}
	for _, id := range []string{"W1001", "W2002"} {
		history = append(history,
			message.Assistant(message.ToolCall{ID: id, Name: "get_order", Arguments: fmt.Sprintf(`{"id":%q}`, id)}),
			message.Result(id, "get_order", fmt.Sprintf(`{"id": %q, "customer": "ann_of_%s@example.com", "total": 54.04, "notes": %q}`, id, id, strings.Repeat("at the door ", 30))))
	}
	req, _, err := middleware.Apply(context.Background(),
		microcompact.New(microcompact.Options{KeepRounds: 1, Digest: 40}), &middleware.Request{Messages: history})
	if err != nil {
		log.Fatal(err)
	}
	for r := range req.Messages[2].Results() {
		fmt.Println(r.Text)
	}
	// Output:
	// [truncated: 444 chars; some facts: total: 54.04; ann_of_W1001@example.com]
}

// Arguments of old calls can go as well: what a model has written, it can read
// again.
func ExampleLimits() {
	history := []message.Message{message.User("Write it down.")}
	for _, id := range []string{"a", "b"} {
		history = append(history,
			message.Assistant(message.ToolCall{ID: id, Name: "write", Arguments: fmt.Sprintf(`{"path":"%s.md","text":%q}`, id, strings.Repeat("all of it ", 30))}),
			message.Result(id, "write", "ok"))
	}
	req, events, err := middleware.Apply(context.Background(),
		microcompact.New(microcompact.Options{KeepRounds: 1, Limit: microcompact.Limits{Arguments: 200}}), &middleware.Request{Messages: history})
	if err != nil {
		log.Fatal(err)
	}
	for call := range req.Messages[1].Calls() {
		fmt.Println(call.Arguments)
	}
	fmt.Println(events[0].Why)
	// Output:
	// {"path":"a.md","text":"[truncated: 300 chars]"}
	// shortened the arguments of 1 call
}
