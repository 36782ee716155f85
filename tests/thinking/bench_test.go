package thinking

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// BenchmarkIdle calls with a history of 2,000 messages with thinking that has grown by a round since the call before, and
// nothing to do: for a model that does not bind its thinking to what stands before it, for one that does, and for that one
// if the thinking of the first 1,900 messages is left out.
func BenchmarkIdle(b *testing.B) {
	const begin, end = 1900, 2100
	history := middlewaretest.ReAct{Rounds: 1100, Result: 400}.Messages()
	for i := range history {
		if m := &history[i]; m.Role == message.RoleAssistant {
			m.Parts = append([]message.Part{message.Thinking{Text: "So I look for it.", Signature: "Er"}}, m.Parts...)
		}
	}
	for name, c := range map[string]struct {
		model string
		known int // messages of the first call
	}{
		"free": {"claude-opus-4-8", 2}, "bound": {boundModel, 2}, "left out": {boundModel, begin},
	} {
		b.Run(name, func(b *testing.B) {
			var chain middleware.Model
			call := func(n int) {
				_, err := chain(b.Context(), &middleware.Request{Messages: history[:n:n], Model: c.model}, nil)
				require.NoError(b, err)
			}
			n := end
			b.ReportAllocs()
			for b.Loop() {
				if n += 2; n > end {
					b.StopTimer()
					chain = middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Tokens(100_000_000)}))(
						func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
							return &middleware.Response{}, nil
						})
					call(c.known)
					call(begin)
					n = begin + 2
					b.StartTimer()
				}
				call(n)
			}
		})
	}
}
