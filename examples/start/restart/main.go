// Command restart makes the same call in two processes that share a journal and an archive in a file.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/sqlstore" // sqlite: and postgres:
)

// run is the life of one process: it makes one call.
func run(ctx context.Context, url string, history []message.Message) (sent []message.Message, events []middleware.Event, err error) {
	e, err := engine.Open(ctx, url, engine.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer e.Close()
	chain := middleware.With(
		middleware.Env{Journal: e.Journal(), Archive: e.Archive("acme"), Scope: "acme"},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 1}),
		fit.New(fit.Options{}),
	)
	req, events, err := middleware.Apply(ctx, chain, &middleware.Request{Messages: history, Model: "gpt-4.1-mini"})
	if err != nil {
		return nil, nil, err
	}
	return req.Messages, events, nil
}

func main() {
	history := []message.Message{message.User("Which of the logs has an error?")}
	for i := range 4 {
		id := fmt.Sprint("call", i)
		history = append(history,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"name":"build%d.log"}`, i)}),
			message.Result(id, "read_log", strings.Repeat("ok: step done\n", 200)))
	}
	for process := range 2 {
		sent, events, err := run(context.Background(), "sqlite:laconic.db", history)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("process", process, "edits made:", len(events), "| first result:", sent[2].Parts[0].(message.ToolResult).Text)
	}
}
