package modelwriter_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

func ExampleWrite() {
	model := middlewaretest.Script(
		middlewaretest.Say("I'm sorry, but I can't help with that."),
		middlewaretest.Say("The nightly build failed for want of a newer compiler; the log is build/1.log."),
	).Model
	summary, err := modelwriter.Write(context.Background(), modelwriter.Request{
		Folded: []message.Message{
			message.User("Why does the nightly build fail?"),
			message.Assistant(message.ToolCall{ID: "c1", Name: "read_file", Arguments: `{"path":"build/1.log"}`}),
			message.Result("c1", "read_file", strings.Repeat("exit status 2\n", 140)),
			message.Assistant(message.Text{Text: "A test needs a newer compiler."}),
		},
		Writer: modelwriter.Author{
			Model: model, Name: "small",
			Sections: []string{}, // a few sentences will do
		},
		MaxTokens: 800, Parallel: 4, Ask: call,
		Report: func(a modelwriter.Attempt) { fmt.Printf("%s %s: %q\n", a.Model, a.Mode, a.Reason) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary)
	// Output:
	// small fresh: "no summary"
	// small fresh: ""
	// The nightly build failed for want of a newer compiler; the log is build/1.log.
}
