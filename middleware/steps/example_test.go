package steps_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/steps"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// A person takes an edit back, looks at what has happened, makes the edit again, and then pins a result, which ends what has changed it.
func Example() {
	ctx, env := context.Background(), middleware.Env{Journal: journal.NewMemory(0)}
	chain := middleware.With(env, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1000), Keep: 1}))
	history := []message.Message{message.User("Compare the logs of both servers.")}
	for i, name := range []string{"a", "b", "c"} {
		call := message.ToolCall{ID: fmt.Sprint("call", i), Name: "read_log", Arguments: `{"server":"` + name + `"}`}
		history = append(history, message.Assistant(call), message.Result(call.ID, "read_log", strings.Repeat("12:00 started "+name+"\n", 100)))
	}
	results := func() (sent []string) {
		req, _, err := middleware.Apply(ctx, chain, &middleware.Request{Messages: history})
		if err != nil {
			panic(err)
		}
		for _, m := range req.Messages {
			for r := range m.Results() {
				sent = append(sent, strings.SplitN(r.Text, "\n", 2)[0])
			}
		}
		return sent
	}
	fmt.Println(strings.Join(results(), ", "))

	undone, err := steps.Undo(ctx, env, history)
	fmt.Println(undone.By, undone.Kind, err)
	fmt.Println(strings.Join(results(), ", "))

	all, err := steps.History(ctx, env, history)
	for _, s := range all {
		fmt.Println(s.Kind, s.Actor, s.Undone, err)
	}

	_, err = steps.Redo(ctx, env, history)
	fmt.Println(strings.Join(results(), ", "), err)
	err = steps.Pin(ctx, env, history, message.IDs(history)[2])
	fmt.Println(strings.Join(results(), ", "), err)
	// Output:
	// [cleared], [cleared], 12:00 started c
	// contextedit undo <nil>
	// 12:00 started a, 12:00 started b, 12:00 started c
	// undo user false <nil>
	// edit trigger true <nil>
	// [cleared], [cleared], 12:00 started c <nil>
	// 12:00 started a, [cleared], 12:00 started c <nil>
}
