package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/chains"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

const summary = "Goal: the sum on the last page.\nCurrent state: read_page, page after page.\n" +
	"Decisions and reasons: each page tells the sum up to it.\nErrors and repairs: reading.\nNext steps: read the next page."

// wantsSummary reports whether a request is for a summary.
func wantsSummary(r *fakeprovider.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Text(), "Write a summary of what was said and done")
}

// serveSummaries starts a provider whose model reads page after page, by its own
// count, since pages are folded away, and writes summaries when it is asked to.
func serveSummaries(t *testing.T, arguments func(n int) string) *fakeprovider.Server {
	t.Helper()
	var read atomic.Int64
	recall := fakeprovider.Recall(told)
	brain := func(ctx context.Context, r *fakeprovider.Request) fakeprovider.Reply {
		if wantsSummary(r) {
			return fakeprovider.Reply{Text: summary}
		}
		n := int(read.Add(1))
		if n > pages {
			return recall(ctx, r)
		}
		return fakeprovider.Reply{Calls: []fakeprovider.Call{{Name: toolName, Arguments: arguments(n)}}}
	}
	server, err := fakeprovider.Start(brain, fakeprovider.Options{Models: map[string]int{model: window}, Key: key})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// TestSummaries lets the model of the conversation write the summaries, or the same
// client with a record: the provider takes every request, and has most of the
// first kind in its cache, by the bytes that the clients send.
func TestSummaries(t *testing.T) {
	t.Parallel()
	numbered := func(n int) string { return fmt.Sprintf(`{"n":%d}`, n) }
	for name, run := range map[string]struct {
		arguments func(int) string
		run       runner
	}{
		"eino react": {numbered, runEino("react")},
		"eino adk":   {numbered, runEino("adk")},
		"langchaingo": {asked, func(t *testing.T, server *fakeprovider.Server, chain chainOf, streamed bool) (string, error) {
			t.Helper()
			client := langchaingoClient(t, server)
			var options []chains.ChainCallOption
			text := ""
			if streamed {
				options = append(options, chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
					text += string(chunk)
					return nil
				}))
			}
			answer, err := runExecutor(t.Context(), langchaingo.Options{Model: model, Budget: budget()}.Wrap(client, chain(langchaingo.Model(client))...), options...)
			require.NotContains(t, text, "Goal")
			return answer, err
		}},
	} {
		for how, by := range map[string]func(middleware.Model, summarize.Ask) summarize.Writer{
			"in the conversation": summarize.InConversation, "with a record": summarize.By,
		} {
			for _, streamed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, streamed %t", name, how, streamed), func(t *testing.T) {
					t.Parallel()
					server := serveSummaries(t, run.arguments)
					var rejected []string
					var spent message.Usage
					got, err := run.run(t, server, func(live middleware.Model) []middleware.Middleware {
						return []middleware.Middleware{middleware.With(middleware.Env{Counter: tokens.Chars4},
							middleware.Observe(func(_ context.Context, e middleware.Event) {
								if e.Err != nil || e.Kind == middleware.Refused {
									rejected = append(rejected, e.String())
								}
								if e.Kind == summarize.Summarized {
									r, _ := e.Detail.(summarize.Report)
									spent = spent.Add(r.Usage)
								}
							}),
							summarize.New(by(live, summarize.Ask{Model: model}), summarize.Options{
								Trigger: trigger.Fraction(0.5), Keep: 2, SummaryTokens: 400,
							}),
						)}
					}, streamed)
					require.NoError(t, err)
					require.Equal(t, answer, got)
					require.Empty(t, server.Refused())
					require.Empty(t, rejected)
					var want message.Usage
					summaries := 0
					for _, r := range server.Requests() {
						if !wantsSummary(r.Request) {
							continue
						}
						summaries++
						want = want.Add(message.Usage{Input: r.Usage.Prompt, CacheRead: r.Usage.Cached, Output: r.Usage.Completion})
						if how == "in the conversation" {
							require.Greater(t, r.Usage.Cached*10, r.Usage.Prompt*5, "the conversation so far is in the cache: %+v", r.Usage)
							require.Contains(t, string(r.Body), toolDoc, "its tools are declared, as they are part of what is cached")
						} else {
							require.Len(t, r.Request.Messages, 2, "a record")
						}
					}
					require.Greater(t, summaries, 2)
					require.Equal(t, want, spent, "what the provider charged is what the events say")
				})
			}
		}
	}
}

// runner runs the errand with the chain that the model of the conversation gives.
type runner func(t *testing.T, server *fakeprovider.Server, chain chainOf, streamed bool) (string, error)

type chainOf func(live middleware.Model) []middleware.Middleware

func runEino(name string) runner {
	return func(t *testing.T, server *fakeprovider.Server, chain chainOf, streamed bool) (string, error) {
		t.Helper()
		client := einoClient(t, server)
		return einoAgents[name](t, eino.Options{Model: model, Budget: budget()}.Wrap(client, chain(eino.Model(client))...), streamed)
	}
}
