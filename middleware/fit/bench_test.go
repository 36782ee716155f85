package fit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// The benchmarks measure a call on a long conversation: 2,000 messages, about
// 200,000 tokens.
//
//	go test -run '^$' -bench . -benchtime 200x -count 6 ./middleware/fit

const messages = 2000

// conversation returns a system prompt, a question and rounds of one call each.
func conversation(messages int) []message.Message {
	h := make([]message.Message, 0, messages)
	h = append(h, message.System("You fix builds."), message.User("Why does the nightly build fail?"))
	for i := 0; len(h)+2 <= messages; i++ {
		id := fmt.Sprintf("call_%06d", i)
		page := strings.Repeat(fmt.Sprintf("nightly %06d: exit status 2\n", i), 26)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, i)}),
			message.Result(id, "read_log", page))
	}
	return h
}

var tools = []message.ToolDef{{Name: "read_log", Description: "Reads a page of the log.", Parameters: `{"type":"object"}`}}

func done(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"})}, nil
}

// nothing is an editing middleware that has nothing to do: what the chain itself
// takes.
func nothing(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }

func BenchmarkCall(b *testing.B) {
	h := conversation(messages)
	chains := []struct {
		name string
		mw   func() middleware.Middleware
	}{
		{"chain alone", func() middleware.Middleware { return middleware.Editing("nothing", nothing, middleware.Options{}) }},
		{"fit", func() middleware.Middleware { return fit.New(fit.Options{}) }},
	}
	for _, c := range chains {
		b.Run("unchanged/"+c.name, func(b *testing.B) {
			model := c.mw()(done)
			req := &middleware.Request{Messages: h, Tools: tools, Budget: &middleware.Budget{Window: 1_000_000}}
			call(b, model, req)
			b.ReportAllocs()
			for b.Loop() {
				call(b, model, req)
			}
		})
		b.Run("grown by a round/"+c.name, func(b *testing.B) {
			long := conversation(messages + 4000)
			model, n := c.mw()(done), messages
			req := &middleware.Request{Messages: long[:n], Tools: tools, Budget: &middleware.Budget{Window: 1_000_000}}
			call(b, model, req)
			b.ReportAllocs()
			for b.Loop() {
				if n += 2; n > len(long) {
					b.StopTimer()
					model, n = c.mw()(done), messages
					req.Messages = long[:n]
					call(b, model, req)
					n += 2
					b.StartTimer()
				}
				req.Messages = long[:n]
				call(b, model, req)
			}
		})
	}
	for _, window := range []int{180_000, 50_000, 8_000} {
		b.Run(fmt.Sprintf("shrinks to %d", window), func(b *testing.B) {
			req := &middleware.Request{Messages: h, Tools: tools}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				model := fit.New(fit.Options{})(done)
				req.Budget = &middleware.Budget{Window: 1_000_000}
				call(b, model, req)
				req.Budget = &middleware.Budget{Window: window}
				b.StartTimer()
				call(b, model, req)
			}
		})
	}
}

func call(tb testing.TB, model middleware.Model, req *middleware.Request) {
	tb.Helper()
	_, err := model(context.Background(), req, nil)
	require.NoError(tb, err)
}
