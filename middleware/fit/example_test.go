package fit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// readsLogs is an agent that has read pages of a log, which are long.
func readsLogs(pages int) []message.Message {
	history := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for page := 1; page <= pages; page++ {
		id := fmt.Sprintf("c%d", page)
		history = append(history,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, page)}),
			message.Result(id, "read_log", strings.Repeat(fmt.Sprintf("page %d: exit status 2\n", page), 100)))
	}
	return history
}

// beginnings returns the messages that are sent, with the beginning of each on a line.
func beginnings(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		text := m.Text()
		for c := range m.Calls() {
			text = fmt.Sprintf("calls %s %s", c.Name, c.Arguments)
		}
		for r := range m.Results() {
			text = r.Text
		}
		if len(text) > 60 {
			text = text[:60] + "…"
		}
		fmt.Fprintf(&b, "%s: %q\n", m.Role, text)
	}
	return b.String()
}

// Five long results do not fit into a window of 3,000 tokens. The oldest are cleared.
func Example() {
	chain := middleware.Chain(fit.New(fit.Options{Rules: message.OpenAI}))

	sent, events, err := middleware.Apply(context.Background(), chain, &middleware.Request{
		Messages: readsLogs(5),
		Budget:   &middleware.Budget{Window: 3_000, Reserve: 500},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(beginnings(sent.Messages))
	fmt.Println(events[0])
	// Output:
	// system: "You fix builds."
	// user: "Why does the nightly build fail?"
	// assistant: "calls read_log {\"page\":1}"
	// tool: "[cleared: it no longer fits the context window]"
	// assistant: "calls read_log {\"page\":2}"
	// tool: "[cleared: it no longer fits the context window]"
	// assistant: "calls read_log {\"page\":3}"
	// tool: "page 3: exit status 2\npage 3: exit status 2\npage 3: exit sta…"
	// assistant: "calls read_log {\"page\":4}"
	// tool: "page 4: exit status 2\npage 4: exit status 2\npage 4: exit sta…"
	// assistant: "calls read_log {\"page\":5}"
	// tool: "page 5: exit status 2\npage 5: exit status 2\npage 5: exit sta…"
	// fit: 3667 → 2269 tokens: shortened 2 messages: the request: 3667 tokens, at most 2500
}

// What cannot be left out is larger than the window: the error names the largest share.
func ExampleIrreducible() {
	model := fit.New(fit.Options{})(middlewaretest.Say("never asked"))

	_, err := model(context.Background(), &middleware.Request{
		Messages: []message.Message{message.System(strings.Repeat("Always be careful. ", 200)), message.User("Hello.")},
		Budget:   &middleware.Budget{Window: 500},
	}, nil)

	if e, ok := errors.AsType[*fit.Irreducible](err); ok {
		fmt.Printf("%s have %d of %d %s, room for %d\n", e.Largest, e.LargestSize, e.Total, e.Limit, e.Room)
	}
	fmt.Println(err)
	// Output:
	// the system messages have 742 of 751 tokens, room for 500
	// fit: 751 tokens cannot be left out, and there is room for 500 (window 500, 0 of it for the answer); the system messages have 742: shorten the system prompt, or take a model with a larger window, or correct the Budget
}

// A run was interrupted between a call and its result. A provider would reject this
// conversation in each later call.
func ExampleNew_broken() {
	chain := middleware.Chain(fit.New(fit.Options{Rules: message.Anthropic}))

	sent, events, err := middleware.Apply(context.Background(), chain, &middleware.Request{
		Messages: []message.Message{
			message.User("Why does the nightly build fail?"),
			message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"page":1}`}),
			message.User("Never mind. Is there milk?"),
		},
		Tools: []message.ToolDef{{Name: "read_log"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(beginnings(sent.Messages))
	for _, e := range events {
		if fixes, ok := e.Detail.([]message.Fix); ok {
			for _, f := range fixes {
				fmt.Println(f)
			}
		}
	}
	// Output:
	// user: "Why does the nightly build fail?"
	// assistant: "calls read_log {\"page\":1}"
	// tool: "no result: the call was interrupted"
	// user: "Never mind. Is there milk?"
	// message 1: unanswered call "c1": got an error result: no result: the call was interrupted
}

// The model is served with a smaller window than declared. Its provider refuses the
// request, which is shortened, and later calls fit at once.
func ExampleNew_overflow() {
	script := middlewaretest.Script(
		middlewaretest.Fail(&middleware.Error{Kind: middleware.Overflow, Op: "provider", Err: errors.New(
			"prompt is too long: 5030 tokens > 4096 maximum")}),
		middlewaretest.Say("A test needs a newer compiler."),
	)
	report := middleware.Observe(func(_ context.Context, e middleware.Event) { fmt.Println(e) })
	model := middleware.Chain(report, fit.New(fit.Options{Rules: message.OpenAI}))(script.Model)

	resp, err := model(context.Background(), &middleware.Request{
		Messages: readsLogs(5),
		Budget:   &middleware.Budget{Window: 128_000},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Message.Text())
	// Output:
	// middleware: notice: a prompt of 3667 tokens by our count was refused as too long: the provider says that its window is 4096; the window counts as 4096 for this model from now on
	// middleware: called: 3667 tokens for a history of 3667; edits in force: 0; first tokens as in the call before: 0: provider: prompt is too long: 5030 tokens > 4096 maximum
	// fit: 5030 → 3112 tokens: shortened 2 messages: the request: 5030 tokens, at most 4096
	// middleware: called: 3112 tokens for a history of 5030; edits in force: 2; first tokens as in the call before: 0
	// A test needs a newer compiler.
}
