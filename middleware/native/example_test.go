package native_test

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/native"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// made is a compactor without a provider. Package wire has one that asks it.
type made struct{}

func (made) Readable() bool { return true }

func (made) Compact(_ context.Context, _ *middleware.View, n int, _ string) ([]message.Message, error) {
	return []message.Message{message.Assistant(message.Opaque{Kind: "compaction", Data: fmt.Sprintf(`{"content":"%d messages"}`, n)})}, nil
}

func ExampleNew() {
	chain := middleware.Chain(native.New(native.Options{Trigger: trigger.Tokens(500), Keep: 2}))
	req := &middleware.Request{Messages: rounds(20)}
	out, _, err := middleware.Apply(native.With(context.Background(), made{}), chain, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(req.Messages), "messages became", len(out.Messages))
	fmt.Println(out.Messages[0].Parts[0].(message.Opaque).Data)
	// Output:
	// 41 messages became 3
	// {"content":"39 messages"}
}
