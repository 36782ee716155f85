package langchaingo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// secret stands in every summary, and nowhere else.
const secret = "SUMMARY"

const summaryText = "Goal: " + secret + ", find out why it fails.\nCurrent state: read_page.\nDecisions and reasons: none.\n" +
	"Errors and repairs: reading.\nNext steps: read on."

// asksForSummary reports whether a request is for a summary: with a record, or in
// the conversation itself.
func asksForSummary(msgs []llms.MessageContent) bool {
	return strings.Contains(fmt.Sprint(msgs[len(msgs)-1].Parts), "Write a summary of what was said and done")
}

// steps is a model that reads so many pages, counting its own calls, and writes
// summaries. It streams all that it says to whoever listens.
func steps(pages int) *model {
	m, n := &model{}, 0
	m.answer = func(ctx context.Context, msgs []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		answer := says(summaryText)
		if !asksForSummary(msgs) {
			n++
			answer = says("The linker.")
			if n <= pages {
				return calls(fmt.Sprintf("call_%d", n), "read_page", fmt.Sprintf(`{"__arg1": "page \"%d\""}`, n)), nil
			}
		}
		return answer, send(ctx, o, o.StreamingFunc != nil, answer.Choices[0].Content)
	}
	return m
}

// folding is summarize as a user of langchaingo writes it.
func folding(w summarize.Writer, opts summarize.Options) middleware.Middleware {
	opts.Trigger, opts.Keep = trigger.Tokens(1200), 4
	return summarize.New(w, opts)
}

// by has another model write.
func by(small llms.Model) summarize.Writer {
	return summarize.By(langchaingo.Model(small), summarize.Ask{})
}

// TestSummaryIsNotHeard runs the functions agent with summaries: the streaming
// function of the run has no word of them, and they get no option of the run.
func TestSummaryIsNotHeard(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("own model %t, streamed %t", own, stream), func(t *testing.T) {
				t.Parallel()
				inner, other := steps(20), steps(0)
				mw := folding(by(other), summarize.Options{})
				if own {
					mw = folding(summarize.InConversation(langchaingo.Model(inner), summarize.Ask{}), summarize.Options{})
				}
				var told []middleware.Event
				llm := langchaingo.Wrap(inner, middleware.Observe(func(_ context.Context, e middleware.Event) { told = append(told, e) }), mw)
				var heard strings.Builder
				options := []chains.ChainCallOption{chains.WithTemperature(0.5)}
				if stream {
					options = append(options, chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
						heard.Write(chunk)
						return nil
					}))
				}
				executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(llm, []tools.Tool{page{pages: 20}}), agents.WithMaxIterations(30))
				answer, err := chains.Run(t.Context(), executor, "Why?", options...)
				require.NoError(t, err)
				require.Equal(t, "The linker.", answer)
				require.NotContains(t, heard.String(), secret)
				require.Equal(t, stream, strings.Contains(heard.String(), "The linker."))
				summaries, shown := 0, 0
				for _, a := range append(inner.asked, other.asked...) {
					if !asksForSummary(a.msgs) {
						if strings.Contains(fmt.Sprint(a.msgs), secret) {
							shown++
						}
						continue
					}
					summaries++
					require.Nil(t, a.options.StreamingFunc)
					require.Zero(t, a.options.Temperature, "options of the run are not passed on")
					require.Empty(t, a.options.Functions)
					require.Equal(t, own, len(a.options.Tools) > 0, "tools are declared in the conversation itself alone")
				}
				require.Positive(t, summaries)
				require.Positive(t, shown, "the model sees the summary")
				require.Equal(t, own, len(other.asked) == 0)
				for _, e := range told {
					require.NoError(t, e.Err, "%s", e)
				}
			})
		}
	}
}

// talked is a conversation with so many results.
func talked(rounds int) []llms.MessageContent {
	msgs := []llms.MessageContent{human("Why does it fail?")}
	for n := range rounds {
		id := fmt.Sprintf("call_%d", n)
		msgs = append(msgs, calling(id, "read_page", fmt.Sprintf(`{"page":%d}`, n)), result(id, "read_page", fmt.Sprintf("page %d: %s", n, strings.Repeat("all is well ", 60))))
	}
	return append(msgs, human("Well?"))
}
