package react_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/react"
)

// TestSummaries shows what a run with summaries costs: the calls of the run and
// those for summaries are told apart, failed ones included, nothing of a summary
// is a delta, and no answer is said to have used what a summary did.
func TestSummaries(t *testing.T) {
	t.Parallel()
	const summary = "Goal: SUMMARY.\nCurrent state: read.\nDecisions and reasons: none.\nErrors and repairs: reading.\nNext steps: read on."
	for name, c := range map[string]struct {
		writes   middleware.Response
		err      error
		strategy summarize.Strategy
	}{
		"taken":    {writes: middleware.Response{Message: message.Assistant(message.Text{Text: summary}), Stop: middleware.StopEnd}},
		"rejected": {writes: middleware.Response{Message: message.Assistant(message.Text{Text: "SUMMARY: I cannot help with that."}), Stop: middleware.StopEnd}},
		"in chunks": {
			writes:   middleware.Response{Message: message.Assistant(message.Text{Text: summary}), Stop: middleware.StopEnd},
			strategy: summarize.Strategy{Chunks: 3},
		},
		"failing": {err: errors.New("503 SUMMARY")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pages = 20
			c.writes.Usage = message.Usage{Input: 70_000, CacheRead: 1000, Output: 300}
			answers := testkit.Give(c.writes)
			if c.err != nil {
				answers = middlewaretest.Fail(c.err)
			}
			small := middlewaretest.Script(slices.Repeat([]middleware.Model{answers}, 200)...)
			n, biggest := 0, 0
			big := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				n++
				answer := middleware.Response{Message: message.Assistant(message.Text{Text: "It is the linker."}), Stop: middleware.StopEnd, Usage: message.Usage{Input: 100, Output: 5}}
				if n <= pages {
					answer.Message = message.Assistant(message.ToolCall{ID: fmt.Sprint("c", n), Name: "read", Arguments: `{}`})
					answer.Stop = middleware.StopTools
				}
				return testkit.Give(answer)(ctx, req, emit)
			}
			size := middleware.Editing("size", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				biggest = max(biggest, v.Size().Tokens)
				return nil, nil
			}, middleware.Options{})
			read := agent.NewTool("read", "Reads on.", func(context.Context, struct{}) (string, error) { return strings.Repeat("all is well ", 100), nil })
			a := react.Agent{
				Model: middleware.Chain(
					summarize.New(summarize.By(small.Model, summarize.Ask{Model: "claude-haiku-4-5"}), summarize.Options{Trigger: trigger.Messages(16), Keep: 4, Strategy: c.strategy}), size,
				)(big),
				Tools: []agent.Tool{read},
			}
			var end react.End
			var heard strings.Builder
			attempts := message.Usage{}
			for event, err := range a.Run(t.Context(), message.User("Why does the build fail?")) {
				require.NoError(t, err)
				switch e := event.(type) {
				case react.Delta:
					fmt.Fprint(&heard, e)
				case react.Edit:
					if e.Kind == summarize.Attempted {
						r, _ := e.Detail.(summarize.Report)
						attempts = attempts.Add(r.Usage)
					}
				case react.Step:
					require.Equal(t, message.Usage{Input: 100, Output: 5}, e.Usage)
				case react.End:
					end = e
				default:
				}
			}
			require.Equal(t, "It is the linker.", end.Answer())
			require.Equal(t, message.Usage{Input: 100 * (pages + 1), Output: 5 * (pages + 1)}, end.Usage, "of the run alone")
			require.Equal(t, attempts, end.Summaries)
			asked := len(small.Requests())
			require.GreaterOrEqual(t, asked, 2)
			if c.err == nil {
				require.Equal(t, message.Usage{Input: 70_000 * asked, CacheRead: 1000 * asked, Output: 300 * asked}, end.Summaries)
				m, _ := models.Default().Lookup("claude-haiku-4-5")
				cost, ok := m.Price.Cost(c.writes.Usage)
				require.True(t, ok)
				require.Equal(t, cost*models.Cost(asked), end.SummaryCost)
			}
			require.NotContains(t, heard.String(), "SUMMARY")
			require.Less(t, biggest, 10_000, "what a summary took is not the size of a prompt")
			for _, m := range end.History {
				require.NotContains(t, m.Text(), "SUMMARY", "the history is that of the run")
			}
		})
	}
}
