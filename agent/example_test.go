package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
)

func ExampleNewTool() {
	type args struct {
		Word string `json:"word" jsonschema:"what to look for"`
		Max  int    `json:"max,omitempty" jsonschema:"lines, at most; default 10"`
	}
	notes := []string{"the build is green", "the build was red", "lunch at noon"}

	search := agent.NewTool("search", "Searches the notes.", func(_ context.Context, in args) (string, error) {
		var found []string
		for _, line := range notes {
			if strings.Contains(line, in.Word) {
				found = append(found, line)
			}
		}
		return strings.Join(found, "\n"), nil
	})

	fmt.Println(search.Definition().Parameters)

	parts, err := search.Call(context.Background(), `{"word": "build"}`)
	fmt.Println(parts, err)

	_, err = search.Call(context.Background(), `{"words": "build", "max": "3"}`)
	fmt.Println(err)

	// Output:
	// {"type":"object","properties":{"word":{"type":"string","description":"what to look for"},"max":{"type":"integer","description":"lines, at most; default 10"}},"required":["word"],"additionalProperties":false}
	// [{the build is green
	// the build was red}] <nil>
	// invalid arguments: "word" is missing, want string; "max" is "3", want integer; "words" is unknown, want "word", "max"
}

func ExampleCompact() {
	at := trigger.Tokens(1000)
	compact, asked := agent.Compact(at)
	chain := middleware.Chain(
		asked, // before the editors
		contextedit.New(contextedit.Options{Trigger: at, Keep: 1}),
	)

	read := agent.NewTool("read", "Reads the log.", func(context.Context, map[string]int) (string, error) {
		return strings.Repeat("all is well; ", 60), nil
	})
	model := middlewaretest.Script( // stands in for a model
		middlewaretest.Call("compact", `{"keep": "nothing yet"}`),
		middlewaretest.Call("read", `{"page": 1}`),
		middlewaretest.Call("read", `{"page": 2}`),
		middlewaretest.Call("compact", `{"keep": "The log is read: all is well."}`),
		middlewaretest.Say("Done."),
	)
	a := react.Agent{Model: chain(model.Model), Tools: []agent.Tool{read, compact}}
	for event, err := range a.Run(context.Background(), message.User("What does the log say?")) {
		switch e := event.(type) {
		case react.Result:
			if e.Call.Name == "compact" {
				for r := range e.Message.Results() {
					fmt.Println(r.Text)
				}
			}
		case react.Edit:
			fmt.Println(e)
		case react.End:
			fmt.Println(e.Answer(), err)
		}
	}

	// Output:
	// [not yet: 198 tokens are in the context; a compaction is made from 500 on if you ask, and at 1000 without]
	// [asked for: the older part is shortened before your next answer (716 tokens are in the context, 71 % of where it is made without asking); what you wrote to keep stays as it is]
	// contextedit: 783 → 572 tokens: cleared 1 result (asked for by the model)
	// Done. <nil>
}
