package react_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := react.Agent{
			Model: wants("a", "b", "c"),
			Tools: []agent.Tool{gives("a", "1", 3*time.Second), gives("b", "2", time.Second), gives("c", "3", 2*time.Second)},
		}
		tr := follow(t, a.Run(t.Context(), message.System("be brief"), message.User("go")))
		require.NoError(t, tr.err)
		require.Equal(t, []string{
			"delta thinking what is missing?", "delta call 0 a", "delta call 1 b", "delta call 2 c", "step 1 tools",
			"call a", "call b", "call c",
			"result tool b-2:b 2", "result tool c-2:c 3", "result tool a-2:a 1",
			"delta thinking what is missing?", "delta a=1 b=2 c=3", "step 2 end",
			"end a=1 b=2 c=3",
		}, lines(tr.events), "results come as they finish")
		require.Equal(t, []string{
			"system be brief", "user go", "assistant a-2:a{} b-2:b{} c-2:c{}",
			"tool a-2:a 1", "tool b-2:b 2", "tool c-2:c 3", "assistant a=1 b=2 c=3",
		}, sayAll(tr.end.History), "in the history they stand in the order of the calls")
		require.Equal(t, message.Usage{Input: 20, Output: 2}, tr.end.Usage)
		require.Equal(t, 2, tr.end.Steps)
		require.Equal(t, 3, tr.end.ToolCalls)
		require.Equal(t, &message.Usage{Input: 10, Output: 1}, tr.end.History[2].Usage, "usage stands with the answer")
		for _, m := range tr.end.History[2:] {
			require.False(t, m.Time.IsZero(), "new messages have a time")
		}
		for _, e := range tr.events {
			if res, ok := e.(react.Result); ok && res.Call.Name == "a" {
				require.Equal(t, 3*time.Second, res.Took)
				require.NoError(t, res.Err)
			}
		}
	})
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var got middleware.Request
	a := react.Agent{
		Model: func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			got = *req
			return stream(ctx, message.Assistant(message.Text{Text: "yes"}), emit)
		},
		Tools:     []agent.Tool{gives("a", "1", 0), gives("b", "2", 0)},
		ModelName: "large",
		Budget:    &middleware.Budget{Window: 1000, Reserve: 10},
		Params:    "cool",

		Conversation: "session 7",
	}
	tr := follow(t, a.Run(t.Context(), message.User("go")))
	require.NoError(t, tr.err)
	require.Equal(t, []message.Message{message.User("go")}, got.Messages)
	require.Equal(t, []message.ToolDef{a.Tools[0].Definition(), a.Tools[1].Definition()}, got.Tools)
	require.Equal(t, "large", got.Model)
	require.Equal(t, a.Budget, got.Budget)
	require.Equal(t, "cool", got.Params)
	require.Equal(t, "session 7", got.Conversation)
}

func TestWhereARunBegins(t *testing.T) {
	t.Parallel()
	u, final := message.User("go"), message.Assistant(message.Text{Text: "done"})
	calls := message.Assistant(call("c1", "a"), call("c2", "b"))
	const answer = "assistant a=1 b=2"
	for name, c := range map[string]struct {
		history []message.Message
		want    []string // what is new
	}{
		"user":          {[]message.Message{u}, []string{"assistant a-1:a{} b-1:b{}", "tool a-1:a 1", "tool b-1:b 2", answer}},
		"final answer":  {[]message.Message{u, final}, nil},
		"empty answer":  {[]message.Message{u, message.Assistant(message.Thinking{Text: "hm"})}, nil},
		"open calls":    {[]message.Message{u, calls}, []string{"tool c1:a 1", "tool c2:b 2", answer}},
		"one call open": {[]message.Message{u, calls, message.Result("c1", "a", "9")}, []string{"tool c2:b 2", "assistant a=9 b=2"}},
		"all answered":  {[]message.Message{u, calls, message.Result("c1", "a", "8"), message.Result("c2", "b", "9")}, []string{"assistant a=8 b=9"}},
		"new question":  {[]message.Message{u, final, message.User("again")}, []string{"assistant a-3:a{} b-3:b{}", "tool a-3:a 1", "tool b-3:b 2", answer}},
	} {
		a := react.Agent{Model: wants("a", "b"), Tools: []agent.Tool{gives("a", "1", 0), gives("b", "2", 0)}}
		before := testkit.Clone(c.history)
		room := append(make([]message.Message, 0, 64), c.history...)
		tr := follow(t, a.Run(t.Context(), room...))
		require.NoError(t, tr.err, name)
		require.Equal(t, c.want, sayAll(tr.end.History[len(c.history):]), name)
		require.Equal(t, before, c.history, "the caller's messages must not change")
		require.Zero(t, room[:cap(room)][len(room)].Role, "nor what lies behind them")
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	model, one := wants(), gives("a", "1", 0)
	for name, c := range map[string]struct {
		agent   react.Agent
		history []message.Message
		want    string
	}{
		"no messages":      {react.Agent{Model: model}, nil, "react: no messages, want at least one"},
		"nil tool":         {react.Agent{Model: model, Tools: []agent.Tool{one, nil}}, []message.Message{message.User("go")}, "react: Agent.Tools: tool 1 is nil, want a tool"},
		"nameless tool":    {react.Agent{Model: model, Tools: []agent.Tool{nameless{}}}, []message.Message{message.User("go")}, "react: Agent.Tools: tool 0 has no name, want one"},
		"same name twice":  {react.Agent{Model: model, Tools: []agent.Tool{one, one}}, []message.Message{message.User("go")}, `react: Agent.Tools: two tools have the name "a", want different ones`},
		"budget":           {react.Agent{Model: model, Budget: &middleware.Budget{}}, []message.Message{message.User("go")}, "react: Budget.Window is 0 tokens, want more than 0"},
		"parallel":         {react.Agent{Model: model, Parallel: -1}, []message.Message{message.User("go")}, "react: Agent.Parallel is -1 calls, want 0 or more"},
		"timeout":          {react.Agent{Model: model, ToolTimeout: -time.Second}, []message.Message{message.User("go")}, "react: Agent.ToolTimeout is -1s, want 0 or more"},
		"before any event": {react.Agent{}, []message.Message{message.User("go"), message.Assistant(message.Text{Text: "done"})}, "react: Agent.Model is nil, want a model"},
	} {
		tr := follow(t, c.agent.Run(t.Context(), c.history...))
		require.EqualError(t, tr.err, c.want, name)
		require.Equal(t, middleware.Invalid, middleware.KindOf(tr.err), name)
		require.Len(t, tr.events, 1, name)
		require.Equal(t, c.history, tr.end.History, name)
	}
}

type nameless struct{}

func (nameless) Definition() message.ToolDef                          { return message.ToolDef{} }
func (nameless) Call(context.Context, string) ([]message.Part, error) { return nil, nil }

func TestModelFails(t *testing.T) {
	t.Parallel()
	broke := &middleware.Error{Kind: middleware.RateLimited, Op: "provider", Err: errors.New("too many")}
	a := react.Agent{
		Model: func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if len(req.Messages) > 1 {
				return nil, broke
			}
			return wants("a")(ctx, req, emit)
		},
		Tools: []agent.Tool{gives("a", "1", 0)},
	}
	tr := follow(t, a.Run(t.Context(), message.User("go")))
	require.Equal(t, error(broke), tr.err, "the model's error comes as it is")
	require.Equal(t, []string{"user go", "assistant a-1:a{}", "tool a-1:a 1"}, sayAll(tr.end.History))
	require.Empty(t, tr.end.Answer())

	a.Model = wants("a")
	again := follow(t, a.Run(t.Context(), tr.end.History...))
	require.NoError(t, again.err)
	require.Equal(t, "a=1", again.end.Answer())
	require.Equal(t, 1, again.end.Steps, "counts are those of this run")
	require.Zero(t, again.end.ToolCalls)
}

func TestMaxRepeats(t *testing.T) {
	t.Parallel()
	asked := 0
	repeats := func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		asked++
		return stream(ctx, message.Assistant(message.Text{Text: fmt.Sprint("try ", asked)}, call(fmt.Sprint("id", asked), "nosuch")), emit)
	}
	a := react.Agent{Model: repeats, Tools: []agent.Tool{gives("a", "1", 0)}, MaxRepeats: 3}
	tr := follow(t, a.Run(t.Context(), message.User("go")))
	require.ErrorIs(t, tr.err, react.ErrRepeated)
	require.EqualError(t, tr.err, "react: the model repeats itself: the last 3 answers made the same calls with the same results: "+
		"nosuch({}); raise Agent.MaxRepeats, or go on with a new user message")
	require.Equal(t, 3, tr.end.Steps, "other words and other ids make no difference")
	tr = follow(t, a.Run(t.Context(), append(tr.end.History, message.User("more"))...))
	require.ErrorIs(t, tr.err, react.ErrRepeated)
	require.Equal(t, 3, tr.end.Steps, "a user message starts the count anew")

	polls := 0
	a.Tools = []agent.Tool{agent.NewTool("nosuch", "Polls.", func(context.Context, struct{}) (string, error) {
		polls++
		return fmt.Sprint("attempt ", polls/2), nil
	})}
	a.MaxSteps = 20
	tr = follow(t, a.Run(t.Context(), message.User("go")))
	require.ErrorIs(t, tr.err, react.ErrMaxSteps, "calls whose results change go on")
	require.Equal(t, 20, tr.end.Steps)

	a.Tools, a.MaxRepeats = nil, 0
	tr = follow(t, a.Run(t.Context(), message.User("go")))
	require.ErrorIs(t, tr.err, react.ErrMaxSteps, "0: no limit")
}

func TestMaxSteps(t *testing.T) {
	t.Parallel()
	never := func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		return stream(ctx, message.Assistant(call("c", "a")), emit)
	}
	a := react.Agent{Model: never, Tools: []agent.Tool{gives("a", "1", 0)}, MaxSteps: 3}
	tr := follow(t, a.Run(t.Context(), message.User("old"), message.Assistant(message.Text{Text: "ok"}), message.User("go")))
	require.ErrorIs(t, tr.err, react.ErrMaxSteps)
	require.EqualError(t, tr.err,
		"react: step limit reached: 3 answers since the newest user message; raise Agent.MaxSteps, or go on with a new user message")
	require.Equal(t, middleware.Unknown, middleware.KindOf(tr.err))
	require.Equal(t, 3, tr.end.Steps)
	require.Len(t, tr.end.History, 3+2*3, "the calls of the last answer have results")

	again := follow(t, a.Run(t.Context(), tr.end.History...))
	require.ErrorIs(t, again.err, react.ErrMaxSteps, "a resumed run goes on counting")
	require.Zero(t, again.end.Steps)

	a.MaxSteps = 1
	again = follow(t, a.Run(t.Context(), append(tr.end.History, message.User("more"))...))
	require.ErrorIs(t, again.err, react.ErrMaxSteps)
	require.Equal(t, 1, again.end.Steps, "a user message starts the count anew")

	a.MaxSteps = 0
	tr = follow(t, a.Run(t.Context(), message.User("go")))
	require.ErrorIs(t, tr.err, react.ErrMaxSteps)
	require.Equal(t, 100, tr.end.Steps)

	a.MaxSteps = -1
	stopAt := 150
	a.Model = func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if len(req.Messages) > 2*stopAt {
			return stream(ctx, message.Assistant(message.Text{Text: "enough"}), emit)
		}
		return never(ctx, req, emit)
	}
	tr = follow(t, a.Run(t.Context(), message.User("go")))
	require.NoError(t, tr.err)
	require.Equal(t, stopAt+1, tr.end.Steps)
}

func TestMaxToolCalls(t *testing.T) {
	t.Parallel()
	three := message.Assistant(call("1", "a"), call("2", "a"), call("3", "a"))
	done := message.Assistant(message.Text{Text: "done"})
	refused := "! not run: the limit of 4 tool calls is reached; answer with what is known"
	a := react.Agent{Model: says(three, three, done), Tools: []agent.Tool{gives("a", "1", 0)}, MaxToolCalls: 4}
	tr := follow(t, a.Run(t.Context(), message.User("go")))
	require.NoError(t, tr.err)
	require.Equal(t, []string{
		"tool 1:a 1", "tool 2:a 1", "tool 3:a 1", "assistant 1:a{} 2:a{} 3:a{}",
		"tool 1:a 1", "tool 2:a" + refused, "tool 3:a" + refused, "assistant done",
	}, sayAll(tr.end.History[2:]))

	a.Model = says(done)
	again := follow(t, a.Run(t.Context(), tr.end.History[:7]...))
	require.Equal(t, []string{"tool 2:a" + refused, "tool 3:a" + refused, "assistant done"}, sayAll(again.end.History[7:]), "counted on the history")
	a.Model = says(three, done)
	again = follow(t, a.Run(t.Context(), append(slices.Clip(tr.end.History), message.User("more"))...))
	require.NotContains(t, strings.Join(sayAll(again.end.History[len(tr.end.History):]), "\n"), "not run", "a user message starts anew")
}

// TestSummaries shows what a run with summaries costs: the calls of the run and
// those for summaries are told apart, failed ones included, nothing of a summary
// is a delta, and no answer is said to have used what a summary did.
func TestSummaries(t *testing.T) {
	t.Parallel()
	const summary = "Goal: SUMMARY.\nCurrent state: read.\nDecisions and reasons: none.\nErrors and repairs: reading.\nNext steps: read on."
	usage := message.Usage{Input: 70_000, CacheRead: 1000, Output: 300}
	writes := func(text string) middleware.Model {
		return testkit.Give(middleware.Response{Message: message.Assistant(message.Text{Text: text}), Stop: middleware.StopEnd, Usage: usage})
	}
	for name, c := range map[string]struct {
		writes   middleware.Model
		strategy summarize.Strategy
	}{
		"taken":     {writes: writes(summary)},
		"rejected":  {writes: writes("SUMMARY: I cannot help with that.")},
		"in chunks": {writes(summary), summarize.Strategy{Chunks: 3}},
		"failing":   {writes: middlewaretest.Fail(errors.New("503 SUMMARY"))},
	} {
		small := middlewaretest.Script(slices.Repeat([]middleware.Model{c.writes}, 200)...)
		var answers []message.Message
		for n := range 20 {
			answers = append(answers, message.Assistant(call(fmt.Sprint("c", n), "read")))
		}
		big, biggest := says(append(answers, message.Assistant(message.Text{Text: "It is the linker."}))...), 0
		size := middleware.Editing("size", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
			biggest = max(biggest, v.Size().Tokens)
			return nil, nil
		}, middleware.Options{})
		folds := summarize.New(summarize.By(small.Model, summarize.Ask{Model: "claude-haiku-4-5"}), summarize.Options{Trigger: trigger.Messages(16), Keep: 4, Strategy: c.strategy})
		a := react.Agent{Model: middleware.Chain(folds, size)(big), Tools: []agent.Tool{gives("read", strings.Repeat("all is well ", 100), 0)}}
		tr := follow(t, a.Run(t.Context(), message.User("Why does the build fail?")))
		require.NoError(t, tr.err, name)
		attempts := message.Usage{}
		for _, event := range tr.events {
			switch e := event.(type) {
			case react.Delta:
				require.NotContains(t, fmt.Sprint(e), "SUMMARY", name)
			case react.Edit:
				if r, ok := e.Detail.(summarize.Report); ok && e.Kind == summarize.Attempted {
					attempts = attempts.Add(r.Usage)
				}
			case react.Step:
				require.Equal(t, message.Usage{Input: 10, Output: 1}, e.Usage, name)
			case react.Call, react.Result, react.End:
			}
		}
		require.Equal(t, "It is the linker.", tr.end.Answer(), name)
		require.Equal(t, message.Usage{Input: 10 * 21, Output: 21}, tr.end.Usage, "%s: of the run alone", name)
		require.Equal(t, attempts, tr.end.Summaries, name)
		asked := len(small.Requests())
		require.GreaterOrEqual(t, asked, 2, name)
		if name != "failing" {
			require.Equal(t, message.Usage{Input: 70_000 * asked, CacheRead: 1000 * asked, Output: 300 * asked}, tr.end.Summaries, name)
			m, _ := models.Default().Lookup("claude-haiku-4-5")
			cost, ok := m.Price.Cost(usage)
			require.True(t, ok)
			require.Equal(t, cost*models.Cost(asked), tr.end.SummaryCost, name)
		}
		require.Less(t, biggest, 10_000, "what a summary took is not the size of a prompt")
		require.NotContains(t, strings.Join(sayAll(tr.end.History), "\n"), "SUMMARY", "the history is that of the run")
	}
}
