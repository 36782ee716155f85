package summarize_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// support is a conversation of six questions.
func support() []message.Message {
	h := []message.Message{message.System("You help with servers.")}
	for _, q := range []string{
		"How do I start a server in Rust?", "Which port does it use?", "Never open port 22, please.",
		"How is it configured?", "How are logs written?", "What is left to do?",
	} {
		answer := "You should use axum, because it is small. " + strings.Repeat("Here is how that is done, step by step. ", 20)
		if q == "How is it configured?" {
			answer = "It reads one file, server.toml, when it starts.\nThe port is the value of listen, which is 8080 by default. " +
				"A variable with the same name in capitals replaces a value, so a container needs no file of its own at all."
		}
		h = append(h, message.User(q), message.Assistant(message.Text{Text: answer}))
	}
	return h[:len(h)-1]
}

func Example() {
	small := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{
			Message: message.Assistant(message.Text{Text: "Goal: a server in Rust.\nCurrent state: none.\n" +
				"Decisions and reasons: axum fits.\nErrors and repairs: it runs.\nNext steps: logs."}),
			Stop: middleware.StopEnd,
		}, nil
	}
	chain := summarize.New(summarize.By(small, summarize.Ask{}), summarize.Options{Trigger: trigger.Tokens(500), Keep: 2})
	sent, events, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.Messages[2].Text())
	fmt.Println()
	for _, e := range events {
		fmt.Println(e.Kind)
	}
	// Output:
	// [Summary of the earlier conversation: a record made by the program, not a request of the user]
	// [What the user said, word for word; the newest last, which counts where two differ]
	// - Which port does it use?
	// - Never open port 22, please.
	// - How is it configured?
	// - How are logs written?
	// [State of the work]
	// Goal: a server in Rust.
	// Current state: none.
	// Decisions and reasons: axum fits.
	// Errors and repairs: it runs.
	// Next steps: logs.
	// (8 messages compacted: 4 of the user, 4 of the assistant)
	//
	// summarizing
	// attempted
	// summarized
	// edited
}

// Without a model, rules write the summary.
func ExampleNew_rules() {
	chain := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(500), Keep: 2, FactTokens: -1})
	sent, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.Messages[2].Text())
	// Output:
	// [Summary of the earlier conversation: a record made by the program, not a request of the user]
	// [What the user said, word for word; the newest last, which counts where two differ]
	// - Which port does it use?
	// - Never open port 22, please.
	// - How is it configured?
	// - How are logs written?
	// [State of the work]
	// The assistant said last:
	// It reads one file, server.toml, when it starts.
	// The port is the value of listen, which is 8080 by default. A variable with the same name in capitals replaces a value, so a container needs no file of its own at all.
	// (8 messages compacted: 4 of the user, 4 of the assistant)
}

// An order of the user is in the summary word for word, after the first fold and after the second.
func ExampleOptions_quoteTokens() {
	chain := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(500), Keep: 2, QuoteTokens: 200})
	history := support()
	for range 2 {
		sent, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: history})
		if err != nil {
			log.Fatal(err)
		}
		for line := range strings.SplitSeq(sent.Messages[2].Text(), "\n") {
			if strings.HasPrefix(line, "- Never") || strings.HasPrefix(line, "(") {
				fmt.Println(line)
			}
		}
		history = append(history, support()[8:]...) // the conversation goes on
	}
	// Output:
	// - Never open port 22, please.
	// (8 messages compacted: 4 of the user, 4 of the assistant)
	// - Never open port 22, please.
	// (12 messages compacted: 6 of the user, 6 of the assistant)
}

// A strategy of one's own keeps what it says is important, word for word.
func ExampleStrategy() {
	important := func(_ context.Context, f *summarize.Fold) ([]message.Message, error) {
		var kept []message.Message
		for _, m := range f.Messages {
			if strings.Contains(m.Text(), "Never") {
				kept = append(kept, m)
			}
		}
		return kept, nil
	}
	chain := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(500), Keep: 1, Strategy: summarize.Strategy{Custom: important}})
	sent, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range sent.Messages {
		fmt.Println(m.Role, m.Text())
	}
	// Output:
	// system You help with servers.
	// user How do I start a server in Rust?
	// user Never open port 22, please.
	// user What is left to do?
}

// A function of the caller writes the words; the facts beside them are collected all
// the same.
func ExampleByFunc() {
	write := func(_ context.Context, f *summarize.Fold) (string, error) {
		return fmt.Sprintf("%d messages were about servers.", len(f.Messages)), nil
	}
	chain := summarize.New(summarize.ByFunc(write), summarize.Options{Trigger: trigger.Tokens(500), Keep: 2, Header: "[Record]"})
	sent, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.Messages[2].Text())
	// Output:
	// [Record]
	// [What the user said, word for word; the newest last, which counts where two differ]
	// - Which port does it use?
	// - Never open port 22, please.
	// - How is it configured?
	// - How are logs written?
	// [State of the work]
	// 8 messages were about servers.
	// (8 messages compacted: 4 of the user, 4 of the assistant)
}

// A fold is made at a logical step, whatever the trigger says, and looked at before
// it is kept.
func ExampleOptions_force() {
	chain := summarize.New(summarize.ByRules(), summarize.Options{Keep: 2})
	req := &middleware.Request{Messages: support(), Force: []string{"summarize"}}
	draft, err := middleware.Draft(context.Background(), chain, req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(draft.Before.Len(), "messages become", draft.After.Len())
	draft, err = draft.Refold(0, message.User("[Record] We talked about a server in Rust. Port 22 stays closed."))
	if err != nil {
		log.Fatal(err)
	}
	if err := draft.Commit(context.Background()); err != nil {
		log.Fatal(err)
	}
	sent, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.Messages[2].Text())
	// Output:
	// 12 messages become 5
	// [Record] We talked about a server in Rust. Port 22 stays closed.
}

func ExampleCheck() {
	s, err := summarize.Check(context.Background(), &middleware.Request{Messages: support()}, summarize.Options{
		Soft: trigger.Messages(10), Trigger: trigger.Messages(20),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Due, s.Urgency, s.Why)
	// Output: true soft 12 of 10 messages
}

// Memories are kept before what they are about is folded.
func ExampleOptions_flush() {
	remember := func(_ context.Context, folded []message.Message) (memories int, err error) {
		for _, m := range folded {
			if m.Role == message.RoleUser && strings.HasPrefix(m.Text(), "Never") {
				fmt.Println("remembered:", m.Text())
				memories++
			}
		}
		return memories, nil
	}
	chain := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(500), Keep: 2, Flush: remember})
	if _, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()}); err != nil {
		log.Fatal(err)
	}
	// Output: remembered: Never open port 22, please.
}

// A fold waits until the agent has no order open.
func ExampleOptions_before() {
	open := true
	before := func(context.Context, *summarize.Fold) summarize.Decision {
		if open {
			return summarize.Decision{Veto: "an order is open"}
		}
		return summarize.Decision{}
	}
	chain := summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(500), Keep: 2, Before: before})
	for range 2 {
		req, _, err := middleware.Apply(context.Background(), chain, &middleware.Request{Messages: support()})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(support()), "messages become", len(req.Messages))
		open = false
	}
	// Output:
	// 12 messages become 12
	// 12 messages become 5
}
