// Command thinking shows what a chain leaves out for a model that binds its thinking, and that no request is refused.
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
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

func main() {
	provider, refused := middlewaretest.Strict("bound", middlewaretest.Say("I read the next log.")) // refuses void thinking
	model := middleware.Chain(
		middleware.Observe(func(_ context.Context, e middleware.Event) {
			if e.Thinking.Answers > 0 {
				fmt.Println(e.Kind, "|", e)
			}
		}),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 2}),
		fit.New(fit.Options{}),
	)(provider)

	tools := []message.ToolDef{{Name: "read_log"}} // the same in each call
	history := []message.Message{message.User("Which log has an error?")}
	for i := range 5 {
		resp, err := model(context.Background(), &middleware.Request{Model: "claude-opus-5-5", Messages: history, Tools: tools}, nil)
		if err != nil {
			log.Fatal(err)
		}
		call := message.ToolCall{ID: fmt.Sprint("call", i), Name: "read_log", Arguments: "{}"}
		resp.Message.Parts = append(resp.Message.Parts, call)
		history = append(history, resp.Message, message.Result(call.ID, call.Name, strings.Repeat("ok: step done\n", 200)))
	}
	fmt.Println("refused requests:", len(refused()))
}
