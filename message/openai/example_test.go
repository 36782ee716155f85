package openai_test

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

const body = `{"temperature": 0.20, "messages": [
  {"role": "developer", "content": "You fix builds."},
  {"role": "user", "content": "Why does the build fail?"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "a long log: the linker ran out of memory", "x-time": 12.50},
  {"role": "assistant", "content": "The linker has too little memory."},
  {"role": "user", "content": "How much does it need?"}
]}`

// A body is read, goes through a chain, and is written with what the chain made
// of it.
func ExampleParse() {
	conv, err := openai.Parse([]byte(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	chain := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: -1})
	req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: conv.History(), Tools: conv.Tools})
	if err != nil {
		fmt.Println(err)
		return
	}
	msgs := make([]openai.Message, len(req.Messages))
	for i, m := range req.Messages { // contextedit rewrites messages, and neither adds nor removes any
		if msgs[i], err = conv.Messages[i].With(m); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := conv.JSON(msgs)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(out))
	// Output:
	// {"temperature": 0.20, "messages": [
	//   {"role": "developer", "content": "You fix builds."},
	//   {"role": "user", "content": "Why does the build fail?"},
	//   {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}]},
	//   {"role": "tool", "tool_call_id": "c1", "content": "[cleared]", "x-time": 12.50},
	//   {"role": "assistant", "content": "The linker has too little memory."},
	//   {"role": "user", "content": "How much does it need?"}
	// ]}
}

func ExampleConversation_JSON() {
	conv, err := openai.Parse([]byte(`[{"role": "system", "content": "You help."}, {"role": "user", "content": "hi"}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := conv.JSON(conv.Messages[1:])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(out))
	// Output: [{"role": "user", "content": "hi"}]
}

func ExampleMessage_With() {
	conv, err := openai.Parse([]byte(`[{"role": "tool", "tool_call_id": "c1", "content": "long", "x": 1.0}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	short, err := conv.Messages[0].With(message.Result("c1", "", "short"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(short)
	// Output: {"role": "tool", "tool_call_id": "c1", "content": "short", "x": 1.0}
}

func ExampleNew() {
	m, err := openai.New(message.Assistant(
		message.Text{Text: "I look."},
		message.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a.go"}`},
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m)
	// Output: {"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.go\"}"}}]}
}

func ExampleMessage_Message() {
	conv, err := openai.Parse([]byte(`[{"role": "assistant", "content": "so", "reasoning_content": "hm"}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range conv.Messages[0].Message().Parts {
		fmt.Printf("%T\n", p)
	}
	// Output:
	// message.Thinking
	// message.Text
}
