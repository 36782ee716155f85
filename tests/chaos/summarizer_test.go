package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// mostAsked is how often a summariser that never gives anything may be asked for one
// summary: three times, for each of the parts that the record has been cut into.
const mostAsked = 12

// folding is a chain whose summaries are written by a model.
func folding(small middleware.Model, opts summarize.Options) middleware.Middleware {
	opts.Trigger = trigger.Tokens(window / 2)
	return middleware.With(middleware.Env{Counter: tokens.Chars4}, summarize.New(summarize.By(small, summarize.Ask{}), opts), fit.New(fit.Options{Rules: rules}))
}

// faults are all that goes wrong with a model, and what goes wrong with those that
// write.
func faults() map[string]fault {
	all := map[string]fault{
		"refuses to write":    writes("I'm sorry, but I can't help with that."),
		"writes nothing":      writes(" \n"),
		"writes ten times":    writes(strings.Repeat("The ledger was read, page by page, and it has a sum. ", 5000)),
		"writes what it read": echoes,
		"calls a tool": gives(&middleware.Response{
			Message: message.Assistant(message.ToolCall{ID: "x", Name: toolName, Arguments: "{}"}), Stop: middleware.StopTools,
		}, nil),
		"is cut off":     gives(&middleware.Response{Message: message.Assistant(message.Text{Text: "Goal: the"}), Stop: middleware.StopLength}, nil),
		"writes garbage": writes("\x00\xff\xfe\u202e\u2028"),
	}
	for _, tr := range troubles() {
		all[tr.name] = tr.fault
	}
	return all
}

func writes(text string) fault {
	return gives(&middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd}, nil)
}

// echoes gives back the record.
func echoes(_ context.Context, _ int, req *middleware.Request, _ middleware.Emit) (*middleware.Response, bool, error) {
	last := req.Messages[len(req.Messages)-1]
	return &middleware.Response{Message: message.Assistant(message.Text{Text: last.Text()}), Stop: middleware.StopEnd}, true, nil
}

// TestSummarizerTroubles lets each thing go wrong with the model that writes the
// summaries: the call goes on, what is sent keeps the guarantees, and nothing that
// went wrong is in it, or is emitted.
func TestSummarizerTroubles(t *testing.T) {
	t.Parallel()
	for name, f := range faults() {
		for how, opts := range map[string]summarize.Options{
			"": {}, ", without fallback": {NoFallback: true}, ", in chunks": {Strategy: summarize.Strategy{Chunks: 6}}, ", asked for facts": {
				Strategy: summarize.Strategy{Facts: []summarize.Concept{{Keyword: "sum"}}},
			},
		} {
			if race.Enabled && how != ", in chunks" { // one goroutine
				continue
			}
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				small, big := &provider{fault: f}, &provider{}
				model := folding(small.model, opts)(big.model)
				req := &middleware.Request{Messages: history(), Tools: tools(), Budget: budget()}
				var emitted strings.Builder
				for range 2 {
					_, err := model(t.Context(), req, func(d middleware.Delta) error {
						emitted.WriteString(d.Text)
						return nil
					})
					require.NoError(t, err)
				}
				require.Equal(t, 2, big.calls)
				most := mostAsked
				if how == ", in chunks" {
					most *= 6
				}
				require.Positive(t, small.calls, "or this test shows nothing")
				require.LessOrEqual(t, small.calls, 2*most, "it is asked a bounded number of times")
				big.sent = big.sent[:1]
				requireKept(t, big, name)
				text := fmt.Sprint(big.sent)
				for _, bad := range []string{"503", "429", "401", "maximum context length", "trouble", "sorry", "piece"} {
					require.NotContains(t, text, bad, "what went wrong is not in the view")
					require.NotContains(t, emitted.String(), bad, "nor is it emitted")
				}
			})
		}
	}
}
