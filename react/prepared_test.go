package react_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/react"
)

// TestPreparedSummaries shows which run counts a background summary that is never
// used: the one that continues its conversation, and no other run.
func TestPreparedSummaries(t *testing.T) {
	t.Parallel()
	took := message.Usage{Input: 70_000, Output: 300}
	const summary = "Goal: read.\nCurrent state: read.\nDecisions and reasons: none.\nErrors and repairs: reading.\nNext steps: read on."
	small := testkit.Give(middleware.Response{
		Message: message.Assistant(message.Text{Text: summary}), Stop: middleware.StopEnd, Usage: took,
	})
	var prepared sync.WaitGroup
	start := func(task func(context.Context)) bool {
		prepared.Go(func() { task(t.Context()) })
		return true
	}
	chain := summarize.New(summarize.By(small, summarize.Ask{Model: "claude-haiku-4-5"}), summarize.Options{
		Soft: trigger.Messages(8), Trigger: trigger.Messages(1000), Keep: 2, Background: start,
	})
	// run answers after so many pages, and returns its end.
	run := func(pages int, history ...message.Message) (end react.End) {
		n := 0
		big := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			prepared.Wait() // what is prepared is ready before the answer is
			answer := middleware.Response{Message: message.Assistant(message.Text{Text: "It is the linker."}), Stop: middleware.StopEnd}
			n++
			if n <= pages {
				id := fmt.Sprint("c", len(req.Messages))
				answer.Message = message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: `{}`})
				answer.Stop = middleware.StopTools
			}
			return testkit.Give(answer)(ctx, req, emit)
		}
		read := agent.NewTool("read", "Reads on.", func(context.Context, struct{}) (string, error) { return strings.Repeat("all is well ", 100), nil })
		a := react.Agent{Model: chain(big), Tools: []agent.Tool{read}}
		for event, err := range a.Run(t.Context(), history...) {
			require.NoError(t, err)
			if e, ok := event.(react.End); ok {
				end = e
			}
		}
		return end
	}
	table, _ := models.Default().Lookup("claude-haiku-4-5")
	cost, ok := table.Price.Cost(took)
	require.True(t, ok)

	end := run(6, message.User("Why does the build fail?"))
	require.Equal(t, took, end.Summaries, "started by the fifth call, reported by the sixth, though there is no fold")
	require.Equal(t, cost, end.SummaryCost)

	one := run(4, message.User("Why is the build slow?"))
	require.Zero(t, one.Summaries, "the last call of the run started it")
	other := run(3, message.User("Why is the test slow?"))
	require.Zero(t, other.Summaries, "it is no cost of another conversation")
	on := run(0, append(one.History, message.User("Go on."))...)
	require.Equal(t, took, on.Summaries, "but of the run that continues its conversation")
}
