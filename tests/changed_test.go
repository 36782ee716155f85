package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

// TestChangedHistoryIsNotCut has programs that change their own old messages, whose usage is that of what was there before, and
// mocks that report a usage which is none. There is room for all: fit edits nothing, and no server has cut a prompt.
func TestChangedHistoryIsNotCut(t *testing.T) {
	t.Parallel()
	clearOld := func(h []message.Message) []message.Message { // all results but the last two, in place
		h = slices.Clone(h)
		seen := 0
		for i, m := range slices.Backward(h) {
			if m.Role != message.RoleTool {
				continue
			}
			seen++
			if seen > 2 {
				r := m.Parts[0].(message.ToolResult)
				h[i] = message.Result(r.CallID, r.Name, "[old result]")
			}
		}
		return h
	}
	charged := func(n, _ int) int { return n }
	for name, c := range map[string]struct {
		change func(call int, h []message.Message) []message.Message
		usage  func(n, call int) int // for a prompt of n tokens; nil: n
		window int
	}{
		"results are cleared in each call": {change: func(_ int, h []message.Message) []message.Message { return clearOld(h) }},
		"and in some": {change: func(call int, h []message.Message) []message.Message {
			if call%5 == 4 {
				return clearOld(h)
			}
			return h
		}},
		"edit and resend": {change: func(call int, h []message.Message) []message.Message {
			if call%6 == 5 {
				return append(h[:len(h)-4:len(h)-4], message.Assistant(message.Text{Text: "So."}), message.User(fmt.Sprint("No, look at module ", call, " first.")))
			}
			return h
		}},
		"the beginning is summarized": {change: func(call int, h []message.Message) []message.Message {
			if call%7 == 6 {
				return append([]message.Message{message.User(fmt.Sprint("So far ", call, " logs were read."))}, h[len(h)-4:]...)
			}
			return h
		}},
		"always 100":                    {usage: func(int, int) int { return 100 }},
		"always 1000":                   {usage: func(int, int) int { return 1000 }},
		"always 0":                      {usage: func(int, int) int { return 0 }},
		"always 100, cleared":           {usage: func(int, int) int { return 100 }, change: func(_ int, h []message.Message) []message.Message { return clearOld(h) }},
		"cut, though a window declared": {usage: func(n, _ int) int { return min(n, 4131) }},
	} {
		if c.usage == nil {
			c.usage = charged
		}
		for _, how := range []string{"response", "messages", "both", "new process"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				var heard middlewaretest.Recorder
				start := func() middleware.Middleware {
					return middleware.Chain(heard.Middleware(), middleware.With(middleware.Env{}, contextedit.New(contextedit.Options{}), fit.New(fit.Options{})))
				}
				chain := start()
				var sent *middleware.Request
				h := []message.Message{message.System("You fix builds."), message.User("Why does it fail?")}
				for call := range 24 {
					if how == "new process" {
						chain = start()
					}
					usage := message.Usage{}
					resp, err := chain(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
						usage.Input = c.usage(tokens.Meter{}.Request(req.Messages, nil), call)
						sent = req
						r := &middleware.Response{Message: message.Assistant(message.ToolCall{ID: fmt.Sprint("c", call), Name: "read", Arguments: "{}"})}
						if how != "messages" {
							r.Usage = usage
						}
						return r, nil
					})(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 12_000}}, nil)
					require.NoError(t, err)
					require.True(t, slices.EqualFunc(h, sent.Messages, message.Message.Equal), "call %d", call)
					budget, _ := sent.View().Budget()
					require.Equal(t, 12_000, budget.Window)
					n := tokens.Meter{}.Request(h, nil)
					require.InDelta(t, n, sent.View().Size().Tokens, float64(max(200, n/3)), "call %d", call)
					if how != "response" {
						resp.Message.Usage = &usage
					}
					h = append(slices.Clip(h), resp.Message, message.Result(fmt.Sprint("c", call), "read", strings.Repeat("ok: step done\n", 60)))
					if c.change != nil {
						h = slices.Concat(h[:1], c.change(call, h[1:]))
					}
				}
				require.Empty(t, heard.Events(middleware.Truncated, middleware.Edited))
			})
		}
	}
}
