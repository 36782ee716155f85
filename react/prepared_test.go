package react_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/react"
)

// TestPreparedSummaries shows whose costs summaries are that are made in advance and
// never used: those of the run that goes on with their conversation, and of no other
// one that shares the middleware.
func TestPreparedSummaries(t *testing.T) {
	t.Parallel()
	now := time.Now()
	took := message.Usage{Input: 70_000, Output: 300}
	const summary = "Key objectives: read.\nTools used and results: read.\nKey findings: none.\nCurrent status: reading.\nNext steps: read on."
	small := middlewaretest.Give(middleware.Response{
		Message: message.Assistant(message.Text{Text: summary}), Stop: middleware.StopEnd, Usage: took,
	})
	bg := summarize.NewBackground(t.Context(), 1)
	chain := middleware.With(middleware.Env{Clock: func() time.Time { return now }}, summarize.New(summarize.By(small, summarize.Ask{Model: "claude-haiku-4-5"}), summarize.Options{
		Soft: trigger.Messages(8), Trigger: trigger.Messages(1000), Keep: 2, Background: bg.Go,
	}))
	// run answers so many pages later, and returns its end and how many events were those
	// of another conversation.
	run := func(pages int, history ...message.Message) (end react.End, strays int) {
		n := 0
		big := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			bg.Wait() // what is prepared is ready before the answer is
			answer := middleware.Response{Message: message.Assistant(message.Text{Text: "It is the linker."}), Stop: middleware.StopEnd}
			n++
			if n <= pages {
				id := fmt.Sprint("c", len(req.Messages))
				answer.Message = message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: `{}`})
				answer.Stop = middleware.StopTools
			}
			return middlewaretest.Give(answer)(ctx, req, emit)
		}
		read := agent.NewTool("read", "Reads on.", func(context.Context, struct{}) (string, error) { return strings.Repeat("all is well ", 100), nil })
		a := react.Agent{Model: chain(big), Tools: []agent.Tool{read}}
		for event, err := range a.Run(t.Context(), history...) {
			require.NoError(t, err)
			switch e := event.(type) {
			case react.Edit:
				if e.Stray {
					strays++
				}
			case react.End:
				end = e
			default:
			}
		}
		return end, strays
	}
	table, _ := models.Default().Lookup("claude-haiku-4-5")
	cost, ok := table.Price.Cost(took)
	require.True(t, ok)

	end, _ := run(6, message.User("Why does the build fail?"))
	require.Equal(t, took, end.Summaries, "made by the fifth call, told by the sixth, though there is no fold")
	require.Equal(t, cost, end.SummaryCost)

	one, _ := run(4, message.User("Why is the build slow?"))
	require.Zero(t, one.Summaries, "the last call of the run has begun it")
	other, strays := run(3, message.User("Why is the test slow?"))
	require.Zero(t, other.Summaries, "it is no cost of another conversation")
	require.Zero(t, strays)
	on, _ := run(0, append(one.History, message.User("Go on."))...)
	require.Equal(t, took, on.Summaries, "but of the run that goes on with it")

	_, _ = run(4, message.User("Why is the linker slow?"))
	_, _ = run(0, append(other.History, message.User("Go on."))...)
	now = now.Add(time.Hour)
	other, strays = run(0, message.User("Why is the disk full?"))
	require.Equal(t, 1, strays, "of a conversation that does not come again others tell")
	require.Zero(t, other.Summaries, "and do not count it")
	require.Zero(t, other.SummaryCost)
}
