package thinking

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// others are models whose providers demand something else of the thinking.
var others = []struct {
	model  string
	demand string
	plain  bool // see withThinking
}{
	{"deepseek-v4", "deepseek", true},
	{"deepseek-v4-pro", "deepseek", true},
	{"kimi-k2.5", "kimi", true},
	{"kimi-k2-thinking", "kimi", true},
	{"claude-sonnet-4-5", "manual", false},
	{"gemini-3-pro-preview", "gemini", false},
}

// TestCallsKeepTheirReasoning leads three turns with nine calls through a window of 1,500 tokens, and through
// ClearThinking. DeepSeek and Kimi accept no call without its reasoning.
func TestCallsKeepTheirReasoning(t *testing.T) {
	t.Parallel()
	c := &conversation{id: "three turns", messages: middlewaretest.ReAct{Rounds: 9, PerTurn: 3, Result: 700, Answered: true}.Messages()}
	c.declare()
	for _, ch := range []chain{
		{"fit", 1_500, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }, 0, 0, 0},
		{"ClearThinking", 0, func() []middleware.Middleware {
			return []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1, ClearThinking: true})}
		}, 0, 0, 0},
	} {
		for _, o := range others {
			t.Run(ch.name+"/"+o.model, func(t *testing.T) {
				t.Parallel()
				bare := 0
				v := variant{model: o.model, demand: o.demand, plain: o.plain}
				if o.demand == "deepseek" || o.demand == "kimi" {
					v.look = func(sent *middleware.Request) { bare = max(bare, callsWithoutThinking(sent.Messages)) }
				}
				r := lead(t, ch, c, v)
				require.Zero(t, bare, "of 9 calls, all have their reasoning")
				require.Zero(t, r.refused, "no request is refused: %s", first(r.why))
				require.Zero(t, r.failed, "all requests fit")
				require.Equal(t, 12, r.requests, "9 calls and 3 answers")
			})
		}
	}
}

// callsWithoutThinking counts the messages with calls that have no thinking.
func callsWithoutThinking(msgs []message.Message) (n int) {
	for _, m := range msgs {
		if m.HasCalls() && thoughts([]message.Message{m}) == 0 {
			n++
		}
	}
	return n
}
