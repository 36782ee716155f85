package trim_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// A long chat in a window of 1,000 tokens. When nine tenths are filled, messages are
// removed until eight tenths are, and then nothing changes until nine tenths are filled
// again. The history is not changed.
func Example() {
	var stats atomic.Pointer[trim.Statistics]
	levels := func(_ context.Context, e middleware.Event) {
		if e.By == "trim" {
			fmt.Println(e.Why)
		}
	}
	model := middleware.Chain(
		middleware.Observe(levels),
		middleware.Observe(trim.SumEdits("trim", stats.Store)),
		trim.New(trim.Options{}),
	)(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		text := strings.Repeat("and so on ", 20)
		return &middleware.Response{Message: message.Assistant(message.Text{Text: text})}, nil
	})

	history := []message.Message{message.System("You tell stories.")}
	for turn := range 12 {
		history = append(history, message.User(fmt.Sprintf("What happened on day %d? %s", turn+1, strings.Repeat("Go on. ", 10))))
		resp, err := model(context.Background(), &middleware.Request{
			Messages: history,
			Budget:   &middleware.Budget{Window: 1_000},
		}, nil)
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, resp.Message)
	}
	s := stats.Load()
	fmt.Printf("%d messages in the history, %d removed from the view in %d steps\n", len(history), s.Messages, s.Count)
	// Output:
	// none → warning: 823 of 1000 tokens, 0.823 of the room
	// warning → soft: 920 of 1000 tokens, 0.92 of the room
	// removed 3 messages by middle, confidence 0.7 (920 of 900 tokens, 0.9 of the room of 1000)
	// soft → warning: 884 of 1000 tokens, 0.884 of the room
	// warning → hard: 981 of 1000 tokens, 0.981 of the room
	// removed 4 messages by middle, confidence 0.7 (981 of 900 tokens, 0.9 of the room of 1000)
	// 25 messages in the history, 7 removed from the view in 2 steps
}

// talk is a conversation in which a file is found, others are of no use, and the file
// is asked for.
func talk() []message.Message {
	round := func(id, tool, argument, result string) []message.Message {
		return []message.Message{
			message.Assistant(message.ToolCall{ID: id, Name: tool, Arguments: fmt.Sprintf(`{"of":%q}`, argument)}),
			message.Result(id, tool, result+strings.Repeat(", and others", 20)),
		}
	}
	h := []message.Message{message.System("You mend builds."), message.User("Why does the nightly build fail?")}
	h = append(h, round("c1", "list", "cmd", "cmd/main.go")...)
	h = append(h, round("c2", "list", "doc", "doc/intro.md")...)
	h = append(h, message.Assistant(message.Text{Text: "It is not in the documents, so I look into the program."}))
	h = append(h, round("c3", "read", "cmd/main.go", "func main()")...)
	return append(h, message.User("And?"))
}

// shown returns what is left of a conversation.
func shown(mw middleware.Middleware, history []message.Message) string {
	var b strings.Builder
	sent, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: history})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range sent.Messages {
		line := string(m.Role) + ": " + m.Text()
		for c := range m.Calls() {
			line += c.ID + " " + c.Name + " " + c.Arguments
		}
		for r := range m.Results() {
			line += r.CallID + " " + r.Text
		}
		fmt.Fprintf(&b, "%.36s\n", line)
	}
	for _, e := range events {
		if r, ok := e.Detail.(trim.Report); ok {
			fmt.Fprintf(&b, "%d messages by %s: %d → %d tokens\n", r.Messages, r.Strategy, e.Before, e.After)
		}
	}
	return b.String()
}

// The answer is removed, which has a lower priority than rounds, and a round: not the
// oldest, which has found the file that is read later.
func ExampleNew() {
	fmt.Print(shown(trim.New(trim.Options{
		Strategy:     "oldest",
		Trigger:      trigger.Tokens(250),
		TargetTokens: 200,
		PreserveEnd:  3,
	}), talk()))
	// Output:
	// system: You mend builds.
	// user: Why does the nightly build fai
	// assistant: c1 list {"of":"cmd"}
	// tool: c1 cmd/main.go, and others, an
	// assistant: c3 read {"of":"cmd/main.g
	// tool: c3 func main(), and others, an
	// user: And?
	// 3 messages by oldest: 274 → 181 tokens
}

// A note for the model replaces what was removed.
func ExampleOptions_note() {
	fmt.Print(shown(trim.New(trim.Options{
		Strategy:     "oldest",
		Trigger:      trigger.Tokens(250),
		TargetTokens: 200,
		PreserveEnd:  3,
		Note:         "[Some messages have been removed.]",
	}), talk()))
	// Output:
	// system: You mend builds.
	// user: Why does the nightly build fai
	// assistant: c1 list {"of":"cmd"}
	// tool: c1 cmd/main.go, and others, an
	// user: [Some messages have been remov
	// assistant: c3 read {"of":"cmd/main.g
	// tool: c3 func main(), and others, an
	// user: And?
	// 3 messages by oldest: 274 → 192 tokens
}

// For a model of a provider there are options to begin with.
func ExampleFor() {
	for _, model := range []string{"gpt-4o", "claude-sonnet-5-5", "ollama/llama3.1"} {
		o := trim.For(model)
		fmt.Println(model, o.Strategy, o.Threshold, o.PreserveStart, o.PreserveEnd)
	}
	o := trim.For("claude-sonnet-5-5")
	o.Note = "[gone]"
	_ = trim.New(o)
	// Output:
	// gpt-4o hybrid 0.9 6 6
	// claude-sonnet-5-5 oldest 0.92 5 7
	// ollama/llama3.1 hybrid 0.8 3 4
}

// The host can set the priority of a message.
func ExampleOptions_priority() {
	history := talk()
	history[6].Hints.Priority = message.PriorityCritical // the answer
	for i := 4; i <= 5; i++ {                            // the second round
		history[i].Hints.Priority = message.PriorityLow
	}
	fmt.Print(shown(trim.New(trim.Options{Trigger: trigger.Tokens(250), TargetTokens: 200, PreserveStart: 1, PreserveEnd: 1}), history))
	// Output:
	// system: You mend builds.
	// user: Why does the nightly build fai
	// assistant: c1 list {"of":"cmd"}
	// tool: c1 cmd/main.go, and others, an
	// assistant: It is not in the document
	// assistant: c3 read {"of":"cmd/main.g
	// tool: c3 func main(), and others, an
	// user: And?
	// 2 messages by middle: 274 → 198 tokens
}

// The importance of a unit may be anything: here it is the number of its calls.
func ExampleOptions_score() {
	byCalls := func(v *middleware.View) func(message.Unit) float64 {
		return func(u message.Unit) float64 {
			calls := 0
			for range v.At(u.First).Calls() {
				calls++
			}
			return float64(calls)
		}
	}
	fmt.Print(shown(trim.New(trim.Options{
		Strategy: "oldest", Trigger: trigger.Tokens(250), TargetTokens: 200, PreserveEnd: 3, Score: byCalls,
	}), talk()))
	// Output:
	// system: You mend builds.
	// user: Why does the nightly build fai
	// assistant: c2 list {"of":"doc"}
	// tool: c2 doc/intro.md, and others, a
	// assistant: c3 read {"of":"cmd/main.g
	// tool: c3 func main(), and others, an
	// user: And?
	// 3 messages by oldest: 274 → 181 tokens
}
