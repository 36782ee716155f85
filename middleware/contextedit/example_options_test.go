package contextedit_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// written is a conversation in which two files have been written, a table has
// been asked for, and a file has been read.
func written() []message.Message {
	long := strings.Repeat("line of code\n", 40)
	return []message.Message{
		message.User("Write a.go and b.go, and see what the table has."),
		message.Assistant(message.ToolCall{ID: "c1", Name: "write", Arguments: fmt.Sprintf(`{"path":"a.go","content":%q}`, long)}),
		message.Result("c1", "write", "written: "+long),
		message.Assistant(message.ToolCall{ID: "c2", Name: "db_query", Arguments: `{"table":"builds"}`}),
		message.Result("c2", "db_query", strings.Repeat("failed\n", 50)),
		message.Assistant(message.ToolCall{ID: "c3", Name: "write", Arguments: fmt.Sprintf(`{"path":"b.go","content":%q}`, long)}),
		message.Result("c3", "write", "written: "+long),
		message.Assistant(message.ToolCall{ID: "c4", Name: "read", Arguments: `{"path":"b.go"}`}),
		message.Result("c4", "read", long),
		message.Assistant(message.Text{Text: "All builds have failed."}),
	}
}

func ExampleNew() {
	mw := contextedit.New(contextedit.Options{
		Trigger:         trigger.Tokens(500),
		Keep:            1,
		ExcludeTools:    []string{"db_query"},
		ClearToolInputs: true,
	})
	sent, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: written()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range sent.Messages {
		for c := range m.Calls() {
			fmt.Printf("call   %s %-8s %.20s\n", c.ID, c.Name, c.Arguments)
		}
		for r := range m.Results() {
			fmt.Printf("result %s %-8s %.20q\n", r.CallID, r.Name, r.Text)
		}
	}
	fmt.Println(events[0])
	// Output:
	// call   c1 write    {}
	// result c1 write    "[cleared]"
	// call   c2 db_query {"table":"builds"}
	// result c2 db_query "failed\nfailed\nfailed"
	// call   c3 write    {}
	// result c3 write    "[cleared]"
	// call   c4 read     {"path":"b.go"}
	// result c4 read     "line of code\nline of"
	// contextedit: 924 → 332 tokens: cleared 2 results (924 of 500 tokens)
}

// A floor keeps the prompt cache of the provider warm: what is gained by
// clearing must be worth what is paid for reading the prompt again.
func ExampleOptions_clearAtLeast() {
	mw := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(500), Keep: 3, ClearAtLeast: 1000})
	_, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: written()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(events[0])
	// Output:
	// contextedit: skipped: clearing 1 result would free 142 tokens, less than ClearAtLeast of 1000
}

// What can be read again at any time goes, and nothing else: a list of tools,
// less the results that a function spares.
func ExampleOptions_mayClear() {
	mw := contextedit.New(contextedit.Options{
		Trigger: trigger.Tokens(500),
		Keep:    -1,
		Only:    []string{"read", "write"},
		MayClear: func(call message.ToolCall, _ []message.ToolResult) bool {
			return !strings.Contains(call.Arguments, `"a.go"`)
		},
	})
	sent, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: written()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range sent.Messages {
		for r := range m.Results() {
			fmt.Printf("%s %-8s %.20q\n", r.CallID, r.Name, r.Text)
		}
	}
	fmt.Println(events[0])
	// Output:
	// c1 write    "written: line of cod"
	// c2 db_query "failed\nfailed\nfailed"
	// c3 write    "[cleared]"
	// c4 read     "[cleared]"
	// contextedit: 924 → 642 tokens: cleared 2 results (924 of 500 tokens)
}

// What the model thought in earlier turns goes; what it thinks about the newest
// question stays. An empty list of tools leaves all results alone.
func ExampleOptions_clearThinking() {
	thought := message.Thinking{Text: strings.Repeat("Is it the log or the diff? ", 20), Signature: "sealed"}
	h := []message.Message{
		message.User("Why does the nightly build fail?"),
		message.Assistant(thought, message.Text{Text: "It is the compiler."}),
		message.User("And the weekly one?"),
		message.Assistant(thought, message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"weekly"}`}),
		message.Result("c1", "read_log", "exit status 2"),
	}
	mw := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(200), Only: []string{}, ClearThinking: true})
	sent, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: h})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range sent.Messages {
		fmt.Println(m.Role, len(m.Parts))
	}
	fmt.Println(events[0])
	// Output:
	// user 1
	// assistant 1
	// user 1
	// assistant 2
	// tool 1
	// contextedit: 350 → 203 tokens: cleared the thinking of 1 message (350 of 200 tokens)
}

// Of what is cleared, the facts may stay that are likely to be needed later, but
// for those that the view has anyway.
func ExampleOptions_digest() {
	order := `{"order_id": "#W2378156", "customer": "yusuf_rossi_9620", "items": [{"item_id": "1151293680", "price": 272.33}], ` +
		`"notes": "` + strings.Repeat("To be left at the door. ", 20) + `", "delivered_at": "2024-05-15"}`
	h := []message.Message{
		message.User("What is with order #W2378156?"),
		message.Assistant(message.ToolCall{ID: "c1", Name: "get_order", Arguments: `{"order_id":"#W2378156"}`}),
		message.Result("c1", "get_order", order),
		message.Assistant(message.Text{Text: "It is at the door."}),
		message.User("I want to send it back."),
	}
	mw := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(150), Keep: -1, Digest: 40})
	sent, _, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: h})
	if err != nil {
		fmt.Println(err)
		return
	}
	for r := range sent.Messages[2].Results() {
		fmt.Println(r.Text)
	}
	// Output:
	// [cleared; some facts: item_id: 1151293680; price: 272.33; delivered_at: 2024-05-15; yusuf_rossi_9620]
}

// If not all has to go, a file that has been read again goes first.
func ExampleOptions_stopAfter() {
	page := strings.Repeat("line of code\n", 40)
	h := []message.Message{message.User("What do the files say?")}
	for i, path := range []string{"a.go", "b.go", "c.go", "b.go"} {
		id := fmt.Sprint("c", i+1)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"path":%q}`, path)}),
			message.Result(id, "read", page))
	}
	mw := contextedit.New(contextedit.Options{Trigger: trigger.Tokens(500), Keep: 1, StopAfter: 100})
	sent, _, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: h})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range sent.Messages {
		for r := range m.Results() {
			fmt.Printf("%s %.20q\n", r.CallID, r.Text)
		}
	}
	// Output:
	// c1 "line of code\nline of"
	// c2 "[cleared]"
	// c3 "line of code\nline of"
	// c4 "line of code\nline of"
}

// Two of them, one that clears early what can be read again at any time, and
// one that clears all else when it must be.
func ExampleNew_twice() {
	chain := middleware.Chain(
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(400), Keep: -1, Only: []string{"read"}}),
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(600), Keep: 1}),
	)
	_, events, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: written()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range events {
		fmt.Println(e)
	}
	// Output:
	// contextedit: 924 → 784 tokens: cleared 1 result (924 of 400 tokens)
	// contextedit: 784 → 561 tokens: cleared 2 results (784 of 600 tokens)
}

// What is wrong with options by themselves makes New panic; Validate tells
// beforehand.
func ExampleOptions_Validate() {
	fmt.Println(contextedit.Options{Trigger: trigger.Fraction(75), KeepRounds: -1}.Validate())
	// Output:
	// KeepRounds is -1 rounds, want 0 or more
	// Trigger: trigger.Fraction(75), want more than 0 and at most 1
}
