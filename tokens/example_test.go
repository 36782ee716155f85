package tokens_test

import (
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

func ExampleMeter_Request() {
	history := []message.Message{
		message.System("You fix builds."),
		message.User("Why does the nightly build fail?"),
		message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`}),
		message.Result("c1", "read_log", strings.Repeat("exit status 2\n", 100)),
	}
	tools := []message.ToolDef{{Name: "read_log", Description: "Reads the log of a job.", Parameters: `{"type":"object"}`}}

	meter := tokens.Meter{Counter: tokens.Chars4}
	fmt.Println("one message:", meter.Message(history[1]))
	fmt.Println("the tools:", meter.Tools(tools))
	fmt.Println("all that is sent:", tokens.Meter{Counter: tokens.Chars4}.Request(history, tools))
	// Output:
	// one message: 12
	// the tools: 17
	// all that is sent: 407
}

// Words is a counter of one's own: a token a word.
type Words struct{}

func (Words) Count(text string) int { return len(strings.Fields(text)) }

func ExampleCounter() {
	fmt.Println(tokens.Meter{Counter: Words{}}.Message(message.User("Why does the nightly build fail?")))
	// Output: 10
}

// Slow stands for a counter with a vocabulary of its own.
type Slow struct{ asked int }

func (s *Slow) Count(text string) int {
	s.asked++
	return len(text) / 4
}

func ExampleMemo() {
	slow := new(Slow)
	c := tokens.Memo(slow)
	log := strings.Repeat("exit status 2\n", 100)
	fmt.Println(c.Count(log), c.Count(log), c.Count(log))
	fmt.Println("asked:", slow.asked)
	// Output:
	// 350 350 350
	// asked: 1
}
