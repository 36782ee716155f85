package langchaingo_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
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

func send(ctx context.Context, o *llms.CallOptions, stream bool, chunk string) error {
	if !stream {
		return nil
	}
	return o.StreamingFunc(ctx, []byte(chunk))
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

// talked is a conversation with so many results.
func talked(rounds int) []llms.MessageContent {
	msgs := []llms.MessageContent{human("Why does it fail?")}
	for n := range rounds {
		id := fmt.Sprintf("call_%d", n)
		msgs = append(msgs, calling(id, "read_page", fmt.Sprintf(`{"page":%d}`, n)), result(id, "read_page", fmt.Sprintf("page %d: %s", n, strings.Repeat("all is well ", 60))))
	}
	return append(msgs, human("Well?"))
}
