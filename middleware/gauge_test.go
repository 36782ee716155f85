package middleware_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// views are what a chain that only watches has seen.
type views struct {
	all   []*middleware.View
	usage func(v *middleware.View) message.Usage // what the provider reports
}

func (w *views) middleware(env middleware.Env) middleware.Middleware {
	return middleware.With(env, middleware.Editing("watch", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		w.all = append(w.all, v)
		return nil, nil
	}, middleware.Options{}))
}

func (w *views) model(env middleware.Env) middleware.Model {
	return w.middleware(env)(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		resp := &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}
		if w.usage != nil {
			resp.Usage = w.usage(req.View())
		}
		return resp, nil
	})
}

func (w *views) call(t *testing.T, m middleware.Model, req middleware.Request) *middleware.View {
	t.Helper()
	_, err := m(t.Context(), &req, nil)
	require.NoError(t, err)
	return w.all[len(w.all)-1]
}

// talk is a conversation of n answered questions and another one, with the
// usage of each answer or without.
func talk(n, usage int) []message.Message {
	var h []message.Message
	question := message.User(strings.Repeat("is it so? ", 20))
	for k := range n {
		answer := message.Assistant(message.Text{Text: strings.Repeat("so it is ", 20)})
		if usage > 0 {
			answer.Usage = &message.Usage{Input: usage * (k + 1)}
		}
		h = append(h, question, answer)
	}
	return append(h, question)
}

var chars4 = middleware.Env{Counter: tokens.Chars4}

func TestUsageAnchors(t *testing.T) {
	t.Parallel()
	twice := func(v *middleware.View) message.Usage {
		return message.Usage{Input: 2 * tokens.Meter{Counter: tokens.Chars4}.Request(v.History(), nil), Output: 1}
	}
	w := &views{usage: twice}
	m := w.model(chars4)
	first := w.call(t, m, middleware.Request{Messages: talk(1, 0)})
	counted := tokens.Meter{Counter: tokens.Chars4}.Request(talk(1, 0), nil)
	require.Equal(t, counted, first.Size().Tokens, "before the first usage the count is that of the counter")
	require.False(t, first.Size().Exact)

	again := w.call(t, m, middleware.Request{Messages: talk(1, 0)})
	require.Equal(t, 2*counted, again.Size().Tokens, "the very same prompt is charged as it was")
	require.True(t, again.Size().Exact)
	with := w.call(t, m, middleware.Request{Messages: talk(1, 0), Tools: []message.ToolDef{{Name: "read"}}})
	require.False(t, with.Size().Exact, "with tools it is another prompt")
	w.call(t, m, middleware.Request{Messages: talk(1, 0)})

	for n := 2; n < 12; n++ {
		w.call(t, m, middleware.Request{Messages: talk(n, 0)})
	}
	v := w.call(t, m, middleware.Request{Messages: talk(12, 0)})
	want := 2 * tokens.Meter{Counter: tokens.Chars4}.Request(talk(12, 0), nil)
	require.InEpsilon(t, want, v.Size().Tokens, 0.02, "what is new is charged at the rate of what came before")
	require.InEpsilon(t, 200, v.Size().Charged(100), 0.1)
	require.False(t, v.Size().Exact)

	fork := append(talk(11, 0), message.Assistant(message.Text{Text: "no"}), message.User("Why?"))
	v = w.call(t, m, middleware.Request{Messages: fork})
	require.InEpsilon(t, 2*tokens.Meter{Counter: tokens.Chars4}.Request(fork, nil), v.Size().Tokens, 0.02, "a fork knows what was told before it")
	other := append([]message.Message{message.User("Another beginning.")}, talk(3, 0)...)
	v = w.call(t, m, middleware.Request{Messages: other})
	require.Equal(t, tokens.Meter{Counter: tokens.Chars4}.Request(other, nil), v.Size().Tokens, "another conversation knows nothing of it")
}

func TestUsageInTheHistory(t *testing.T) {
	t.Parallel()
	w := &views{}
	counted := tokens.Meter{Counter: tokens.Chars4}.Request(talk(1, 0)[:1], nil)
	v := w.call(t, w.model(chars4), middleware.Request{Messages: talk(1, 2*counted)})
	fresh := tokens.Meter{Counter: tokens.Chars4}.Request(talk(1, 0)[1:], nil) - tokens.DefaultFraming().PerRequest
	require.InDelta(t, 2*counted+fresh, v.Size().Tokens, float64(fresh), "the usage, and what has come since at a rate of 1 to 2")
	require.Greater(t, v.Size().Tokens, 2*counted)
}

// A server that cuts what is too long reports what was left, and is not
// believed.
func TestUsageThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{0, 0.1, 0.4, 5, 1000} {
		w := &views{}
		counted := tokens.Meter{Counter: tokens.Chars4}.Request(talk(1, 0), nil)
		w.usage = func(*middleware.View) message.Usage { return message.Usage{Input: int(factor * float64(counted))} }
		m := w.model(chars4)
		var rec middlewaretest.Recorder
		m = rec.Middleware()(m)
		for range 3 {
			v := w.call(t, m, middleware.Request{Messages: talk(1, 0)})
			require.Equal(t, counted, v.Size().Tokens, "%g times the count", factor)
		}
		heard := rec.Events()
		if factor == 0 {
			require.Empty(t, heard, "nothing was reported")
			continue
		}
		require.Len(t, heard, 1, "it is said once")
		require.Equal(t, middleware.Notice, heard[0].Kind)
		require.Contains(t, heard[0].Why, "by our count; if the server cuts long prompts")
	}
}

// named counts like Chars4 and says it were another.
type named struct{ name string }

func (named) Count(text string) int { return tokens.Chars4.Count(text) }

func (n named) Name() string { return n.name }

func TestWhatTheModelTells(t *testing.T) {
	t.Parallel()
	table, err := models.Default().With(
		models.Model{Name: "house", Window: 10_000, Output: 4_000, Encoding: "o200k_base"},
		models.Model{Name: "small-input", Window: 10_000, Input: 6_000, Output: 100, Ratio: 1.5},
		models.Model{Name: "nothing-known"},
	)
	require.NoError(t, err)
	counted := tokens.Meter{Counter: tokens.Chars4}.Request(talk(1, 0), nil)
	for name, c := range map[string]struct {
		counter tokens.Counter
		req     middleware.Request
		budget  *middleware.Budget
		tokens  int
		exact   bool
	}{
		"the window of the table": {
			counter: tokens.Chars4, req: middleware.Request{Model: "house"},
			budget: &middleware.Budget{Window: 10_000, Reserve: 1_000}, tokens: counted,
		},
		"the longest prompt": {
			counter: tokens.Chars4, req: middleware.Request{Model: "small-input"},
			budget: &middleware.Budget{Window: 10_000, Reserve: 4_000}, tokens: counted,
		},
		"the request knows better": {
			counter: tokens.Chars4, req: middleware.Request{Model: "house", Budget: &middleware.Budget{Window: 77}},
			budget: &middleware.Budget{Window: 77}, tokens: counted,
		},
		"no window":    {counter: tokens.Chars4, req: middleware.Request{Model: "nothing-known"}, tokens: counted},
		"unknown":      {counter: tokens.Chars4, req: middleware.Request{Model: "never heard of"}, tokens: counted},
		"its own":      {counter: named{name: "o200k_base"}, req: middleware.Request{Model: "house", Budget: &middleware.Budget{Window: 1}}, budget: &middleware.Budget{Window: 1}, tokens: counted, exact: true},
		"another":      {counter: named{name: "cl100k_base"}, req: middleware.Request{Model: "house", Budget: &middleware.Budget{Window: 1}}, budget: &middleware.Budget{Window: 1}, tokens: counted},
		"by its ratio": {counter: named{name: "o200k_base"}, req: middleware.Request{Model: "small-input", Budget: &middleware.Budget{Window: 1}}, budget: &middleware.Budget{Window: 1}, tokens: (3*counted + 1) / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &views{}
			c.req.Messages = talk(1, 0)
			v := w.call(t, w.model(middleware.Env{Counter: c.counter, Models: table}), c.req)
			budget, known := v.Budget()
			require.Equal(t, c.budget != nil, known)
			if known {
				require.Equal(t, *c.budget, budget)
			}
			require.Equal(t, c.tokens, v.Size().Tokens)
			require.Equal(t, c.exact, v.Size().Exact)
		})
	}
}

// Bodies of clients do not have the usage of answers: the journal has it for the next process, unless little of the prompt is new.
func TestUsageOfAnotherProcess(t *testing.T) {
	t.Parallel()
	kept := newCountingJournal()
	env := middleware.Env{Counter: tokens.Chars4, Journal: kept}
	counted := func(n int) int { return tokens.Meter{Counter: tokens.Chars4}.Request(talk(n, 0), nil) }
	w := &views{usage: func(v *middleware.View) message.Usage { return message.Usage{Input: 2 * v.Size().Counted, Output: 1} }}
	m := w.model(env)
	for i, n := range []int{4, 5, 90, 91} {
		if i < 3 {
			m = w.model(env) // a new process
		}
		v := w.call(t, m, middleware.Request{Messages: talk(n, 0), Format: "chat"})
		if i > 0 {
			require.InEpsilon(t, 2*counted(n), v.Size().Tokens, 0.1, "call %d", i)
		}
	}
	require.Equal(t, int64(3), kept.puts.Load(), "one question of 91 is less than a fiftieth")
	none := &views{}
	v := none.call(t, none.model(env), middleware.Request{Messages: talk(91, 0)})
	require.Equal(t, counted(91), v.Size().Tokens, "a program has the usage in its history")
}
