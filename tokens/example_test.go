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

// The same sentence by all counters. The encodings themselves have 17 tokens
// (o200k_base) and 22 (cl100k_base) for it.
func ExampleEstimate() {
	text := "运行器连不上镜像,缓存是空的。Retry 3 times."
	cl100k, _ := tokens.MeterFor("cl100k_base")
	fmt.Println("o200k_base, estimated:", tokens.Estimate{}.Count(text))
	fmt.Println("cl100k_base, estimated:", cl100k.Counter.Count(text))
	fmt.Println("four bytes a token:", tokens.Chars4.Count(text))
	fmt.Println("one and a half ideographs a token:", tokens.CJK15.Count(text))
	fmt.Println("one and a half tokens an ideograph:", tokens.Cautious.Count(text))
	// Output:
	// o200k_base, estimated: 15
	// cl100k_base, estimated: 20
	// four bytes a token: 15
	// one and a half ideographs a token: 13
	// one and a half tokens an ideograph: 25
}

func ExampleMeterFor() {
	text := "The nightly build has failed since Tuesday."
	for _, f := range []string{"o200k_base", "claude-4", "claude-4.7"} {
		m, _ := tokens.MeterFor(f)
		fmt.Println(f, m.Counter.Count(text))
	}
	// Output:
	// o200k_base 8
	// claude-4 9
	// claude-4.7 12
}

// The rule is meant for a whole list: what is left of one text counts with the
// next.
func ExampleCJK15_Messages() {
	abc := message.User("abc")
	fmt.Println(tokens.CJK15.Count("abc") + tokens.CJK15.Count("abc"))
	fmt.Println(tokens.CJK15.Messages([]message.Message{abc, abc}))
	fmt.Println(tokens.CJK15.Messages([]message.Message{
		message.User("上下文压缩 context compaction"),
		message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a.go"}`}),
	}))
	// Output:
	// 0
	// 1
	// 12
}

func ExampleMeter() {
	history := []message.Message{
		message.System("You fix builds."),
		message.User("Why does the nightly build fail?"),
	}
	tools := []message.ToolDef{{Name: "read_log", Description: "Reads the log of a job.", Parameters: `{"type":"object"}`}}
	for _, f := range []string{"o200k_base", "claude-4"} {
		m, _ := tokens.MeterFor(f)
		fmt.Printf("%s: %d messages, %d tools, %d once, %d in all\n", f,
			m.Message(history[0])+m.Message(history[1]), m.Tools(tools), m.Request(nil, nil), m.Request(history, tools))
	}
	// Output:
	// o200k_base: 19 messages, 34 tools, 3 once, 56 in all
	// claude-4: 16 messages, 620 tools, 6 once, 642 in all
}

// A custom meter can begin with that of a family.
func ExampleMeterFor_custom() {
	m, known := tokens.MeterFor("qwen")
	fmt.Println(known, m.Framing.PerMessage, m.Framing.PerTool)
	m.Framing.PerTool = 40
	m.Counter = Words{}
	fmt.Println(m.Tools([]message.ToolDef{{Name: "read"}, {Name: "write"}}))
	// Output:
	// true 4 56
	// 327
}
