package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/store"
)

func ExampleRecall() {
	ctx := context.Background()
	// Recall begins.
	archive := store.NewMemory(0).Scope("acme") // one tenant's

	chain := middleware.With(middleware.Env{Archive: archive},
		contextedit.New(contextedit.Options{Keep: 1}),
		fit.New(fit.Options{}),
	)

	recall := agent.Recall(archive, agent.RecallOptions{}) // beside the other tools of the agent
	// Recall ends.

	sent, _, err := middleware.Apply(ctx, chain, &middleware.Request{
		Messages: []message.Message{
			message.User("Why does the build fail?"),
			message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"page": 1}`}),
			message.Result("c1", "read_log", "step 13: ok\nstep 14: the linker ran out of memory\nstep 15: skipped\n"),
			message.Assistant(message.ToolCall{ID: "c2", Name: "read_log", Arguments: `{"page": 2}`}),
			message.Result("c2", "read_log", "step 16: skipped\nstep 17: skipped\nexit status 2, after 41 minutes on the machine build-7\n"),
		},
		Budget: &middleware.Budget{Window: 100_000},
		Force:  []string{"contextedit"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for r := range sent.Messages[2].Results() {
		fmt.Println(r.Text)
	}

	for _, arguments := range []string{
		`{"handle": "cezvxnkwdznu"}`,
		`{"handle": "cezvxnkwdznu", "from": 2, "to": 2}`,
		`{"handle": "cezvxnkwdznu", "pattern": "skip|fail"}`,
		`{"handle": "cezvxnkwdzun"}`,
	} {
		parts, err := recall.Call(ctx, arguments)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range parts {
			fmt.Println(p.(message.Text).Text)
		}
	}

	// Output:
	// [cleared: recall cezvxnkwdznu]
	// step 13: ok
	// step 14: the linker ran out of memory
	// step 15: skipped
	//
	// [lines 2-2 of 3 of cezvxnkwdznu]
	// step 14: the linker ran out of memory
	// [1 matching in lines 1-3 of 3 of cezvxnkwdznu]
	// 1- step 13: ok
	// 2- step 14: the linker ran out of memory
	// 3: step 15: skipped
	// [handle "cezvxnkwdzun" is mistyped: its last letter does not fit the others, want 12 letters a to z as in the placeholder]
}

func ExampleInConversation() {
	archive := store.NewMemory(0)
	h, err := store.Keep(context.Background(), archive, store.Content{Data: strings.Repeat("a line of the log\n", 1000)})
	if err != nil {
		fmt.Println(err)
		return
	}

	// A loop of your own passes the size of the window.
	ctx := agent.InConversation(context.Background(), agent.Conversation{Room: 9_000})
	parts, err := agent.Recall(archive, agent.RecallOptions{}).Call(ctx, fmt.Sprintf(`{"handle": %q}`, h))
	fmt.Println(len(parts[0].(message.Text).Text) <= 3_000, err)

	// Output: true <nil>
}
