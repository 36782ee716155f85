package lineup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// summing are options of summarize.
func summing(roll Roll) summarize.Options {
	var o summarize.Options
	o.Trigger = when("folding", roll)
	if o.Trigger != nil && roll("soft trigger", 3) == 2 {
		o.Soft = trigger.Messages(1 + roll("soft messages", 10))
	}
	o.Keep = []int{0, -1, 1, 5}[roll("kept messages", 4)]
	o.KeepRounds = roll("kept rounds", 3)
	o.KeepTurns = roll("kept turns", 2)
	o.FactTokens = []int{0, -1, 50}[roll("facts", 3)]
	o.QuoteTokens = []int{0, -1, 50}[roll("quotes", 3)]
	o.Role = []message.Role{"", message.RoleSystem, message.RoleAssistant}[roll("role of summaries", 3)]
	o.PreserveMemory = roll("memories", 2) == 1
	o.NoFallback = roll("no fallback", 3) == 2
	o.MinCalls = roll("calls between folds", 4)
	o.Strategy = []summarize.Strategy{
		{},
		{BySystem: true},
		{Chunks: 1 + roll("chunk", 5)},
		{OnlyLast: 1 + roll("last", 5)},
		{Since: time.Unix(1_000_000, 0)},
		{Structured: true},
		{Facts: []summarize.Concept{{Keyword: "files", Many: true}}},
		{Custom: first},
	}[roll("strategy", 8)]
	if o.Soft != nil && roll("in the background", 2) == 1 {
		o.Background = func(task func(context.Context)) bool {
			task(context.Background())
			return true
		}
	}
	o.Timeout = time.Nanosecond // for summarizers that hang; the others ignore it
	return o
}

// writing returns the writer of the summaries.
func writing(roll Roll) summarize.Writer {
	switch roll("writer", 4) {
	case 1:
		return summarize.ByFunc(summarizers[roll("summariser", len(summarizers))])
	case 2:
		return summarize.By(writers[roll("model", len(writers))], asking(roll))
	case 3:
		return summarize.InConversation(writers[roll("live model", len(writers))], asking(roll))
	}
	return summarize.ByRules()
}

// asking returns options for a model.
func asking(roll Roll) summarize.Ask {
	ask := summarize.Ask{Retries: []int{0, -1, 1}[roll("retries", 3)]}
	if roll("sections", 2) == 1 {
		ask.Sections = []string{}
	}
	return ask
}

// summarizers are functions that may write a summary. They are faulty in different ways.
var summarizers = []func(context.Context, *summarize.Fold) (string, error){
	func(_ context.Context, f *summarize.Fold) (string, error) {
		return fmt.Sprintf("%d messages, of which the last says %.40q.", len(f.Messages), f.Question), nil
	},
	func(_ context.Context, f *summarize.Fold) (string, error) {
		return strings.Join(f.Earlier, "; ") + " once more", nil
	},
	func(_ context.Context, f *summarize.Fold) (string, error) {
		return strings.Repeat("This is ten times too long. ", 2*f.Tokens), nil
	},
	func(context.Context, *summarize.Fold) (string, error) {
		return "", errors.New("the summariser is out of order")
	},
	func(context.Context, *summarize.Fold) (string, error) { return "\x00\xff\u2028", nil },
	func(context.Context, *summarize.Fold) (string, error) { panic("the summariser is out of its mind") },
	func(ctx context.Context, _ *summarize.Fold) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	},
}

// first is a strategy that quotes the first folded message.
func first(_ context.Context, f *summarize.Fold) ([]message.Message, error) {
	return []message.Message{message.User(fmt.Sprintf("It began with %.30q.", f.Messages[0].Text()))}, nil
}

// writers are models that may write a summary. They are faulty in different ways.
var writers = []middleware.Model{
	answers("Goal: a sum\nCurrent state: none\nDecisions and reasons: none\nErrors and repairs: done\nNext steps: none"),
	answers(`{"topics":["sums"],"entities":[],"decisions":[],"actions":[]}`),
	answers(`{"facts":{"files":["a.go has the sum"]}}`),
	answers("I'm sorry, but I can't help with that."),
	answers(strings.Repeat("This is ten times too long. ", 5_000)),
	answers(""),
	func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		return &middleware.Response{Message: message.Assistant(message.Text{Text: last.Text()}), Stop: middleware.StopEnd}, nil
	},
	func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		call := message.ToolCall{ID: "c1", Name: "tool", Arguments: "{}"}
		return &middleware.Response{Message: message.Assistant(call), Stop: middleware.StopTools}, nil
	},
	func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		err := errors.New("prompt is too long: 9000 tokens > 10 maximum")
		return nil, &middleware.Error{Kind: middleware.Overflow, Op: "summariser", Err: err}
	},
	func(ctx context.Context, _ *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
	func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		panic("the model is out of its mind")
	},
	func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return nil, nil
	},
}

func answers(text string) middleware.Model {
	return func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd}, nil
	}
}
