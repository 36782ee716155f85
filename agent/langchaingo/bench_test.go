package langchaingo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
)

// BenchmarkWrap is what the adapter costs in each call, in and out, for a
// history that is known from the call before.
func BenchmarkWrap(b *testing.B) {
	answer := says("ok")
	quiet := &silent{answer}
	for _, n := range []int{200, 2_000} {
		for name, rebuild := range map[string]func() []llms.MessageContent{
			"untouched":  func() []llms.MessageContent { return dialogue(n, `{"path":"%d"}`, "read") },
			"scratchpad": func() []llms.MessageContent { return dialogue(n, "%d", "") },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				llm := langchaingo.Wrap(quiet)
				_, err := llm.GenerateContent(b.Context(), rebuild())
				require.NoError(b, err)
				history := rebuild() // equal, and at another place in memory
				b.ReportAllocs()
				for b.Loop() {
					if _, err := llm.GenerateContent(b.Context(), history); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// dialogue is a question and rounds of a call and its result.
func dialogue(n int, arguments, name string) []llms.MessageContent {
	msgs := []llms.MessageContent{human("Why?")}
	for i := 0; len(msgs) < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, calling(id, "read", fmt.Sprintf(arguments, i)), result(id, name, strings.Repeat("all is well ", 20)))
	}
	return slices.Clip(msgs[:n])
}

// silent answers and remembers nothing.
type silent struct{ answer *llms.ContentResponse }

func (s *silent) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return s.answer, nil
}

func (*silent) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }
