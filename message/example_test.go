package message_test

import (
	"encoding/json"
	"fmt"

	"github.com/laconic-go/laconic/message"
)

func ExampleCheck() {
	history := []message.Message{
		message.User("Why does the nightly build fail?"),
		message.Assistant(
			message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`},
			message.ToolCall{ID: "c2", Name: "list_jobs", Arguments: `job=nightly`},
		),
		message.Result("c1", "read_log", "exit status 2"),
	}
	fmt.Println(message.Check(history))

	for _, v := range message.Rules(0).Violations(history) {
		fmt.Println(v.Rule == "bad arguments", v.At, v.CallID)
	}
	// Output:
	// message: message 1: unanswered call "c2"; message 1: bad arguments "c2"
	// false 1 c2
	// true 1 c2
}

func ExampleUnits() {
	history := []message.Message{
		message.User("Compare the two logs."),
		message.Assistant(
			message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`},
			message.ToolCall{ID: "c2", Name: "read_log", Arguments: `{"job":"weekly"}`},
		),
		message.Result("c1", "read_log", "exit status 2"),
		message.Result("c2", "read_log", "ok"),
		message.Assistant(message.Text{Text: "Only the nightly job fails."}),
	}
	for _, u := range message.Units(history) {
		fmt.Println(u.First, u.Last, u.Round)
	}
	// Output:
	// 0 0 false
	// 1 3 true
	// 4 4 false
}

func ExampleIDs() {
	history := []message.Message{
		message.System("It is noon."),
		message.User("Hello"),
		message.Assistant(message.Text{Text: "Hi"}),
	}
	ids := message.IDs(history)
	fmt.Println("leading system message:", ids[0].IsZero())

	// A clock in the system prompt changes no ID.
	history[0] = message.System("It is one minute past noon.")
	fmt.Println("other time of day:", message.IDs(history)[2] == ids[2])

	// Another word changes the ID of its position and of all behind it.
	history[1] = message.User("Hallo")
	later := message.IDs(history)
	fmt.Println("other greeting:", later[1] == ids[1], later[2] == ids[2])
	// Output:
	// leading system message: true
	// other time of day: true
	// other greeting: false false
}

func ExampleIDs_known() {
	history := []message.Message{message.User("Hello")}
	ids := message.IDs(history)

	history = append(history, message.Assistant(message.Text{Text: "Hi"}), message.User("How are you?"))
	ids = message.IDs(history, ids...) // looks at the two new messages only
	fmt.Println(len(ids), ids[2] == message.IDs(history)[2])
	// Output: 3 true
}

func ExampleMessage_MarshalJSON() {
	m := message.Assistant(
		message.Thinking{Text: "The log will tell.", Signature: "c2lnbmVk"},
		message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`},
	)
	m.Hints.Pinned = true
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))

	var back message.Message
	fmt.Println(json.Unmarshal(data, &back) == nil && back.Equal(m))
	// Output:
	// {
	//   "role": "assistant",
	//   "parts": [
	//     {
	//       "type": "thinking",
	//       "text": "The log will tell.",
	//       "signature": "c2lnbmVk"
	//     },
	//     {
	//       "type": "call",
	//       "id": "c1",
	//       "name": "read_log",
	//       "arguments": "{\"job\":\"nightly\"}"
	//     }
	//   ],
	//   "hints": {
	//     "pinned": true
	//   }
	// }
	// true
}

func ExampleRules_Check() {
	history := []message.Message{
		message.User("Why does the nightly build fail?"),
		message.Assistant(
			message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`},
			message.Text{Text: "I look at the log."},
		),
		message.Result("c1", "read_log", ""),
	}
	for _, r := range []message.Rules{message.OpenAI, message.Anthropic, message.Bedrock, message.OpenAI | message.Bedrock} {
		fmt.Println(r, "-", r.Check(history))
	}
	// Output:
	// OpenAI - <nil>
	// Anthropic - message: message 1: text after call
	// Bedrock - message: message 1: text after call; message 2: empty result "c1"
	// OpenAI|Bedrock - message: message 1: text after call; message 2: empty result "c1"
}

func ExampleRules_Repair() {
	history := []message.Message{
		message.User("Compare the two logs."),
		message.Assistant(
			message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`},
			message.ToolCall{ID: "c2", Name: "read_log", Arguments: `{"job":`}, // cut off
		),
		message.User("Hurry up."), // typed while the tools ran
		message.Result("c1", "read_log", "exit status 2"),
	}
	repaired := message.Anthropic.Repair(history)
	for _, f := range repaired.Fixes {
		fmt.Println(f)
	}
	for _, m := range repaired.Messages {
		for _, p := range m.Parts {
			fmt.Printf("%s %+v\n", m.Role, p)
		}
	}
	// Output:
	// message 1: bad arguments "c2": "{\"job\":" became a JSON object
	// message 1: unanswered call "c2": got an error result: no result: the call was interrupted
	// message 3: displaced result "c1": moved up to its call
	// user {Text:Compare the two logs.}
	// assistant {ID:c1 Name:read_log Arguments:{"job":"nightly"}}
	// assistant {ID:c2 Name:read_log Arguments:{"invalid_arguments":"{\"job\":"}}
	// tool {CallID:c1 Name:read_log Text:exit status 2 Content:<nil> Error:false}
	// tool {CallID:c2 Name:read_log Text:no result: the call was interrupted Content:<nil> Error:true}
	// user {Text:Hurry up.}
}

func ExampleRules_Repair_origins() {
	history := []message.Message{
		message.User("Read the log."),
		message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{}`}),
		message.User("Hurry up."),
		message.Result("c1", "read_log", "exit status 2"),
		message.Assistant(message.ToolCall{ID: "c2", Name: "read_log", Arguments: `{}`}),
	}
	repaired := message.OpenAI.Repair(history)
	for i, m := range repaired.Messages {
		from := repaired.From[i]
		fmt.Println(m.Role, from, m.Equal(history[from]))
	}
	// Output:
	// user 0 true
	// assistant 1 true
	// tool 3 true
	// user 2 true
	// assistant 4 true
	// tool 4 false
}

// The limits of a provider other than tokens.
func ExampleRules_Limits() {
	fmt.Println("the longer side of an image: at most", message.Anthropic.Limits(200_000).ImageSide)
	// Output:
	// the longer side of an image: at most 8000
}
