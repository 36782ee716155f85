package trigger_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// investigation is a conversation in which a tool has been called so many
// times.
func investigation(calls int) []message.Message {
	h := []message.Message{message.User("Why does the nightly build fail?")}
	for i := range calls {
		id := fmt.Sprint("c", i)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, i)}),
			message.Result(id, "read_log", strings.Repeat("exit status 2\n", 100)))
	}
	return h
}

// clearings tells what a trigger lets contextedit do.
func clearings(t middleware.Trigger, req *middleware.Request) string {
	fourBytesAToken := middleware.Env{Counter: tokens.Chars4}
	chain := middleware.With(fourBytesAToken, contextedit.New(contextedit.Options{Trigger: t, Keep: 2}))
	_, events, err := middleware.Apply(context.Background(), chain, req)
	if err != nil {
		return err.Error()
	}
	if len(events) == 0 {
		return "nothing to do"
	}
	return events[0].String()
}

func ExampleTokens() {
	fmt.Println(clearings(trigger.Tokens(4000), &middleware.Request{Messages: investigation(10)}))
	fmt.Println(clearings(trigger.Tokens(3000), &middleware.Request{Messages: investigation(10)}))
	// Output:
	// nothing to do
	// contextedit: 3665 → 889 tokens: cleared 8 results (3665 of 3000 tokens)
}

func ExampleFraction() {
	budget := &middleware.Budget{Window: 5000, Reserve: 1000}
	fmt.Println(clearings(trigger.Fraction(0.75), &middleware.Request{Messages: investigation(8), Budget: budget}))
	fmt.Println(clearings(trigger.Fraction(0.75), &middleware.Request{Messages: investigation(9), Budget: budget}))

	// It cannot work without the window, and says so.
	fmt.Println(clearings(trigger.Fraction(0.75), &middleware.Request{Messages: investigation(9), Model: "mini-9"}))
	// Output:
	// nothing to do
	// contextedit: 3300 → 871 tokens: cleared 7 results (3300 of 3000 tokens, 0.75 of the room of 4000)
	// contextedit: misconfigured: trigger.Fraction(0.75) needs the window of model "mini-9", which the table of models does not know: set a Budget, or use trigger.Tokens
}

func ExampleMessages() {
	fmt.Println(clearings(trigger.Messages(20), &middleware.Request{Messages: investigation(10)}))
	// Output: contextedit: 3665 → 889 tokens: cleared 8 results (21 of 20 messages)
}

func ExampleRounds() {
	fmt.Println(clearings(trigger.Rounds(10), &middleware.Request{Messages: investigation(10)}))
	// Output: contextedit: 3665 → 889 tokens: cleared 8 results (10 of 10 rounds)
}

func ExampleToolUses() {
	fmt.Println(clearings(trigger.ToolUses(10), &middleware.Request{Messages: investigation(10)}))
	// Output: contextedit: 3665 → 889 tokens: cleared 8 results (10 of 10 tool calls)
}

// An edit costs the prompt cache of the provider, so it is to free something
// worth that. The plan is made only once there are 1,000 tokens.
func ExampleReclaims() {
	t := trigger.All(trigger.Tokens(1000), trigger.Reclaims(2000))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(5)}))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(10)}))
	// Output:
	// nothing to do
	// contextedit: 3665 → 889 tokens: cleared 8 results (3665 of 1000 tokens, frees 2776 of 2000 tokens)
}

// At 3,000 tokens, as long as the conversation is short: beyond that something
// else takes over.
func ExampleNot() {
	t := trigger.All(trigger.Tokens(3000), trigger.Not(trigger.Messages(20)))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(9)}))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(10)}))
	// Output:
	// contextedit: 3300 → 871 tokens: cleared 7 results (3300 of 3000 tokens, not (19 of 20 messages))
	// nothing to do
}

func ExampleAny() {
	// When there are many tokens, or many rounds in a window that fills up.
	t := trigger.Any(
		trigger.Tokens(100_000),
		trigger.All(trigger.Fraction(0.5), trigger.Rounds(10)),
	)
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(10), Budget: &middleware.Budget{Window: 6000}}))
	// Output: contextedit: 3665 → 889 tokens: cleared 8 results (3665 of 3000 tokens, 0.5 of the room of 6000, 10 of 10 rounds)
}

func ExampleAll() {
	t := trigger.All(trigger.Tokens(3000), trigger.Rounds(20))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(10)}))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(20)}))
	// Output:
	// nothing to do
	// contextedit: 7315 → 1069 tokens: cleared 18 results (7315 of 3000 tokens, 20 of 20 rounds)
}

// Edits between turns keep the thinking of a turn: in the middle of one, this trigger waits until there are 5,000 tokens.
func ExampleAtUser() {
	t := trigger.All(trigger.Tokens(1000), trigger.AtUser(trigger.Tokens(5000)))
	history := investigation(10)
	fmt.Println(clearings(t, &middleware.Request{Messages: history}))
	fmt.Println(clearings(t, &middleware.Request{Messages: append(history, message.User("Is that all?"))}))
	fmt.Println(clearings(t, &middleware.Request{Messages: investigation(20)}))
	// Output:
	// nothing to do
	// contextedit: 3672 → 896 tokens: cleared 8 results (3672 of 1000 tokens, a message of the user ends the request)
	// contextedit: 7315 → 1069 tokens: cleared 18 results (7315 of 1000 tokens, 7315 of 5000 tokens)
}

// A trigger may look at the plan: this one waits until an edit is worth it, as
// [trigger.Reclaims] does. The plan is made only when it is asked for.
func ExampleFunc() {
	worthIt := trigger.Func(func(_ *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
		p := plan()
		if p == nil || p.Saved < 2000 {
			return false, "too little to gain", nil
		}
		return true, fmt.Sprintf("saves %d tokens", p.Saved), nil
	})
	fmt.Println(clearings(worthIt, &middleware.Request{Messages: investigation(5)}))
	fmt.Println(clearings(worthIt, &middleware.Request{Messages: investigation(10)}))
	// Output:
	// nothing to do
	// contextedit: 3665 → 889 tokens: cleared 8 results (saves 2776 tokens)
}

// A simple task is done with little context; a complex one, which uses many
// different tools, needs more of it before anything may go.
func ExampleFunc_complexity() {
	byComplexity := trigger.Func(func(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
		used := map[string]bool{}
		for _, m := range v.Messages() {
			for call := range m.Calls() {
				used[call.Name] = true
			}
		}
		limit := 2000
		if len(used) >= 3 {
			limit = 4000
		}
		return trigger.Tokens(limit).Met(v, plan)
	})
	h := investigation(10)
	fmt.Println(clearings(byComplexity, &middleware.Request{Messages: h}))

	for i, name := range []string{"run_tests", "git_log"} {
		h[2*i+1] = message.Assistant(message.ToolCall{ID: fmt.Sprint("c", i), Name: name, Arguments: "{}"})
	}
	fmt.Println(clearings(byComplexity, &middleware.Request{Messages: h}))
	// Output:
	// contextedit: 3665 → 889 tokens: cleared 8 results (3665 of 2000 tokens)
	// nothing to do
}

// Without a trigger, results are cleared at 0.75 of the room if the window is known.
func Example_noTrigger() {
	h := investigation(10)
	fmt.Println(clearings(nil, &middleware.Request{Messages: h}))
	fmt.Println(clearings(nil, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 4000}}))
	// Output:
	// contextedit: notice: nothing is edited below 100,000 tokens (the window of the model is not known)
	// contextedit: 3665 → 889 tokens: cleared 8 results (3665 of 3000 tokens, 0.75 of the window of 4000)
}

// The prices are those of Claude. The first edit comes when reading the old results has
// cost as much as writing the rest to the cache again.
func ExampleEconomy() {
	economy := contextedit.New(contextedit.Options{Trigger: trigger.Economy(trigger.EconomyOptions{Read: 0.1, Write: 1.25}), Keep: 2})
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, economy)
	done := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}, nil
	}
	edits := middleware.Observe(func(_ context.Context, e middleware.Event) {
		if e.Kind == middleware.Edited {
			fmt.Println(e)
		}
	})
	model := middleware.Chain(edits, chain)(done)
	for calls := range 20 {
		if _, err := model(context.Background(), &middleware.Request{Messages: investigation(calls)}, nil); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// contextedit: 2570 → 835 tokens: cleared 5 results (reading it has cost 607 input tokens since the edit before, writing again costs 512)
	// contextedit: 3025 → 943 tokens: cleared 6 results (reading it has cost 625 input tokens since the edit before, writing again costs 532)
	// contextedit: 3133 → 1051 tokens: cleared 6 results (reading it has cost 625 input tokens since the edit before, writing again costs 532)
}
