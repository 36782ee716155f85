package agent_test

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

func ExampleRecall() {
	ctx := context.Background()
	// Recall begins.
	archive := store.NewMemory(0).Scope("acme") // one tenant's

	h, err := archive.Put(ctx, store.Content{Data: "step 13: ok\nstep 14: the linker ran out of memory\nstep 15: skipped\n"})
	placeholder := fmt.Sprintf("[cleared: %s %s]", store.RecallTool, h)

	recall := agent.Recall(archive) // beside the other tools of the agent
	// Recall ends.
	fmt.Println(placeholder, err)

	for _, arguments := range []string{
		`{"handle": "vvreubswsdub"}`,
		`{"handle": "vvreubswsdub", "from": 2, "to": 2}`,
		`{"handle": "vvreubswsdub", "pattern": "skip|fail"}`,
		`{"handle": "vvreubswsdbu"}`,
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
	// [cleared: recall vvreubswsdub] <nil>
	// step 13: ok
	// step 14: the linker ran out of memory
	// step 15: skipped
	//
	// [lines 2-2 of 3 of vvreubswsdub]
	// step 14: the linker ran out of memory
	// [1 matching in lines 1-3 of 3 of vvreubswsdub]
	// 1- step 13: ok
	// 2- step 14: the linker ran out of memory
	// 3: step 15: skipped
	// [handle "vvreubswsdbu" is mistyped: its last letter does not fit the others, want 12 letters a to z as they stand in the placeholder]
}
