package langchaingo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// page is a tool that returns a page of a log. The last one names the culprit.
type page struct{ pages int }

func (page) Name() string        { return "read_page" }
func (page) Description() string { return "Reads a page of the log." }

func (p page) Call(_ context.Context, input string) (string, error) {
	var n int
	if _, err := fmt.Sscanf(input, "page \"%d\"", &n); err != nil {
		return "", fmt.Errorf("input %q: %w", input, err)
	}
	if n == p.pages {
		return "culprit: the linker", nil
	}
	return fmt.Sprintf("page %d: %s", n, strings.Repeat("all is well ", 60)), nil
}

// reader is a model that reads page after page, by nothing but what it is sent,
// and answers with the last. It accepts only what a strict provider does.
func reader(t *testing.T, pages, window int, stream bool) *model {
	t.Helper()
	m := &model{}
	m.answer = func(ctx context.Context, msgs []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		view := strict(t, msgs)
		require.Less(t, tokens.Meter{Counter: tokens.Chars4}.Request(view, nil), window, "the view must stay below the window")
		require.Len(t, o.Functions, 1, "the tools must arrive")
		read, last := 0, ""
		for _, m := range view {
			for r := range m.Results() {
				read, last = read+1, r.Text
			}
		}
		if read == pages {
			answer := says(strings.TrimPrefix(last, "culprit: "))
			return answer, send(ctx, o, stream, answer.Choices[0].Content)
		}
		arguments := fmt.Sprintf(`{"__arg1": "page \"%d\""}`, read+1) // spelled as no encoder of ours would
		answer := calls(fmt.Sprintf("call_%d", read), "read_page", arguments)
		chunk, err := json.Marshal([]map[string]any{{"type": "function", "function": map[string]string{"name": "read_page", "arguments": arguments}}})
		require.NoError(t, err)
		return answer, send(ctx, o, stream, string(chunk))
	}
	return m
}

func send(ctx context.Context, o *llms.CallOptions, stream bool, chunk string) error {
	if !stream {
		return nil
	}
	return o.StreamingFunc(ctx, []byte(chunk))
}

// strict checks what is sent as a strict provider does, and returns it in our
// words.
func strict(t *testing.T, msgs []llms.MessageContent) []message.Message {
	t.Helper()
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llms.ToolCall:
				require.True(t, json.Valid([]byte(p.FunctionCall.Arguments)), "arguments must be JSON: %s", p.FunctionCall.Arguments)
				require.Contains(t, p.FunctionCall.Arguments, `{"__arg1":"`, "arguments must be restored")
				require.Equal(t, "function", p.Type)
			case llms.ToolCallResponse:
				require.Equal(t, "read_page", p.Name, "a result must name its tool")
			}
		}
	}
	view := mustImport(t, msgs)
	require.NoError(t, message.Check(view))
	return view
}

func TestFunctionsAgent(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed %t", stream), func(t *testing.T) {
			t.Parallel()
			const pages, window = 20, 2000
			inner := reader(t, pages, window, stream)
			edits := 0
			llm := langchaingo.Options{Budget: &middleware.Budget{Window: window}}.Wrap(inner,
				middleware.Observe(func(_ context.Context, e middleware.Event) {
					if e.Kind != middleware.Called {
						require.Equal(t, middleware.Edited, e.Kind, "%v", e)
						edits++
					}
				}),
				contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1200), Keep: 2}),
			)
			var heard []string
			var options []chains.ChainCallOption
			if stream {
				options = append(options, chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
					heard = append(heard, string(chunk))
					return nil
				}))
			}
			agent := agents.NewOpenAIFunctionsAgent(llm, []tools.Tool{page{pages}})
			answer, err := chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithMaxIterations(pages+1)), "Who broke the build?", options...)
			require.NoError(t, err)
			require.Equal(t, "the linker", answer)
			require.Len(t, inner.asked, pages+1)
			require.Greater(t, edits, 1)
			if stream {
				require.Len(t, heard, pages+1, "each chunk arrives, once")
				require.Equal(t, "the linker", heard[pages])
			}

			moved := 0
			for i := 1; i < len(inner.asked); i++ {
				before, after := written(t, inner.asked[i-1].msgs), written(t, inner.asked[i].msgs)
				if !strings.HasPrefix(after, before) {
					moved++
				}
			}
			require.Equal(t, edits, moved, "between two edits each view begins with the one before")
		})
	}
}

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
