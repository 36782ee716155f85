package issues

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// With the results of parallel calls in another order in each call, an older call was taken for the one before, and
// events of kind Missed said that another process had made the edits since.
func TestMissedAndTheOrderOfResults(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 7))
	for name, mws := range map[string][]middleware.Middleware{
		"fit":         {fit.New(fit.Options{})},
		"contextedit": {contextedit.New(contextedit.Options{Trigger: trigger.Tokens(3000)}), fit.New(fit.Options{})},
	} {
		var rec middlewaretest.Recorder
		model := middleware.Chain(append([]middleware.Middleware{rec.Middleware()}, mws...)...)(middlewaretest.Say("ok"))
		var rounds [][]message.Message
		for n := range 40 {
			var answer message.Message
			round := make([]message.Message, 1, 5)
			for k := range 4 {
				id := fmt.Sprint(n, "-", k)
				answer.Parts = append(answer.Parts, message.ToolCall{ID: id, Name: "read", Arguments: "{}"})
				round = append(round, message.Result(id, "read", strings.Repeat(id+" ", 40+r.IntN(100))))
			}
			round[0] = message.Assistant(answer.Parts...)
			rounds = append(rounds, round)
			h := []message.Message{message.User("go")}
			for _, round := range rounds {
				results := slices.Clone(round[1:])
				r.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
				h = append(append(h, round[0]), results...)
			}
			_, err := model(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 6000}}, nil)
			require.NoError(t, err)
		}
		require.NotEmpty(t, rec.Events(middleware.Edited), name)
		require.Empty(t, rec.Events(middleware.Missed), name)
	}
}

// Tools that fit declares, which an event of kind Repaired reports, were reported as missed as well.
func TestMissedAndDeclaredTools(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	model := middleware.Chain(rec.Middleware(), fit.New(fit.Options{Rules: message.Anthropic}))(middlewaretest.Say("ok"))
	ask := func(h []message.Message) report.Cache {
		resp, err := model(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 3000}}, nil)
		require.NoError(t, err)
		return resp.Cache
	}
	call := func(name string, n int) []message.Message {
		return []message.Message{
			message.Assistant(message.ToolCall{ID: "c" + name, Name: name, Arguments: "{}"}),
			message.Result("c"+name, name, strings.Repeat("word ", n)),
		}
	}
	h := []message.Message{message.User("go")}
	ask(h)
	for i, name := range []string{"read", "write"} {
		h = append(h, call(name, 200)...)
		require.Equal(t, "edit", ask(h).Broken, name)
		require.Empty(t, ask(h).Broken, "the same tools again")
		require.Len(t, rec.Events(middleware.Repaired), i+1, "each change is reported")
	}
	h = append(h, message.Assistant(message.Text{Text: "done"}), message.User(strings.Repeat("now ", 2800)))
	require.Equal(t, "edit", ask(h).Broken, "the calls are gone")
	require.Empty(t, rec.Events(middleware.Missed), "%v", rec.Events())
}
