package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// echo is a model that says how many messages it sees.
func echo(_ context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
	text := fmt.Sprintf("I see %d messages.", len(req.Messages))
	if emit != nil {
		for word := range strings.FieldsSeq(text) {
			if err := emit(middleware.Delta{Text: word + " "}); err != nil {
				return nil, err
			}
		}
	}
	return &middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd}, nil
}

// lookups returns a history of so many rounds, all of them answered but for the
// last.
func lookups(rounds int) []message.Message {
	history := []message.Message{message.System("You look things up."), message.User("What do we have in stock?")}
	for i := range rounds {
		id := fmt.Sprintf("call-%d", i)
		history = append(history,
			message.Assistant(message.ToolCall{ID: id, Name: "lookup", Arguments: fmt.Sprintf(`{"item":%d}`, i)}),
			message.Result(id, "lookup", fmt.Sprintf("item %d: %s", i, strings.Repeat("in stock, ", 20))))
	}
	return history
}

// An editor of one's own: it folds all rounds but the newest two into one line.
// It only plans. Trigger, verification, memory and reports are the core's.
func ExampleEditing() {
	foldRounds := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		const keep = 2
		var rounds []message.Unit
		for _, u := range message.Units(v.Messages()) {
			if u.Round {
				rounds = append(rounds, u)
			}
		}
		if len(rounds) <= keep {
			return nil, nil
		}
		old := rounds[:len(rounds)-keep]
		note := message.User(fmt.Sprintf("[record of earlier work: %d lookups]", len(old)))
		return &middleware.Plan{
			Edits: []middleware.Edit{middleware.FoldOf(old[0].First, old[len(old)-1].Last, note)},
			Why:   fmt.Sprintf("folded %d rounds", len(old)),
		}, nil
	}
	mw := middleware.Chain(
		middleware.Observe(func(_ context.Context, e middleware.Event) { fmt.Println(e) }),
		middleware.Editing("fold", foldRounds, middleware.Options{Trigger: trigger.Rounds(6)}),
	)

	history := lookups(8)
	resp, err := mw(echo)(context.Background(), &middleware.Request{Messages: history}, nil)
	fmt.Println(resp.Message.Text(), err)
	fmt.Println(len(history), "messages in the history")
	// Output:
	// fold: 630 → 187 tokens: folded 6 rounds (8 of 6 rounds)
	// middleware: called: 187 tokens for a history of 630; edits in force: 1; first tokens as in the call before: 0
	// I see 7 messages. <nil>
	// 18 messages in the history
}

// The view without a model call, for loops of one's own.
func ExampleApply() {
	drop := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 3)}, Why: "dropped the oldest round"}, nil
	}
	mw := middleware.Editing("drop", drop, middleware.Options{Trigger: trigger.Rounds(3)})
	req, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: lookups(3)})
	fmt.Println(len(req.Messages), "messages to send,", err)
	for _, e := range events {
		fmt.Println(e.Kind, e.Why)
	}
	// Output:
	// 6 messages to send, <nil>
	// edited dropped the oldest round (3 of 3 rounds)
}

// A streamed answer. The last delta carries all of it.
func ExampleStream() {
	req := &middleware.Request{Messages: lookups(1)}
	for d, err := range middleware.Stream(context.Background(), echo, req) {
		switch {
		case err != nil:
			fmt.Println("failed:", err)
		case d.Response != nil:
			fmt.Printf("\nwhole: %s\n", d.Response.Message.Text())
		default:
			fmt.Print(strings.ReplaceAll(d.Text, " ", "|"))
		}
	}
	// Output:
	// I|see|4|messages.|
	// whole: I see 4 messages.
}

// The order of layers: the first of a chain is the outermost.
func ExampleChain() {
	say := func(name string) middleware.Middleware {
		return func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				fmt.Print(name, "( ")
				defer fmt.Print(") ")
				return next(ctx, req, emit)
			}
		}
	}
	mw := middleware.Chain(say("a"), middleware.Chain(say("b"), say("c")))
	_, _ = mw(echo)(context.Background(), &middleware.Request{}, nil)
	// Output: a( b( c( ) ) )
}

// Edits that survive a restart: a journal that several chains share.
func ExampleWith() {
	journal := journal.NewMemory(0)
	newChain := func() middleware.Middleware {
		drop := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			fmt.Println("planning")
			return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 3)}}, nil
		}
		return middleware.With(middleware.Env{Journal: journal, Scope: "tenant 1"},
			middleware.Editing("drop", drop, middleware.Options{Trigger: trigger.Rounds(3)}))
	}
	for range 2 {
		req, _, err := middleware.Apply(context.Background(), newChain(), &middleware.Request{Messages: lookups(3)})
		fmt.Println(len(req.Messages), err)
	}
	// Output:
	// planning
	// 6 <nil>
	// 6 <nil>
}

// What is known of the provider's prompt cache in each call. The model reports what it has read; Prefix is what it could have
// read, and Broken why it is not more.
func ExampleCache() {
	reports := []message.Usage{{Input: 180}, {Input: 260, CacheRead: 128}, {Input: 270}}
	provider := func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		resp := &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: reports[0]}
		reports = reports[1:]
		return resp, nil
	}
	shorten := middleware.Editing("shorten", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, 3, message.User("[a lookup]"))}}, nil
	}, middleware.Options{Trigger: trigger.Rounds(4)})
	model := middleware.Chain(shorten)(provider)
	for rounds := 2; rounds <= 4; rounds++ {
		resp, err := model(context.Background(), &middleware.Request{Messages: lookups(rounds)}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		c := resp.Cache
		fmt.Printf("prompt %d, as before %d, read %d, broken by %q\n", c.Prompt, c.Prefix, c.Read, c.Broken)
	}
	// Output:
	// prompt 180, as before 0, read 0, broken by ""
	// prompt 260, as before 180, read 128, broken by ""
	// prompt 270, as before 23, read 0, broken by "edit"
}

// What the caller can do about an error.
func ExampleKindOf() {
	err := fmt.Errorf("ask: %w", &middleware.Error{
		Kind: middleware.Overflow, Op: "provider", Err: errors.New("9000 tokens, window of 8000"),
	})
	fmt.Println(err)
	fmt.Printf("%q, %q, %q\n", middleware.KindOf(err), middleware.KindOf(context.Canceled), middleware.KindOf(errors.New("x")))
	// Output:
	// ask: provider: 9000 tokens, window of 8000
	// "overflow", "canceled", ""
}

// A preview of what the chain would do, with a summary that a person may change
// before it is kept.
func ExampleDraft() {
	summarize := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		ask := func(context.Context) ([]message.Message, error) {
			fmt.Println("asking the small model")
			return []message.Message{message.User("[summary: items 0 to 5 are in stock]")}, nil
		}
		return &middleware.Plan{Why: "folded 6 rounds", Edits: []middleware.Edit{{
			Kind: journal.Fold, Runs: []message.Run{{First: 2, Last: 13}}, Estimate: 10, Make: ask,
		}}}, nil
	}
	mw := middleware.Chain(middleware.Editing("summarize", summarize, middleware.Options{Trigger: trigger.Rounds(6)}))
	req := &middleware.Request{Messages: lookups(8)}
	ctx := context.Background()

	d, err := middleware.Draft(ctx, mw, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range d.Edits {
		fmt.Printf("%s: compact %d messages, frees %d of %d tokens\n", e.By, e.Runs[0].Len(), e.Freed, d.Before.Size().Tokens)
		fmt.Println(e.Messages[0].Text())
	}
	if d, err = d.Refold(0, message.User("[summary: items 0 to 5 are in stock, item 3 in blue only]")); err != nil {
		fmt.Println(err)
		return
	}
	if err = d.Commit(ctx); err != nil {
		fmt.Println(err)
		return
	}

	sent, _, err := middleware.Apply(ctx, mw, req)
	fmt.Println(len(sent.Messages), "messages to send,", err)
	fmt.Println(sent.Messages[2].Text())
	// Output:
	// asking the small model
	// summarize: compact 12 messages, frees 441 of 630 tokens
	// [summary: items 0 to 5 are in stock]
	// 7 messages to send, <nil>
	// [summary: items 0 to 5 are in stock, item 3 in blue only]
}

// What a provider tells when it refuses a request for its length.
func ExampleParseOverflow() {
	err := fmt.Errorf("ask: %w", errors.New("error, status code: 400, message: This model's maximum context length is 8192 tokens. "+
		"However, you requested 10000 tokens (9000 in the messages, 1000 in the completion)."))
	if x, long := middleware.ParseOverflow(err, nil); long {
		fmt.Printf("%d and %d tokens, %d more than %d\n", x.Sent, x.Answer, x.Over, x.Limit)
	}
	_, long := middleware.ParseOverflow(errors.New("429 Rate limit reached on tokens per min: Limit 30000, Requested 31000"), nil)
	fmt.Println(long)
	// Output:
	// 9000 and 1000 tokens, 1808 more than 8192
	// false
}
