package replay_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// A chain that clears at each call is compared with one that clears at a number of tokens, at the prices of two classes.
func ExampleRun() {
	talk := &replay.Conversation{ID: "reads files", Messages: []message.Message{message.User("Read the files.")}}
	for i := range 40 {
		id := fmt.Sprint("c", i)
		talk.Messages = append(talk.Messages,
			message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"file":"%d.go"}`, i)}),
			message.Result(id, "read", strings.Repeat("some code of the file; ", 300)))
	}

	chain := func(name string, when middleware.Trigger) replay.Chain {
		clearing := contextedit.New(contextedit.Options{Trigger: when, Keep: 5})
		return replay.Chain{Name: name, New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
			return middleware.With(env, clearing)
		}}
	}
	results, err := replay.Run(context.Background(), []*replay.Conversation{talk}, []replay.Chain{
		chain("at each call", trigger.Messages(1)), chain("at 20,000 tokens", trigger.Tokens(20_000)),
	}, replay.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Printf("%-16s  no cache %.2f  K11.5 %.2f  cache hits %2.0f %%\n", r.Chain, r.Cost["K0"], r.Cost["K11.5"], 100*r.CacheHit)
	}
	// Output:
	// at each call      no cache 0.24  K11.5 1.79  cache hits  8 %
	// at 20,000 tokens  no cache 0.38  K11.5 0.76  cache hits 81 %
}
